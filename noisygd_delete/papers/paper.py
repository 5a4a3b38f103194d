"""What the page of a certificate shows, block by block, from the signed file alone.

The page is made of these blocks when it is written, and made again of them by the script that checked the file (`checker`): nothing is
shown as checked that was not. So this module is translated with the verifier; it reads no clock and no file but the catalogues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..evidence.claims import KEYS, Claim, sentence
from ..privacy.sentences import fill
from .catalogue import figure, labels

Block = dict[str, Any]
QUESTIONS = {
    "used": "Was the record ever in the data? (a record against no record)",
    "which": "Was it this content or another? (two records, one of which was there)",
}
ABOUT = {
    "erased.later": "what was erased, from every model since",
    "erased.all": "what was erased, from all models ever published",
    "erased.before": "what was erased, from all models so far",
    "replaced.later": "the content before the rectification, from every model since",
    "replaced.all": "the content before the rectification, from all models ever published",
    "replaced.before": "the content before the rectification, from all models so far",
    "present.one": "a record still there, from the last model alone",
    "present.all": "a record still there, from all models",
}
# what does a duty, or what notes that it was done
COMMANDS = {
    "to-do.budget": "relearn STORE",
    "to-do.total": "relearn STORE",
    "to-do.publish": "publish STORE",
    "to-do.tell": "register letter STORE REQUEST; register inform STORE REQUEST",
    "to-do.recipients": "register recipients STORE REQUEST --count N",
    "to-do.withdraw": "publish-to STORE",
    "to-do.backups": "register backups STORE REQUEST --until DAY",
}


def paper(certificate: Mapping[str, Any], code: str) -> list[Block]:
    """The blocks of a certificate that holds.

    Args:
        certificate: as it was signed. code: of a language that there is a catalogue for.
    """
    words = labels(code)
    told = _claimed(certificate["claims"], code)
    return [
        *_head(certificate, words),
        *_said(words, told, pending=certificate["action"]["status"] != "published"),
        *_request(certificate, words),
        _block("annex", words["Annex: the figures, what they rest on, and how to check them"]),
        *_tables(certificate["claims"], words, code),
        _block("heading", words["Assumptions"]),
        _lines("list", told["condition"]),
        *_evidence(certificate, words),
        _block("footer", _foot(certificate, words)),
    ]


def _block(kind: str, text: str) -> Block:
    return {"kind": kind, "text": text}


def _lines(kind: str, lines: Sequence[str]) -> Block:
    return {"kind": kind, "lines": list(lines)}


def _claimed(claims: Sequence[Mapping[str, Any]], code: str) -> dict[str, list[str]]:
    """The sentences by what they are about; a duty with what does it."""
    told: dict[str, list[str]] = {kind: [] for kind in ("plain", "notice", "condition", "uncovered", "duty")}
    for one in claims:
        claim = Claim(one["key"], one["values"], tuple(one["conditions"]))
        kind = KEYS[claim.key].role
        text = sentence(claim, code)
        if kind == "duty":
            text = f"{text} (`noisygd-delete {COMMANDS[claim.key]}`)"
        if not claim.key.startswith("present."):
            told[kind if kind in told else "plain"].append(text)
    return told


def _head(certificate: Mapping[str, Any], words: Mapping[str, Any]) -> list[Block]:
    identity = certificate["identity"]
    who = identity.get("controller") or words["Controller not named"]
    return [
        _block("title", words["Erasure certificate"]),
        _lines("lead", [f"{who} · {words['issued']} {_moment(identity['issued'], words)}", identity["certificate_id"]]),
    ]


def _said(words: Mapping[str, Any], told: Mapping[str, list[str]], *, pending: bool) -> list[Block]:
    """The first page: what was done, what somebody can still tell, what to do next; no symbol of the mathematics."""
    guessing = [words["Guessing is right 50 times in 100."]]
    blocks = [
        _block("heading", words["In plain words"]),
        _lines(
            "warning" if pending else "box", [*told["plain"], *(one for one in guessing if one not in told["plain"])]
        ),
        _block("heading", words["What to do next"]),
        _lines("list", told["duty"]),
        _block("heading", words["For the person concerned"]),
        _lines("list", told["notice"]),
        _block("heading", words["Not covered"]),
        _lines("list", told["uncovered"]),
    ]
    return blocks


def _request(certificate: Mapping[str, Any], words: Mapping[str, Any]) -> list[Block]:
    request, action = certificate["request"], certificate["action"]
    edited = f"{_moment(request.get('edited'), words)}: {request['rows'] - request['replaced']} {words['deleted']}"
    if request["replaced"]:
        edited = f"{edited}, {request['replaced']} {words['replaced (rectification)']}"
    if request["inserted"]:
        edited = f"{edited}, {request['inserted']} {words['inserted (nothing erased)']}"
    received = request.get("received")
    missing = _filled(
        words["not stated by the operator; state it with: {text}"], text="`noisygd-delete certificate --received TIME`"
    )
    rows = [
        [words["Request"], request.get("request_id") or words["no request id was given"]],
        [words["Received"], missing if received is None else _moment(received, words)],
        [words["Rows edited"], edited],
        [words["Model without them published"], _moment(request.get("served"), words)],
        [words["Status"], words[action["status"]]],
        [words["Release"], words["none"] if action["release"] is None else str(action["release"])],
        [words["Model before"], action.get("model_before_sha256") or "–"],
        [words["Model after"], action.get("model_after_sha256") or "–"],
    ]
    return [_block("heading", words["Request and action"]), {"kind": "facts", "rows": rows}]


def _tables(claims: Sequence[Mapping[str, Any]], words: Mapping[str, Any], code: str) -> list[Block]:
    """A table for each question: a figure is compared with its neighbours."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for claim in claims:
        if KEYS[claim["key"]].role == "figure":
            found.setdefault(claim["values"]["question"], []).append(claim)
    blocks = [_block("heading", words["Guarantees"])]
    for question, group in found.items():
        first = group[0]["values"]
        head = [
            words["About"],
            words["right, of 100"],
            f"ε, δ = {_number(first['delta'], words)}",
            f"μ, {words['Gaussian']}",
        ]
        if first["order"] is not None:
            head.append(f"{words['Rényi']} ε, q = {_number(first['order'], words)}")
        rows = []
        for claim in group:
            values = claim["values"]
            cells = [str(values["of_hundred"]), _number(values["epsilon"], words), _number(values["gdp"], words)]
            if first["order"] is not None:
                cells.append(_number(values["renyi"], words))
            unit = _filled(
                words["{text}, {n} row(s) per person"], text=values["worlds"], n=str(values["rows_per_person"])
            )
            only = "; ".join(sentence(Claim(name, {}), code) for name in claim["conditions"])
            about = f"{words[ABOUT[claim['key']]]} ({unit}{f'; {only}' if only else ''})"
            rows.append([about, *cells])
        blocks.append({"kind": "table", "text": words[QUESTIONS[question]], "head": head, "rows": rows})
    blocks.append(
        _lines("text", [words["Every figure is an upper bound, rounded up; guessing is right 50 times of 100."]])
    )
    return blocks


