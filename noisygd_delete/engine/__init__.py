"""Full-batch gradients: validation of the records, bounds on rounding, and the order of summation."""

from .execution import Execution
from .objective import Objective
from .sums import CurrentRecords, check_labels, check_records, local_rows

__all__ = ["CurrentRecords", "Execution", "Objective", "check_labels", "check_records", "local_rows"]
