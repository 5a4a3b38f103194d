"""The content of a certificate's page, block by block, from the signed file alone.

The page is built from these blocks when it is written, and rebuilt from them by the script that verified the file, so
that nothing unverified is shown as verified. This module is therefore translated to JavaScript together with the
verifier; it reads no clock and no file except the catalogues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..evidence.claims import KEYS, Claim, claim_sentence
from ..privacy.sentences import fill_entry, without_quotes
from .texts import format_figure, page_labels

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
UNITS = {
    "record": "{text}, each record another person's",
    "person": "{text}, all rows of a person, at most {n}",
    "row": "{text}, each row by itself",
}
# the command that fulfils a duty, or records that it was done
COMMANDS = {
    "to-do.budget": "relearn STORE",
    "to-do.total": "relearn STORE",
    "to-do.publish": "publish STORE",
    "to-do.tell": "register letter STORE REQUEST; register inform STORE REQUEST",
    "to-do.recipients": "register recipients STORE REQUEST --count N",
    "to-do.withdraw": "publish-to STORE",
    "to-do.backups": "register backups STORE REQUEST --until DAY",
}


TITLES = {
    "erased": "Erasure certificate",
    "restricted": "Restriction certificate",
    "lifted": "Certificate of a lifted restriction",
}
STATED = ("models", "purposes", "contact", "complaint.to")  # notices quoted from the operator


def certificate_blocks(certificate: Mapping[str, Any], code: str) -> list[Block]:
    """Return the blocks of a valid certificate.

    Args:
        certificate: The certificate as it was signed.
        code: Code of a language with a catalogue.
    """
    words = page_labels(code)
    sentences = _group_sentences(certificate["claims"], code)
    open_ = certificate["action"]["status"] != "published" or any(
        claim["key"] == "residue.found" for claim in certificate["claims"]
    )
    return [
        *_head_blocks(certificate, words),
        *_first_page(words, sentences, warning=open_),
        *_statement_blocks(certificate, words, sentences["stated"]),
        *_request_blocks(certificate, words),
        _block("annex", words["Annex: the figures, what they rest on, and how to check them"]),
        *_table_blocks(certificate["claims"], words, code),
        _block("heading", words["Assumptions"]),
        _lines("list", sentences["condition"]),
        *_evidence_blocks(certificate, words),
        _block("footer", _foot_text(certificate, words)),
    ]


def _block(kind: str, text: str) -> Block:
    return {"kind": kind, "text": text}


def _lines(kind: str, lines: Sequence[str | list[str]]) -> Block:
    """Return a block of lines; a line is a list of texts in which every second one is a command to type."""
    return {"kind": kind, "lines": [[line] if isinstance(line, str) else line for line in lines]}


def _group_sentences(claims: Sequence[Mapping[str, Any]], code: str) -> dict[str, list[Any]]:
    """Return the sentences by role; a duty comes with the command that fulfils it."""
    sentences: dict[str, list[Any]] = {
        kind: [] for kind in ("plain", "notice", "condition", "uncovered", "duty", "stated")
    }
    for one in claims:
        claim = Claim(one["key"], one["values"], tuple(one["conditions"]))
        kind = "stated" if claim.key in STATED else KEYS[claim.key].role
        text: Any = claim_sentence(claim, code)
        if kind == "duty":
            text = [f"{text} (", f"noisygd-delete {COMMANDS[claim.key]}", ")"]
        if not claim.key.startswith("present."):
            sentences[kind if kind in sentences else "plain"].append(text)
    return sentences


def title_of(certificate: Mapping[str, Any]) -> str:
    """Return the title of a certificate: of an erasure, a restriction, or a lifted restriction."""
    notices = certificate["request"]["notices"]
    if notices.get("lifted") is not None:
        return TITLES["lifted"]
    return TITLES["erased" if notices.get("restricted") is None else "restricted"]


def _head_blocks(certificate: Mapping[str, Any], words: Mapping[str, Any]) -> list[Block]:
    identity = certificate["identity"]
    named = identity["controller"]
    who = words["Controller not named"] if named is None else _quote_words(named, words)
    return [
        _block("title", words[title_of(certificate)]),
        _lines(
            "lead",
            [f"{who} · {words['issued']} {_format_moment(identity['issued'], words)}", identity["certificate_id"]],
        ),
    ]


def _first_page(words: Mapping[str, Any], sentences: Mapping[str, list[Any]], *, warning: bool) -> list[Block]:
    """Return the first page, without mathematical symbols.

    It shows what was done, what an observer can still learn, and what to do next.
    """
    guessing = [words["Guessing is right 50 times in 100."]]
    return [
        _block("heading", words["In plain words"]),
        _lines(
            "warning" if warning else "box",
            [*sentences["plain"], *(one for one in guessing if one not in sentences["plain"])],
        ),
        _block("heading", words["What to do next"]),
        _lines("list", sentences["duty"]),
        _block("heading", words["For the person concerned"]),
        _lines("list", sentences["notice"]),
        _block("heading", words["Not covered"]),
        _lines("list", sentences["uncovered"]),
    ]


def _statement_blocks(certificate: Mapping[str, Any], words: Mapping[str, Any], lines: Sequence[str]) -> list[Block]:
    """Return the operator's statements, which nothing verifies, in a separate block and in quotation marks."""
    evidence, found = certificate["evidence"], list(lines)
    if evidence["checked"] is None:
        found.append(words["no check of the store is recorded here"])
    else:
        found.append(f"{words['noted when it was issued']}: {_quote_words(evidence['checked'], words)}")
    for place in evidence["residue"]:
        counted = f" ({place['found']} {words['of the texts looked for']})" if place["found"] else ""
        remedy = f". {_quote_words(place['remedy'], words)}" if place["remedy"] else ""
        found.append(f"{_quote_words(place['place'], words)}: {words[place['verdict']]}{counted}{remedy}")
    for result in evidence["audit"]:
        low, high = (
            _format_number(result["measured_lower_bound"], words),
            _format_number(result["claimed_advantage"], words),
        )
        measured = _fill_label(words["advantage measured at least {n}, compared with {n2}"], n=low, n2=high)
        found.append(f"{words['audit']} {_quote_words(audit_name(result['name'], words), words)}: {measured}")
    return [
        _block("heading", words["In the operator's words, which nothing here checks"]),
        _lines("stated", found),
    ]


