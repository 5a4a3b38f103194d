"""`python -m tests.mutation`: small edits of the code that a certificate rests on, and how many of them a test or a proof row notices.

A random sample of edits (`proofs_check.mutation.edit`: a constant, an operator, a comparison, a connective, min for max) is made one at a time, in
memory: the working tree is never touched. Each edit gets a fork of this process, which has the libraries loaded but not the package, so
that even a constant at the top of a module is edited before anything reads it. First the rows whose licences lead to the edited
definition, then the tests of its room; the first that fails, or that takes too long, has noticed. Words of errors, docstrings and
annotations are not edited.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import cryptography.hazmat.primitives.ciphers  # noqa: F401  # loaded once, before the forks
import mpmath  # noqa: F401
import noisygd_delete_server
import noisygd_delete_sources
import numba  # noqa: F401
import pandas  # noqa: F401
import pytest
import scipy.optimize
import scipy.special
import scipy.stats  # noqa: F401
import sklearn.linear_model  # noqa: F401
import sympy  # noqa: F401

from proofs_check.mutation import edit
from proofs_check.normal_form import Place
from proofs_check.sources import PACKAGE, ROOT, Sources

DISTRIBUTIONS = [Path(str(package.__file__)).parent for package in (noisygd_delete_server, noisygd_delete_sources)]
# room -> (modules left out: words for people and exports, on which no figure rests; tests of the room)
ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bounds": (
        (),
        ("bounds", "accountant/test_agreement.py", "accountant/test_monotone.py", "engine/test_float_sensitivity.py"),
    ),
    "privacy": ((), ("privacy", "accountant", "across/test_extreme_numbers.py")),
    "methods": (
        ("words", "feasibility"),
        (
            "planner/test_planner.py",
            "across/test_extreme_numbers.py",
            "methods/test_nonconvex_plans.py",
            "methods/test_output_perturbation.py",
        ),
    ),
    "planner": (
        ("explain", "comparison"),
        ("planner/test_planner.py", "planner/test_targets.py", "across/test_extreme_numbers.py"),
    ),
    "accountant": (("text", "export", "statement"), ("accountant", "accountant/test_adaptive_requests.py")),
    "curator": ((), ("curator", "accountant/test_accountant.py")),
    "store": (
        ("describe",),
        tuple(
            f"store/test_{name}.py"
            for name in (
                "store",
                "refusals",
                "repeats",
                "restored",
                "together",
                "filling",
                "outputs",
                "crash",
                "stream",
            )
        ),
    ),
    "noisygd_delete_sources": (
        (),
        (
            "sources/test_changes.py",
            "sources/test_lake.py",
            "sources/test_postgres.py",
            "sources/test_residue.py",
        ),
    ),
    "features.maps": ((), ("features/maps",)),
    "engine.solver": ((), ("engine/test_solver.py", "engine/test_ends_of_the_solver.py")),
    "engine.noise": ((), ("engine/test_noise.py", "across/test_noise_is_never_shared.py")),
    "engine.noisygd": ((), ("engine/test_noisygd.py", "engine/test_noise.py")),
    "noisygd_delete_server.inbox": ((), ("service/test_inbox.py", "service/test_queue.py")),
    "evidence.verification": (
        (),
        ("papers/test_certificate_facts.py", "papers/test_certificate_mutations.py", "cli/test_certificate_command.py"),
    ),
}
UNHURRIED = (  # tests too slow to run once for every edit
    "ten_thousand or best_attack or two_dimensions or exact_law or published_law or opacus or forgotten_half or every_model_of or"
    " wrong_barrier or exponential_in_the_barrier or along_the_chain or density_grids or the_notes_name"
)
SLOW_ROWS = {
    "G.22",
    "Guo 1",
    "Guo 3(ii)",
    "Guo 4",
    "Guo C1",
    "Guo C2",
    "S.softmax",
    "S.tanh-network",
    "G.5",
    "F.1",
    "G.18",
}
LIMIT = 120  # seconds of one core for all that looks at one edit


class Edit:
    """One edit: where (line and column), what, and the compiled module that has it."""

    def __init__(self, place: Place, where: str, what: str, code: CodeType, room: str) -> None:
        self.place, self.where, self.what, self.code, self.room = place, where, what, code, room

    def __str__(self) -> str:
        return f"`{self.place}`, {self.where}: {self.what}"


def edits(module: str, room: str, sources: Sources) -> Iterator[Callable[[], Edit]]:
    """Every edit of a module, made only when called for."""
    tree = ast.parse(sources.texts[module])
    for top, name, member in _definitions(tree):
        for index, node in enumerate(_editable(top)):
            for number, what in enumerate(list(edit(node))):  # to the end, so that the tree is as it was
                yield _maker(tree, top, index, number, Place(module, name, member), what, room)


def _maker(
    tree: ast.Module, top: ast.AST, index: int, number: int, place: Place, what: str, room: str
) -> Callable[[], Edit]:
    position = [id(node) for node in ast.walk(tree)].index(id(top))

    def make() -> Edit:
        copied = copy.deepcopy(tree)
        target = _editable(list(ast.walk(copied))[position])[index]
        changes = edit(target)
        for _ in range(number + 1):
            next(changes)
        ast.fix_missing_locations(copied)
        where = f"{getattr(target, 'lineno', 0)}:{getattr(target, 'col_offset', 0)}"
        return Edit(place, where, what, compile(copied, str(_path(place.module)), "exec"), room)

    return make


def _definitions(tree: ast.Module) -> Iterator[tuple[ast.AST, str, str]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node, node.name, ""
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                yield item, node.name, item.name if isinstance(item, ast.FunctionDef) else ""
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id != "__all__":
            yield node, node.targets[0].id, ""


def _editable(top: ast.AST) -> list[ast.AST]:
    """Nodes of a definition in which an edit changes what is computed."""
    found: list[ast.AST] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.Expr) and not isinstance(
            getattr(node, "value", None), ast.Call | ast.Yield | ast.YieldFrom
        ):
            return
        found.append(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "msg"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child)

    visit(top)
    return found


def _path(module: str) -> Path:
    root = next((package.parent for package in DISTRIBUTIONS if module.startswith(package.name)), ROOT)
    base = root.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


class _Finder(importlib.abc.MetaPathFinder):
    """Hands out the edited module in place of the one on disk."""

    def __init__(self, change: Edit) -> None:
        module = change.place.module
        self.name = module if module.startswith("noisygd_delete_") else f"{PACKAGE}.{module}"
        self.code, self.path = change.code, _path(module)

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name:
            return None
        code = self.code

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                return code

        loader = Loader(fullname, str(self.path))
        package = self.path.name == "__init__.py"
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=loader, submodule_search_locations=[str(self.path.parent)] if package else None
        )


def in_a_fork(work: Callable[[], object], limit: float) -> object:
    """What `work` returns in a fork of this process (JSON), or None if it takes more of a core's seconds than `limit`, or dies."""
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 1))
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            try:
                answer.write(json.dumps(work()).encode())
                answer.flush()
            finally:
                os._exit(0)
        deadline = time.monotonic() + 8 * limit  # of the clock: one that waits for ever
        while time.monotonic() < deadline:
            if os.waitpid(child, os.WNOHANG)[0]:
                break
            time.sleep(0.02)
        else:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        answer.seek(0)
        written = answer.read()
    return json.loads(written) if written else None


