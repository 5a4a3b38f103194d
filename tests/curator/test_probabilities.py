"""Probabilities of a model: its own odds, where it has some."""

from __future__ import annotations

import numpy as np
import pytest

from noisygd_delete import Model, losses
from noisygd_delete.errors import InvalidParameter


def test_a_model_without_odds_has_no_probabilities() -> None:
    """Its two scores are of hidden units, and were taken for those of two classes."""
    loss = losses.TanhNetwork(1.0, outer_weights=(1.0, -1.0))
    model = Model(weights=np.ones((2, 3)), loss=loss, certified=False)
    with pytest.raises(InvalidParameter, match="no probabilities"):
        model.probabilities(np.ones((1, 3)))
