"""Every statement of the paper, checked by machine, with what it licenses in this package.

`python -m proofs_check` runs the checks, writes RESULTS.md, and fails on any red or stale row. `--mutants` plants
one named fault in every row and demands that exactly that row's check refuses it. `--accept` re-runs the rows whose
licensed functions changed and, where they pass, records the new source hashes in `licences.json`.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("noisygd_delete_lab") is None:  # a checkout, in which nobody has installed it
    sys.path.append(str(Path(__file__).parents[1] / "packages" / "lab"))
