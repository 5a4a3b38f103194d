"""What is spent and left is one measure, whichever command says it; and a dry run says what the release then costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noisygd_delete.cli.remaining_budget import left_text
from tests.cli.planned import main

SCHEMA = """\
confirmed = true
id = "id"
[label]
column = "y"
classes = ["no", "yes"]
[columns.a]
bounds = [0, 100]
"""
PLANS = {
    "noisy steps": ["--method", "noisy-gd", "--order", "4", "--releases", "40"],
    "solver, a total": ["--method", "objective-perturbation", "--total-epsilon", "9", "--total-delta", "1e-5"],
    "solver, pairs and a total": ["--method", "output-perturbation", "--dp", "2", "--deletion", "0.5", "--delta", "1e-7", "--total-epsilon", "20"],
    "no cap": ["--method", "objective-perturbation", "--no-total"],
}  # fmt: skip


@pytest.mark.parametrize("plan", PLANS)
def test_one_measure(plan: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_json, printed) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCHEMA)
    Path("d.csv").write_text("id,a,y\n" + "".join(f"p{k},{k % 97},{'yes' if k % 3 else 'no'}\n" for k in range(300)))
    words = [*PLANS[plan], "--regularization", "0.1", "--no-utility"]
    assert main(["init", "store", "--data", "d.csv", "--schema", "s.toml", *words]) == main(["learn", "store"]) == 0
    left = as_json("status", "store")["left"]
    for command in ("status", "budget", "delete p9 --dry-run", "relearn --dry-run", "publish --dry-run"):
        name, *more = command.split()
        assert left_text(left) in printed(name, "store", *more), command
    for turn, request in enumerate((["delete", "store", "p1"], ["publish", "store"], ["relearn", "store"])):
        if request[0] == "publish":
            assert main(["delete", "store", "p2", "--no-publish"]) == 0
        left = as_json("status", "store")["left"]
        dry = {
            "budget": as_json("budget", "store"),
            "delete": as_json("delete", "store", "p9", "--dry-run"),
            "relearn": as_json("relearn", "store", "--dry-run"),
            "publish": as_json("publish", "store", "--dry-run"),
        }
        assert {name: told["left"] for name, told in dry.items()} == dict.fromkeys(dry, left)
        assert dry["budget"]["cumulative"]["delta"] == left["delta"]
        after = as_json(*request)["left"]
        assert after == dry[request[0]]["left_after"]
        assert as_json("status", "store")["left"] == after != left or not left["capped"]
        Path("r.jsonl").write_text(json.dumps({"request_id": f"r{turn}", "delete": [f"p{20 + turn}"]}) + "\n")
        assert as_json("stream", "store", "r.jsonl", "--batch", "1")["left"] == as_json("status", "store")["left"]
