"""Public schema -> rows of norm ≤ R, record by record; nothing is ever fitted to data."""

from .draft import draft_schema
from .schema import Encoded, Schema
from .table import Table, read_blocks, read_table

__all__ = ["Encoded", "Schema", "Table", "draft_schema", "read_blocks", "read_table"]
