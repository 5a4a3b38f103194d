"""docs/threat-model.md grades every fault and names a test of it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "threat-model.md").read_text()


def test_every_fault_is_graded_and_shown() -> None:
    faults = [line.split("|")[1:-1] for line in TEXT.splitlines() if re.match(r"\| [A-Z] \|", line)]
    assert len(faults) > 25
    for grade, fault, outcome, shown in faults:
        assert grade.strip() in "ABCD"
        assert fault.strip()
        assert outcome.strip()
        assert "`tests/" in shown, fault


def test_what_software_cannot_promise_is_in_the_certificate_too() -> None:
    from noisygd_delete.evidence.claims import Claim, claim_sentence
    from noisygd_delete.evidence.derivation import NOT_COVERED

    said = " ".join(claim_sentence(Claim(key, {})) for key in NOT_COVERED)
    for word in ("backups", "snapshots", "worn or remapped cells", "encrypt the volume", "models published before"):
        assert word in said
        assert word.split()[0] in TEXT.lower()
