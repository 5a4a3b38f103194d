"""Public schema -> rows of norm ≤ R, record by record; nothing is fitted to data.

>>> from noisygd_delete.features.schema import Schema
>>> schema = Schema.from_dict({
...     "label": {"column": "income", "classes": ["no", "yes"]},
...     "columns": {"age": {"bounds": [17, 90]}, "city": {"categories": ["a", "b"]}},
... })
>>> schema.names
['age', 'city=a', 'city=b', 'city: other', '(constant)']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy_imports import on_first_use

if TYPE_CHECKING:
    from .draft import Draft, draft_schema
    from .encoded import Encoded
    from .files import Table, read_blocks, read_table
    from .held_out import HeldOut
    from .schema import RecordFile, Schema

__all__ = ["Draft", "Encoded", "HeldOut", "RecordFile", "Schema", "Table", "draft_schema", "read_blocks", "read_table"]

__getattr__ = on_first_use(
    __name__,
    {
        "Encoded": "encoded",
        "HeldOut": "held_out",
        **dict.fromkeys(("RecordFile", "Schema"), "schema"),
        "Draft": "draft",
        "draft_schema": "draft",
        **dict.fromkeys(("Table", "read_blocks", "read_table"), "files"),
    },
)
