"""A frozen torch module as a map: what it computes by is its name."""

from __future__ import annotations

import copy
import sys

import numpy as np
import pytest
from noisygd_delete_lab.frozen_module import FrozenModule

from noisygd_delete import maps
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, InvalidRecords

INPUTS = np.random.default_rng(2).normal(size=(12, 4))


class TestModules:
    torch = pytest.importorskip("torch", reason="a module is torch's")

    def network(self, norm: bool = False):
        torch = self.torch
        torch.manual_seed(4)
        layers = [torch.nn.Linear(4, 6), *([torch.nn.BatchNorm1d(6)] if norm else []), torch.nn.Tanh()]
        return torch.nn.Sequential(*layers, torch.nn.Dropout(0.5))

    def test_a_frozen_module_is_public(self) -> None:
        map = FrozenModule(self.network(norm=True).eval(), (4,))
        maps.check_map(map, INPUTS)
        assert map.rows(INPUTS).shape == (12, 7)
        assert copy.deepcopy(map) is map
        with pytest.raises(InvalidParameter, match="onnx"):
            map.to_dict()

    def test_batch_statistics_and_dropout_in_training_mode_are_refused(self) -> None:
        torch = self.torch
        with pytest.raises(AssumptionViolated, match=r"'1' reads statistics of the batch.*eval"):
            FrozenModule(self.network(norm=True).train(), (4,))
        with pytest.raises(AssumptionViolated, match="draws at random"):
            FrozenModule(self.network().train(), (4,))
        stateless = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6, track_running_stats=False))
        with pytest.raises(AssumptionViolated, match="reads statistics of the batch"):
            FrozenModule(stateless.eval(), (4,))

    def test_a_module_that_peeks_is_found_where_records_share_a_call(self) -> None:
        torch = self.torch

        class Centred(torch.nn.Module):
            def forward(self, rows):
                return rows - rows.mean(dim=0)

        with pytest.raises(AssumptionViolated, match="the records beside it"):
            maps.check_map(FrozenModule(Centred().eval(), (4,), block=64), INPUTS)

        class Remembering(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.calls = 0

            def forward(self, rows):
                self.calls += 1
                return rows + 1e-3 * self.calls

        with pytest.raises(AssumptionViolated, match="keeps nothing of a call"):
            maps.check_map(FrozenModule(Remembering().eval(), (4,)), INPUTS)

    def test_weights_that_moved_are_another_map(self) -> None:
        torch = self.torch
        network = self.network().eval()
        map = FrozenModule(network, (4,))
        before = map.digest
        other = copy.deepcopy(network)
        with torch.no_grad():
            network[0].weight[0, 0] += 1e-3
        with pytest.raises(AssumptionViolated, match="no longer those"):
            map.rows(INPUTS)
        assert FrozenModule(network, (4,)).digest != before == FrozenModule(other, (4,)).digest
        assert FrozenModule(torch.nn.Sequential(*other, torch.nn.ReLU()).eval(), (4,)).digest != before

    def test_whatever_a_module_computes_by_is_part_of_its_digest(self) -> None:
        """Not in torch's saved state: numbers, tensors, lists, functions, hooks, other modules, buffers that are not saved."""
        torch = self.torch

        class Kept(torch.nn.Module):
            def __init__(self, kept):
                super().__init__()
                self.inner = torch.nn.Linear(4, 6)
                torch.nn.init.ones_(self.inner.weight)
                torch.nn.init.zeros_(self.inner.bias)
                self.kept = kept

            def forward(self, rows):
                return self.inner(rows)

        def of(kept, change=lambda module: None):
            module = Kept(kept).eval()
            change(module)
            return FrozenModule(module, (4,)).digest

        def power(k):
            return lambda rows: rows**k

        def linear(weight):
            module = torch.nn.Linear(1, 1)
            torch.nn.init.constant_(module.weight, weight)
            torch.nn.init.zeros_(module.bias)
            return module

        import functools

        pairs = {
            "number": (1, 7),
            "kind of number": (1, 1.0),
            "text": ("mean", "max"),
            "tensor": (torch.ones(3), torch.arange(3.0)),
            "shape": (torch.ones(4), torch.ones(2, 2)),
            "array": (np.ones(3), np.arange(3.0)),
            "list": ([1, [2]], [1, [3]]),
            "dict": ({"a": 1}, {"a": 2}),
            "names": ({"a": 1}, {"b": 1}),
            "closure": (power(2), power(3)),
            "partial": (functools.partial(torch.pow, exponent=2), functools.partial(torch.pow, exponent=3)),
            "function of torch": (torch.relu, torch.tanh),
            "modules in a list": ([linear(1.0)], [linear(2.0)]),
            "dtype": (torch.float32, torch.float16),
        }
        for name, (one, other) in pairs.items():
            assert of(one) == of(copy.deepcopy(one)), name
            assert of(one) != of(other), name
        changes = [
            lambda module: module.register_buffer("aside", torch.ones(2), persistent=False),
            lambda module: module.register_buffer("aside", torch.zeros(2), persistent=False),
            lambda module: module.register_forward_hook(lambda *a: a[-1] + 1),
            lambda module: module.inner.register_forward_pre_hook(lambda *a: (a[-1][0] + 1,)),
            lambda module: setattr(module, "forward", lambda rows: rows),
            lambda module: setattr(module.inner, "scale", 2),
        ]
        assert len({of(0), *(of(0, change) for change in changes)}) == len(changes) + 1
        with pytest.raises(InvalidParameter, match="'kept' of the module is of type generator"):
            of(number for number in range(3))

    def test_layers_of_torch_that_differ_in_an_attribute_are_two_maps(self) -> None:
        layer = self.torch.nn.TransformerEncoderLayer
        digests = set()
        for options in ({}, {"norm_first": True}, {"activation": self.torch.nn.functional.gelu}):
            self.torch.manual_seed(0)
            digests.add(FrozenModule(layer(4, 2, 8, batch_first=True, **options).eval(), (3, 4)).digest)
        assert len(digests) == 3

    def test_code_around_a_class_is_part_of_its_digest(self, tmp_path, monkeypatch) -> None:
        import importlib

        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(
            sys, "dont_write_bytecode", True
        )  # two texts of one second and one length would be one module
        texts = {
            "as_it_was": ("K = 2", "return rows * self.weight()", "return K"),
            "constant": ("K = 3", "return rows * self.weight()", "return K"),
            "base": ("K = 2", "return rows * self.weight()", "return K + 1"),
            "helper": ("K = 2", "return helper(rows) * self.weight()", "return K"),
            "other_helper": ("K = 2\nJ = 5", "return helper(rows) * self.weight()", "return K"),
        }
        digests = {}
        for name, (constants, forward, weight) in texts.items():
            (tmp_path / "around.py").write_text(
                f"import torch\n{constants}\ndef helper(rows):\n    return rows + globals().get('J', 0) + {'J' if 'J' in constants else 1}\n"
                f"class Base(torch.nn.Module):\n    def weight(self):\n        {weight}\n"
                f"class Net(Base):\n    def forward(self, rows):\n        {forward}\n"
            )
            importlib.invalidate_caches()
            around = importlib.import_module("around")
            around = importlib.reload(around)
            import linecache

            linecache.clearcache()
            digests[name] = FrozenModule(around.Net().eval(), (4,)).digest
        assert len(set(digests.values())) == len(texts), digests

    def test_an_attribute_that_moved_is_another_map(self) -> None:
        torch = self.torch

        class Scaled(torch.nn.Module):
            scale = 1.0

            def forward(self, rows):
                return rows * self.scale

        module = Scaled().eval()
        map = FrozenModule(module, (4,))
        module.scale = 7.0
        with pytest.raises(AssumptionViolated, match="no longer those"):
            map.rows(INPUTS)

    def test_the_code_of_a_module_is_part_of_its_name(self) -> None:
        torch = self.torch
        spaces = {}
        exec("import torch\nclass Unseen(torch.nn.Module):\n def forward(self, rows):\n  return rows * 2", spaces)
        with pytest.raises(InvalidParameter, match="give code="):
            _ = FrozenModule(spaces["Unseen"]().eval(), (4,)).digest
        one, two = (FrozenModule(spaces["Unseen"]().eval(), (4,), code=f"twice {k}") for k in (1, 2))
        assert one.digest != two.digest

        class Infinite(torch.nn.Module):
            def forward(self, rows):
                return rows / 0

        with pytest.raises(InvalidRecords, match="not finite"):
            FrozenModule(Infinite().eval(), (4,)).rows(INPUTS)
