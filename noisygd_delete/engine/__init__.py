"""Full-batch gradients: validation of the records, bounds on rounding, and the order of summation."""

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use
from .execution import Execution
from .sums import CurrentRecords, check_labels, check_records, local_rows

if TYPE_CHECKING:
    from .objective import Objective

__all__ = ["CurrentRecords", "Execution", "Objective", "check_labels", "check_records", "local_rows"]

__getattr__ = on_first_use(__name__, {"Objective": "objective"})