def closures() -> dict[str, list[str]]:
    """Row -> the definitions that its licences lead to, for the rows accepted with the code as it is; the narrowest first."""
    from proofs_check import licences
    from proofs_check.statements import REGISTRY

    sources, index = licences.present(), licences.load()
    found = {
        key: sorted(
            {
                str(place)
                for name in entry.licenses
                for place in licences.closure(sources.find(name), sources, licences.named(entry, sources))
            }
        )
        for key, entry in REGISTRY.items()
        if key not in SLOW_ROWS and not licences.stale(entry, index)
    }
    return dict(sorted(found.items(), key=lambda item: len(item[1])))


def noticed(change: Edit, rows: dict[str, list[str]], failing: list[str]) -> str:
    """Who notices the edit; "" if nobody does. Runs in the fork."""
    sys.meta_path.insert(0, _Finder(change))
    warnings.simplefilter("error")
    try:
        from proofs_check import framework
        from proofs_check.statements import REGISTRY
    except Exception as error:
        return f"import: {type(error).__name__}"
    warnings.simplefilter("default")
    for key in (key for key in rows if str(change.place) in rows[key]):
        if framework.run(REGISTRY[key]).status == "red":
            return f"row {key}"
    for file in ROOMS[change.room][1]:
        if failed := failures([f"tests/{file}", "-k", f"not ({UNHURRIED})"], failing):
            return failed[0]
    return ""


