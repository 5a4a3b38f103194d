"""What `plan` and `init` refuse, they answer by a command that works as it is printed: every method, in every situation."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator

import pytest

from noisygd_delete import methods
from noisygd_delete.cli import main
from noisygd_delete.cli.suggestion import attempt_with_suggestion
from noisygd_delete.errors import InvalidParameter

SITUATIONS = {
    "plain": "",
    "requests": "--requests 30",
    "period alone": "--period 30",
    "releases and requests": "--releases 3 --requests 30",
    "releases": "--releases 12",
    "a target nobody meets": "--requests 30 --excess-risk 1e-9",
    "forecast": "--ridge forecast",
    "gdp": "--gdp",
    "two measures": "--gdp --order 5",
    "delta alone": "--total-delta 1e-6",
    "total and none": "--total-epsilon 4 --no-total",
    "small budget": "--dp 0.01",
    "small λ": "--regularization 1e-9",
    "several rows": "--rows-per-subject 3",
}
LOSSES = {
    "logistic": "",
    "softmax": "--loss softmax:classes=3",
    "no classes": "--loss softmax",
    "pseudo-huber": "--loss pseudo-huber",
    "network": "--loss multilayer-perceptron:classes=3,hidden=5",
    "tanh": "--loss tanh-network:outer_weights=0.5,-0.5",
}
SIZES = "--records 10000 --features 20"
INSTEAD = re.compile(r"(?:instead|commands|sizes|classes): (noisygd-delete plan .*?)(, and this command.*)?$")
NAMES = (*methods.METHODS, "auto")


def refused(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says where it refuses; "" where it does what it was asked."""
    capsys.readouterr()
    status = main(shlex.split(words))
    said = capsys.readouterr()
    assert status in (0, 2)
    assert (status == 2) == bool(said.err)
    return said.err.strip()


def tried(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The way out of a refusal, which is taken as it is printed."""
    said = refused(words, capsys)
    if not said:
        return ""
    assert "fault of this program" not in said, words
    found = INSTEAD.search(said)
    assert found is not None, f"{words}\n{said}"
    assert refused(found[1].removeprefix("noisygd-delete "), capsys) == "", f"{words}\n{said}"
    return found[1]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_refusal_of_a_plan_names_a_command_that_works(situation, capsys):
    losses = LOSSES if situation in ("plain", "gdp", "requests") else {"logistic": ""}
    ways = [
        tried(f"plan --method {name} {SIZES} {loss} {SITUATIONS[situation]}", capsys)
        for name, loss in itertools.product(NAMES, losses.values())
    ]
    assert any(ways) or situation in ("releases", "several rows")


@pytest.mark.parametrize("more", ["", "--requests 30", "--gdp", "--loss softmax"])
def test_a_plan_without_sizes_is_written_or_asks_for_them(more, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        way = shlex.split(tried(f"plan --method {name} {more}", capsys))
        assert sorted(way) == sorted(["noisygd-delete", *shlex.split(f"plan --method {name} {more} --out plan.toml")])
        assert (tmp_path / "plan.toml").exists()


def test_an_option_of_no_method_is_left_out(capsys):
    for name in NAMES:
        assert "bogus" not in tried(f"plan --method {name}:bogus=1 {SIZES} --releases 12", capsys)


def test_a_command_that_writes_a_file_is_told_with_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert tried(f"plan --method sufficient-statistics {SIZES} --out 'my plan.toml'", capsys).endswith(
        "--out 'my plan.toml'"
    )
    assert tried("plan --method noisy-gd --compare --records 9 --features 2 --out p.toml", capsys)


def _plans() -> Iterator[str]:
    for name in methods.METHODS:
        yield f"--method {name}"
        yield f"--method {name} --gdp"
        yield f"--method {name} --requests 30 --period 10"
        yield f"--method {name}:solver=cold"


def test_every_refusal_of_a_store_names_a_plan_that_it_takes(folder, capsys):
    told = 0
    for number, asked in enumerate(_plans()):
        if refused(f"plan {asked} --out asked.toml", capsys):
            continue
        init = f"init made{number} --data people.csv --schema schema.toml --plan asked.toml"
        said = refused(init, capsys)
        if said:
            found = INSTEAD.search(said)
            assert found is not None, said
            assert found[2] == ", and this command again"
            assert refused(found[1].removeprefix("noisygd-delete "), capsys) == ""
            assert refused(init, capsys) == "", said
            told += 1
    assert told > 5


@pytest.mark.parametrize("measure", ["--delta 1e-5", "--order 4", "--gdp"])
def test_a_budget_in_numbers_keeps_its_measure(measure, capsys):
    ways = [tried(f"plan --method {name} {SIZES} --dp 2 --deletion 0.2 {measure}", capsys) for name in NAMES]
    ways += [
        tried(f"plan --method {name} {SIZES} --dp 0.5 --deletion 0.2 --releases 12 {measure}", capsys)
        for name in ("staged", "sufficient-statistics", "noisy-gd:analysis=paper")
    ]
    assert any(ways)
    assert all(measure.split()[0] in way for way in ways if way)


def test_a_refusal_that_nothing_helps_stays_as_it_is():
    def never(_: object) -> None:
        raise InvalidParameter("no")

    with pytest.raises(InvalidParameter) as refusal:
        attempt_with_suggestion({"method": "noisy-gd"}, never, str)
    assert not getattr(refusal.value, "__notes__", [])
