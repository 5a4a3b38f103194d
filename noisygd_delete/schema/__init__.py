"""Public schema -> rows of norm ≤ R, record by record; nothing is ever fitted to data."""

from .draft import draft_schema
from .encoded import Encoded
from .files import Table, read_blocks, read_table
from .schema import Schema

__all__ = ["Encoded", "Schema", "Table", "draft_schema", "read_blocks", "read_table"]
