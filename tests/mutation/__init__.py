"""Faults drawn at random, and which tests notice them: `python -m tests.mutation`."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy is loaded: a fork has none of its parent's threads
