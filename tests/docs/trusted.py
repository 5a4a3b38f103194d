"""What a true certificate rests on, by file and line: `python -m tests.docs.trusted` writes docs/trusted.md from what the verification reaches."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from pathlib import Path

from noisygd_delete_compliance.translator import NATIVE
from noisygd_delete_compliance.translator.demand import Demand
from noisygd_delete_compliance.translator.modules import PACKAGE, module_text

from proofs_check import coq_certificate, coq_files
from proofs_check.statements import REGISTRY

from ..reports.test_certificate_mutations import papers

PAGE = Path(__file__).parents[2] / "docs" / "trusted.md"
COQ_BEGINS = "| a figure rests on | without Coq | with Coq |\n|---|---|---|\n"
BEGINS = "| room | lines | files |\n|---|---|---|\n"


def lines_reached() -> dict[str, int]:
    """Return the lines of code, without docstrings, of every file that `verify_certificate` reaches: of the definitions used, and of a class the methods called."""
    demand = Demand(NATIVE).reach([("evidence.verification", "verify_certificate")])
    found: dict[str, int] = defaultdict(int)
    for module, names in demand.wanted.items():
        source = module_text(module)
        kept = {id(part): part for name in names for part in source.definitions.get(name, [])}
        file = str(source.path.relative_to(PACKAGE))
        found[file] += sum(_lines(part, demand) for part in kept.values())
    return {file: lines for file, lines in sorted(found.items()) if lines}


def _lines(part: ast.stmt, demand: Demand) -> int:
    left_out = [one for one in getattr(part, "body", []) if isinstance(part, ast.ClassDef) and not demand.keeps(one)]
    return code_lines(part) - sum(map(code_lines, left_out))


def code_lines(part: ast.stmt) -> int:
    """Return the lines of a definition without the docstrings in it."""
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    docstrings = [
        one.body[0]
        for one in ast.walk(part)
        if isinstance(one, documented) and ast.get_docstring(one, clean=False) is not None
    ]
    return _span(part) - sum(map(_span, docstrings))


def _span(part: ast.stmt) -> int:
    return (part.end_lineno or part.lineno) - part.lineno + 1


def table() -> str:
    """The rows of the page: a room, its lines, and how many files."""
    rooms: dict[str, dict[str, int]] = defaultdict(dict)
    for file, lines in lines_reached().items():
        rooms[file.split("/")[0] if "/" in file else "ground"][file] = lines
    rows = []
    for room, files in sorted(rooms.items(), key=lambda pair: -sum(pair[1].values())):
        rows.append(f"| {room} | {sum(files.values())} | {len(files)} |")
    total = sum(sum(files.values()) for files in rooms.values())
    return "\n".join([f"| **all** | **{total}** | **{sum(map(len, rooms.values()))}** |", *rows]) + "\n"


def _coq_definitions(name: str) -> int:
    """Return the lines of definitions in a file of the Coq development, without its proofs."""
    parts = re.split(r"\n(?=\S)|\n\n", (coq_files.FOLDER / f"{name}.v").read_text("utf-8"))
    return sum(part.count("\n") + 1 for part in parts if part.startswith(("Definition ", "Fixpoint ", "Inductive ")))


def coq_table() -> str:
    """Return the rows on what a covered figure of a certificate rests on, with and without Coq."""
    reached = lines_reached()
    bounds = sum(lines for file, lines in reached.items() if file.startswith("bounds/"))
    statement, _ = coq_certificate.source_text(json.loads(json.dumps(papers("published", "noisy-gd"))))
    stated = sum(line.startswith(("Definition ", "Lemma ")) for line in statement.splitlines())
    axioms = len(re.findall(r"^Axiom ", (coq_files.FOLDER / "Laws.v").read_text("utf-8"), flags=re.M))
    formulas = sum(map(_coq_definitions, ("Formulas", "Conversion")))
    translation = sum(map(code_lines, ast.parse(Path(coq_certificate.__file__).read_text("utf-8")).body[1:]))
    rows = [
        ("formulas and conversions", f"{bounds} lines of Python (`bounds/`)", f"{formulas} lines of definitions (`Formulas.v`, `Conversion.v`)"),
        ("that they bound what is revealed", f"{len(REGISTRY)} rows of `proofs_check`, proofs by hand", f"{len(coq_files.PROVEN)} of the rows in Coq: {axioms} cited axioms (`Laws.v`) and Coq's own"),
        ("the inequality for one certificate", "floating-point arithmetic, rounded up", f"{stated} statements (of a certificate by `noisy-gd`), proven"),
        ("from facts to formulas", "in `methods/` and `bounds/`", f"{translation} lines of Python (`proofs_check/coq_certificate.py`)"),
    ]  # fmt: skip
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page() -> str:
    """Return the page with both tables as they are now."""
    before, _ = PAGE.read_text("utf-8").split(BEGINS)
    first, rest = before.split(COQ_BEGINS)
    return first + COQ_BEGINS + coq_table() + re.sub(r"\A(\|.*\n)*", "", rest) + BEGINS + table()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(
        "\n".join(f"{lines:5} {file}" for file, lines in sorted(lines_reached().items(), key=lambda found: -found[1]))
    )
