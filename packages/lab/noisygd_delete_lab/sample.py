"""Default tables of the comparison, and the split of any table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.errors import InvalidRecords, MissingDependency
from noisygd_delete.records import Records


def split(rows: NDArray[np.float32], labels: NDArray[np.float64], train: int) -> tuple[Records, Records]:
    """Return train and test tables: the first `train` rows of one fixed permutation, and the others."""
    if not 0 < train < len(rows):
        raise InvalidRecords(f"train={train} must leave both training and test rows of {len(rows)}")
    order = np.random.default_rng(0).permutation(len(rows))
    rows, labels = rows[order], labels[order]
    return Records(rows[:train], labels[:train]), Records(rows[train:], labels[train:])


def digits() -> tuple[Records, Records]:
    """Return scikit-learn's digits, ten classes: 64 pixels and a constant, unit norm; 1,497 train, 300 test."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingDependency("the digits come with scikit-learn; pip install 'noisygd-delete[sklearn]'") from error
    pixels, labels = load_digits(return_X_y=True)
    rows = np.column_stack([pixels / 16, np.ones(len(pixels))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 2.0**-23)
    return split(rows.astype(np.float32), labels.astype(np.float64), 1_497)
