"""Public schema -> rows of norm ≤ R, record by record; nothing is ever fitted to data."""

from .draft import draft_schema
from .files import Table, read_blocks, read_table
from .schema import Encoded, Schema

__all__ = ["Encoded", "Schema", "Table", "draft_schema", "read_blocks", "read_table"]