def _request_blocks(certificate: Mapping[str, Any], words: Mapping[str, Any]) -> list[Block]:
    request, action = certificate["request"], certificate["action"]
    edited = (
        f"{_format_moment(request.get('edited'), words)}: {request['rows'] - request['replaced']} {words['deleted']}"
    )
    if request["replaced"]:
        edited = f"{edited}, {request['replaced']} {words['replaced (rectification)']}"
    if request["inserted"]:
        edited = f"{edited}, {request['inserted']} {words['inserted (nothing erased)']}"
    received = request.get("received")
    token = request["request_id"]
    missing = [
        _fill_label(words["not stated by the operator; state it with: {text}"], text=""),
        "noisygd-delete certificate --received TIME",
    ]
    rows: list[list[Any]] = [
        [words["Request"], words["no request id was given"] if token is None else _quote_words(token, words)],
        [words["Received"], missing if received is None else _format_moment(received, words)],
        [words["Rows edited"], edited],
        [words["Model without them published"], _format_moment(request.get("served"), words)],
        [words["Status"], words[action["status"]]],
        [words["Release"], words["none"] if action["release"] is None else str(action["release"])],
        [words["Model before"], action.get("model_before_sha256") or "–"],
        [words["Model after"], action.get("model_after_sha256") or "–"],
    ]
    facts = [[name, [value] if isinstance(value, str) else value] for name, value in rows]
    return [_block("heading", words["Request and action"]), {"kind": "facts", "rows": facts}]


