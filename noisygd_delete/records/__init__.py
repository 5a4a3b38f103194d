"""The table and the requests that edit it: validated whole before anything moves."""

from .request import EditRequest, Id, Insertion, Labels, Rows
from .table import Records, SlotEdits

__all__ = ["EditRequest", "Id", "Insertion", "Labels", "Records", "Rows", "SlotEdits"]