def failures(what: list[str], but: list[str]) -> list[str]:
    """The first test that fails, or the file that cannot be read; the tests in `but` are left out."""
    found: list[str] = []

    class Reports:
        def pytest_runtest_logreport(self, report) -> None:
            found.extend([report.nodeid] if report.failed else [])

        def pytest_collectreport(self, report) -> None:
            found.extend([report.nodeid] if report.failed else [])

    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", *(f"--deselect={test}" for test in but)]
    pytest.main([*what, *options], plugins=[Reports()])
    return found


class Watch:
    """Asks who notices an edit, and does not believe a test that fails without it."""

    def __init__(self, rows: dict[str, list[str]]) -> None:
        self.rows, self.sound, self.failing = rows, set[str](), list[str]()

    def noticed(self, change: Edit) -> str:
        while True:
            answer = in_a_fork(lambda: noticed(change, self.rows, self.failing), LIMIT)
            if answer is None:
                return "no end"
            test = str(answer)
            if not test.startswith("tests/") or test in self.sound:
                return test
            if in_a_fork(lambda test=test: failures([test], []), LIMIT):
                self.failing.append(test)
                print(f"fails without any edit: {test}", flush=True)
            else:
                self.sound.add(test)


def report(results: list[tuple[Edit, str]], total: int, seed: int) -> str:
    """The table; what survived is listed, to be killed or explained by hand below it."""
    rooms = Counter(change.room for change, _ in results)
    kept = Counter(change.room for change, who in results if not who)
    lines = ["| room | edits tried | noticed |", "|---|---|---|"]
    lines += [f"| `{room}` | {rooms[room]} | {rooms[room] - kept[room]} |" for room in ROOMS if rooms[room]]
    lines += [f"| all | {len(results)} | {len(results) - kept.total()} ({1 - kept.total() / len(results):.0%}) |", ""]
    by = Counter(
        "a proof row" if who.startswith("row") else "no end" if who == "no end" else "a test"
        for _, who in results
        if who
    )
    lines += [
        f"{total} edits are possible; a sample of {len(results)} (seed {seed}). Noticed by "
        + ", ".join(f"{who}: {n}" for who, n in by.most_common())
        + ".",
        "",
    ]
    lines += [f"- {change}" for change, who in results if not who]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=120, help="edits to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", action="append", choices=list(ROOMS), help="only these rooms")
    parser.add_argument("--only", help="only edits whose description holds this text")
    parser.add_argument("--out", type=Path, help="where to write the table")
    options = parser.parse_args()
    sources = Sources(
        edits={
            ".".join((package.name, *path.relative_to(package).with_suffix("").parts)): path.read_text()
            for package in DISTRIBUTIONS
            for path in package.rglob("*.py")
        }
    )
    makers: list[Callable[[], Edit]] = []
    for room, (without, _) in ROOMS.items():
        for module in sources.texts:
            inside = module == room or module.startswith(f"{room}.")
            if inside and module.split(".")[-1] not in without and (not options.room or room in options.room):
                makers += edits(module, room, sources)
    random.Random(options.seed).shuffle(makers)
    rows = in_a_fork(closures, 300)
    assert isinstance(rows, dict)
    watch, results = Watch(rows), []
    print(f"{len(makers)} edits possible", flush=True)
    for make in makers:
        if len(results) == options.count:
            break
        change = make()
        if options.only and options.only not in str(change):
            continue
        started = time.monotonic()
        results.append((change, watch.noticed(change)))
        print(f"{time.monotonic() - started:6.1f} s  {results[-1][1]:<32} {change}", flush=True)
    text = report(results, len(makers), options.seed)
    print(text)
    if options.out:
        options.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
