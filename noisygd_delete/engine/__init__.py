"""Full-batch gradients: what they assume of the records, how far rounding may carry them, and how they are summed."""

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use
from .execution import Execution
from .sums import CurrentRecords, check_labels, check_records, local_rows

if TYPE_CHECKING:
    from .objective import Objective

__all__ = ["CurrentRecords", "Execution", "Objective", "check_labels", "check_records", "local_rows"]

__getattr__ = on_first_use(__name__, {"Objective": "objective"})