def _evidence(certificate: Mapping[str, Any], words: Mapping[str, Any]) -> list[Block]:
    """What else the operator states, and how all of it is checked."""
    evidence = certificate["evidence"]
    checked = evidence.get("checked")
    lines = [
        f"{words['noted when it was issued']}: “{checked}”"
        if checked
        else words["no check of the store is recorded here"]
    ]
    if evidence.get("ledger_entries"):
        entry = _filled(
            words["issued after entry {n} of the ledger, link {text}"],
            n=str(evidence["ledger_entries"]),
            text=evidence["ledger_sha256"][:16],
        )
        kept = words["Kept outside the store, the JSON file shows whether an older copy is put back:"]
        lines.append(f"{entry}. {kept} `noisygd-delete verify STORE --certificate certificate.json`")
    for place in evidence.get("residue", ()):
        found = f" ({place['found']} {words['of the texts looked for']})" if place["found"] else ""
        remedy = f". {place['remedy']}" if place["remedy"] else ""
        lines.append(f"{place['place']}: {words[place['verdict']]}{found}{remedy}")
    for result in evidence.get("audit", ()):
        low, high = _number(result["measured_lower_bound"], words), _number(result["claimed_advantage"], words)
        measured = _filled(words["advantage measured at least {n}, certified at most {n2}"], n=low, n2=high)
        lines.append(f"{words['audit']} “{audit_name(result['name'], words)}”: {measured}")
    signed = certificate.get("signature")
    lines.append(words["not signed"] if signed is None else f"{words['signed with Ed25519 by key']} {signed['key_id']}")
    file = words["The signed JSON file is the original; this page says its claims in sentences. To check it offline:"]
    return [
        _block("heading", words["Stated by the operator"]),
        _lines(
            "text",
            [
                words[
                    "The facts of this page cannot be recomputed; whoever signed answers for them. Every figure and condition follows from them."
                ]
            ],
        ),
        _block("heading", words["Evidence and verification"]),
        _lines(
            "list",
            [*lines, f"{file} `noisygd-delete verify-certificate certificate.json --public-key controller.pem.pub`"],
        ),
    ]


def audit_name(name: str, words: Mapping[str, Any]) -> str:
    """What an attack is called, `what it asked: how`; a name that somebody else gave stays as it is."""
    parts = [words.get(f"audit.{part}") for part in name.split(": ")]
    return name if None in parts else ": ".join(map(str, parts))


def _foot(certificate: Mapping[str, Any], words: Mapping[str, Any]) -> str:
    identity = certificate["identity"]
    known = words["the request id is a pseudonym: personal data for whoever can tell whose request it was"]
    about = [
        f"{identity['software']} {identity['version']}",
        certificate["format"],
        words["holds no name, record number or row"],
    ]
    return " · ".join([*about, *([known] if certificate["request"].get("request_id") else [])])


def _moment(when: str | None, words: Mapping[str, Any]) -> str:
    """A day, or a moment with the zone in which it was written down."""
    if when is None:
        return "–"
    date = when[:10].split("-")
    day = _filled(words["day"], day=str(int(date[2])), month=words["months"][int(date[1]) - 1], year=date[0])
    if len(when) <= 10:
        return day
    zone = when[19:]
    return f"{day}, {when[11:16]} UTC{'' if zone in ('+00:00', 'Z') else zone}"


def _number(value: Any, words: Mapping[str, Any]) -> str:
    return figure(value).replace(".", words["decimal"])


def _filled(label: str, **values: str) -> str:
    """A label with its {names} in place; what is put in is put in as it is."""
    return fill(label, {}, values)
