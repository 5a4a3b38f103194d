"""What a certificate claims, read off its JSON."""

from __future__ import annotations

from typing import Any

from noisygd_delete.evidence.claims import Claim, claim_sentence


def figure(paper: dict[str, Any], key: str) -> dict[str, Any]:
    """The values of its only claim of this key."""
    (found,) = [claim["values"] for claim in paper["claims"] if claim["key"] == key]
    return found


def at(paper: dict[str, Any], key: str, *inner: Any) -> tuple[Any, ...]:
    """The path to (a part of) a claim."""
    return ("claims", next(i for i, claim in enumerate(paper["claims"]) if claim["key"] == key), *inner)


def keys(paper: dict[str, Any]) -> set[str]:
    return {claim["key"] for claim in paper["claims"]}


def said(paper: dict[str, Any]) -> str:
    """All its sentences."""
    return " ".join(claim_sentence(Claim(**claim)) for claim in paper["claims"])
