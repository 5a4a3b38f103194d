"""Side-by-side measurements; each writes its table, with commit and command, under benchmarks/results."""

import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("noisygd_delete_lab") is None:  # a checkout, in which nobody has installed it
    sys.path.append(str(Path(__file__).parents[1] / "packages" / "lab"))
