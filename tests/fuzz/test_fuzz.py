"""Hostile files: each is read right or refused with one clear error. `make long` runs 100,000 and more of them."""

from __future__ import annotations

import os

import pytest

from noisygd_delete.errors import InvalidParameter
from tests.fuzz.guided import NASTY, Outcome, Target, attempt, fuzz, peak_memory
from tests.fuzz.targets import targets

NAMES = (
    "CSV", "CSV, gzip", "schema, TOML", "schema, JSON", "requests, JSON lines", "requests, CSV", "plan", "ledger, entries",
    "ledger, file", "journal", "journal, sealed again", "model, safetensors", "certificate", "list of erased ids", "Parquet",
)  # fmt: skip
QUICK = 40
CASES = int(os.environ.get("NOISYGD_DELETE_FUZZ_CASES", "105000"))
SLOWEST = 20.0  # seconds of processor time that one case may take on a slow, busy machine


@pytest.fixture(scope="module")
def all_targets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return {target.name: target for target in targets(tmp_path_factory.mktemp("fuzz"))}


def chosen(all_targets: dict[str, Target], name: str) -> Target:
    if name not in all_targets:
        pytest.skip("pyarrow is not installed")
    return all_targets[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_good_file_is_read_and_mutants_are_read_right_or_refused(all_targets, name: str) -> None:
    target, outcome = chosen(all_targets, name), Outcome()
    for seed in target.seeds:
        attempt(target, seed, outcome)
    assert outcome.failures == []
    assert outcome.accepted == len(target.seeds), "the examples must be good ones"
    outcome = fuzz(target, QUICK, seed=1)
    assert outcome.failures == []
    assert outcome.accepted + outcome.refused == QUICK


def test_the_fuzzer_finds_a_planted_fault() -> None:
    """A reader that fails only on a key followed by a list is found, and a reader that hides a wrong result too."""

    def careless(data: bytes) -> None:
        import json

        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InvalidParameter("not JSON") from error
        if isinstance(value, dict) and isinstance(value.get("n"), list):
            value["n"] + 1
        assert not (isinstance(value, dict) and value.get("n") == -1), "a wrong result"

    outcome = fuzz(Target("careless", (b'{"n": 1, "m": [2]}',), careless, as_json=True), 2000, seed=3)
    kinds = {message.partition(":")[0] for _, message in outcome.failures}
    assert kinds == {"TypeError", "AssertionError"}
    assert -1 in NASTY


def test_lengths_that_a_file_claims_do_not_fill_memory(all_targets) -> None:
    """A safetensors header of 2⁶² bytes; a gzip of many zeros; a list a thousand deep."""
    huge = (2**62).to_bytes(8, "little") + b"{}"
    tensor = b'{"weights":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8000000000000]}}'
    for data in (huge, len(tensor).to_bytes(8, "little") + tensor + bytes(64)):
        assert peak_memory(all_targets["model, safetensors"], data) < 1 << 20
    for name in ("requests, JSON lines", "plan", "certificate", "schema, JSON", "ledger, entries"):
        assert peak_memory(all_targets[name], b"[" * 100_000) < 8 << 20


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_seven_thousand_mutants_of_each_format(all_targets, name: str, record_property) -> None:
    """15 formats, at least 100,000 cases in all ($NOISYGD_DELETE_FUZZ_CASES for fewer)."""
    cases = -(-CASES // len(NAMES))
    outcome = fuzz(chosen(all_targets, name), cases, seed=20230711)
    record_property(
        "evidence",
        f"{outcome.cases} cases: {outcome.refused} refused with a message, {outcome.accepted} read right, "
        f"{len(outcome.failures)} tracebacks; {len(outcome.lines)} lines reached",
    )
    assert outcome.failures == []
    assert outcome.slowest < SLOWEST
