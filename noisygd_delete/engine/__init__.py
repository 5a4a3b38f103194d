"""Full-batch gradients: what they assume of the records, how far rounding may carry them, and how they are summed."""

from .assumptions import check_labels, check_records
from .execution import Execution
from .objective import Objective
from .sums import Checked, CurrentRecords, rows_here

__all__ = ["Checked", "CurrentRecords", "Execution", "Objective", "check_labels", "check_records", "rows_here"]