def _table_blocks(claims: Sequence[Mapping[str, Any]], words: Mapping[str, Any], code: str) -> list[Block]:
    """Return one table for each question, so that comparable figures are adjacent."""
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
            f"ε, δ = {_format_number(first['delta'], words)}",
            f"μ, {words['Gaussian']}",
        ]
        if first["order"] is not None:
            head.append(f"{words['Rényi']} ε, q = {_format_number(first['order'], words)}")
        rows = []
        for claim in group:
            values = claim["values"]
            cells = [
                str(values["of_hundred"]),
                _format_number(values["epsilon"], words),
                _format_number(values["gdp"], words),
            ]
            if first["order"] is not None:
                cells.append(_format_number(values["renyi"], words))
            unit = _fill_label(words[UNITS[values["unit"]]], text=values["worlds"], n=str(values["rows_per_person"]))
            only = "; ".join(claim_sentence(Claim(name, {}), code) for name in claim["conditions"])
            about = f"{words[ABOUT[claim['key']]]} ({unit}{f'; {only}' if only else ''})"
            rows.append([about, *cells])
        blocks.append({"kind": "table", "text": words[QUESTIONS[question]], "head": head, "rows": rows})
    ever = [
        Claim(one["key"], one["values"], tuple(one["conditions"])) for one in claims if KEYS[one["key"]].role == "odds"
    ]
    blocks += [_lines("text", [claim_sentence(claim, code)]) for claim in ever]
    blocks.append(
        _lines("text", [words["Every figure is an upper bound, rounded up; guessing is right 50 times of 100."]])
    )
    return blocks


def _evidence_blocks(certificate: Mapping[str, Any], words: Mapping[str, Any]) -> list[Block]:
    """Return the instructions for verification."""
    evidence, signed = certificate["evidence"], certificate.get("signature")
    lines: list[Any] = []
    if evidence["ledger_entries"] is not None:
        entry = _fill_label(
            words["issued after entry {n} of the ledger, link {text}"],
            n=str(evidence["ledger_entries"]),
            text=evidence["ledger_sha256"][:16],
        )
        kept = words["Kept outside the store, the JSON file shows whether an older copy is put back:"]
        lines.append([f"{entry}. {kept} ", "noisygd-delete verify STORE --certificate certificate.json"])
    lines.append(words["not signed"] if signed is None else f"{words['signed with Ed25519 by key']} {signed['key_id']}")
    file = words["The signed JSON file is the original; this page says its claims in sentences. To check it offline:"]
    lines.append([f"{file} ", "noisygd-delete verify-certificate certificate.json --public-key controller.pem.pub"])
    answers = words[
        "The facts of this page cannot be recomputed; they are the signer's statement. Every figure and condition follows from them."
    ]
    return [
        _block("heading", words["Stated by the operator"]),
        _lines("text", [answers]),
        _block("heading", words["Evidence and verification"]),
        _lines("list", lines),
    ]


def audit_name(name: str, words: Mapping[str, Any]) -> str:
    """Return the name of an attack, `question: attack`, in the page's language; other names are unchanged."""
    parts = [words.get(f"audit.{part}") for part in name.split(": ")]
    return name if None in parts else ": ".join(map(str, parts))


def _foot_text(certificate: Mapping[str, Any], words: Mapping[str, Any]) -> str:
    identity = certificate["identity"]
    known = words["the request id is a pseudonym: personal data for whoever can tell whose request it was"]
    about = [
        f"{identity['software']} {identity['version']}",
        certificate["format"],
        words["holds no name, record number or row"],
    ]
    return " · ".join([*about, *([known] if certificate["request"].get("request_id") else [])])


def _format_moment(when: str | None, words: Mapping[str, Any]) -> str:
    """Return a day, or a time with the time zone in which it was recorded."""
    if when is None:
        return "–"
    date = when[:10].split("-")
    day = _fill_label(words["day"], day=str(int(date[2])), month=words["months"][int(date[1]) - 1], year=date[0])
    if len(when) <= 10:
        return day
    zone = when[19:]
    return f"{day}, {when[11:16]} UTC{'' if zone in ('+00:00', 'Z') else zone}"


def _format_number(value: Any, words: Mapping[str, Any]) -> str:
    return format_figure(None if value is None else float(value)).replace(".", words["decimal"])


def _quote_words(text: str, words: Mapping[str, Any]) -> str:
    """Return a text of the operator in quotation marks that it cannot close."""
    return _fill_label(words["“{text}”"], text=without_quotes(text))


def _fill_label(label: str, **values: str) -> str:
    """Return a label with its {names} replaced by values, which are inserted unchanged."""
    return fill_entry(label, {}, values)
