"""The arrows of the house point one way, and the heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.syntax import parse_source

PACKAGE = Path(__file__).parent.parent / "noisygd_delete"
SERVER, SOURCES, LAB, COMPLIANCE = (
    PACKAGE.parent / "packages" / name / f"noisygd_delete_{name}" for name in ("server", "sources", "lab", "compliance")
)
# lowest first; a room may import from its own row's earlier rooms and from any lower row
ROWS: tuple[tuple[str, ...], ...] = (
    ("version", "lazy_imports", "errors", "dates", "extensions"),
    ("bounds", "losses"),
    ("records", "features", "privacy", "networks"),
    ("engine",),
    ("methods",),
    ("planner",),
    ("accountant",),
    ("curator",),
    ("store",),
    ("evidence",),
    ("audit",),
    ("estimators", "reports"),
    ("cli",),
    ("__main__",),
)
LEVEL = {room: level for level, row in enumerate(ROWS) for room in row}
HEAVY = {
    "torch": {"engine", "networks"},
    "sklearn": {"reports", "estimators", "cli"},
    "onnxruntime": {"features"},
    "pyarrow": {"features"},
    "matplotlib": {"reports", "audit"},
    "sqlite3": {"store"},
    **{
        name: set()
        for name in (
            "starlette",
            "uvicorn",
            "joserfc",
            "opentelemetry",
            "psycopg",
            "pymysql",
            "duckdb",
            "deltalake",
            "fsspec",
            "onnx",
            "mlflow",
            "ray",
            "pyspark",
            SERVER.name,
            SOURCES.name,
            LAB.name,
            COMPLIANCE.name,
        )
    },  # beside the package
}


def place(path: Path) -> str:
    return str(path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else path.parents[1]))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file's syntax tree, the module first; a file is read once for all questions."""
    return tuple(ast.walk(parse_source(path.read_text("utf-8"))))


def imports(path: Path, package: Path = PACKAGE):
    """(target room or external top-level name, is internal, is at module level)."""
    depth = len(path.relative_to(package).parts)
    module, *inner = nodes(path)
    assert isinstance(module, ast.Module)
    top = {id(node) for node in module.body}
    for node in inner:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split(".")[0], False, id(node) in top
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield (node.module or "").split(".")[0], False, id(node) in top
            elif node.level == depth:
                names = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
                for name in names:
                    yield name, True, id(node) in top


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE)
SERVED = sorted([*SERVER.rglob("*.py"), *SOURCES.rglob("*.py"), *COMPLIANCE.rglob("*.py")])


def upward_arrows(path: Path, package: Path = PACKAGE) -> list[str]:
    room = path.relative_to(package).parts[0].removesuffix(".py")
    found = []
    for target, internal, _ in imports(path, package):
        if not internal or target not in LEVEL or target == room:
            continue
        row = ROWS[LEVEL[room]]
        sideways = LEVEL[target] == LEVEL[room] and row.index(target) > row.index(room)
        if LEVEL[target] > LEVEL[room] or sideways:
            found.append(f"{room} imports {target}")
    return found


def test_imports_point_down() -> None:
    assert [place(path) for path in FILES if room_of(path) not in LEVEL] == [], "a room without a place in ROWS"
    assert {place(path): found for path in FILES if (found := upward_arrows(path))} == {}


def heavy_imports(path: Path, room: str, package: Path = PACKAGE) -> list[str]:
    """Heavy libraries that a file imports outside of their rooms, or when it is loaded where it could be on use."""
    found = []
    for target, internal, at_top in imports(path, package):
        if not internal and target in HEAVY:
            found += [f"must not import {target}"] if room not in HEAVY[target] else []
            if at_top and target != "sqlite3" and room not in ("estimators", "networks"):  # loaded for nothing else
                found.append(f"import {target} where it is used")
    return found


def test_heavy_libraries_stay_in_their_rooms() -> None:
    assert {place(path): found for path in FILES if (found := heavy_imports(path, room_of(path)))} == {}


OTHER_PACKAGES = {  # the packages that each package may import, besides the engine
    COMPLIANCE: set(),
    SERVER: {COMPLIANCE.name},
    SOURCES: set(),
    LAB: set(),
}


def packages_imported(folder: Path) -> set[str]:
    """Return the other packages that the files of a package import."""
    names = {package.name for package in OTHER_PACKAGES} - {folder.name}
    return {
        target for path in folder.rglob("*.py") for target, internal, _ in imports(path, folder) if not internal
    } & names


def test_packages_depend_on_the_engine_and_on_those_they_state() -> None:
    assert {package.name for package in OTHER_PACKAGES} == {
        folder.name for folder in (PACKAGE.parent / "packages").glob("*/noisygd_delete_*") if folder.suffix == ""
    }
    for package, allowed in OTHER_PACKAGES.items():
        assert packages_imported(package) <= allowed
        stated = (package.parent / "pyproject.toml").read_text()
        assert all(f'"{name.replace("_", "-")}==' in stated for name in packages_imported(package))


def test_a_planted_import_of_a_package_is_caught(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text("def f():\n    from noisygd_delete_server.service import Service\n")
    assert packages_imported(tmp_path) == {SERVER.name}
    assert heavy_imports(tmp_path / "planted.py", "cli", tmp_path) == [f"must not import {SERVER.name}"]


def test_a_planted_heavy_import_is_caught(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("import torch\ndef f():\n    import ray\n")
    assert heavy_imports(planted, "engine", tmp_path) == ["import torch where it is used", "must not import ray"]


def test_bounds_and_losses_know_neither_each_other_nor_data() -> None:
    for path in FILES:
        if room_of(path) in {"bounds", "losses"}:
            used = {target for target, internal, _ in imports(path) if internal}
            assert used <= {"errors", "lazy_imports"}, f"{path.name} imports {used}"


def test_only_methods_join_losses_to_bounds() -> None:
    """Above the mathematics, a room that imports both is `methods` (and the planner, which weighs them)."""
    joined = {
        room_of(path)
        for path in FILES
        if {"losses", "bounds"} <= {target for target, internal, _ in imports(path) if internal}
    }
    assert joined <= {"engine", "methods", "planner", "audit"}


def test_only_the_command_line_prints() -> None:
    commands = [SERVER / "serve.py", *(path for path in FILES if room_of(path) == "cli")]
    for path in (*FILES, *SERVED):
        if path not in commands:
            calls = [n for n in nodes(path) if isinstance(n, ast.Call)]
            assert not any(isinstance(c.func, ast.Name) and c.func.id == "print" for c in calls), path


# lowest first: a file of the sources imports files of lower rows, and of its own row none
SOURCE_ROWS: tuple[tuple[str, ...], ...] = (
    ("sql", "scratch", "session", "events", "residue_report", "residue_vectors", "parquet_files"),
    ("source", "definition"),
    ("reading", "trigger"),
    ("carried_noise",),
    ("table",),
    ("postgres", "mysql", "duckdb_tables"),
    ("workers", "residue_files"),
    ("factory", "residue_scan"),
    ("cli",),
)


def source_file(path: Path) -> str:
    return path.relative_to(SOURCES).parts[0].removesuffix(".py")


def test_files_of_the_sources_import_lower_rows_alone() -> None:
    level = {name: row for row, names in enumerate(SOURCE_ROWS) for name in names}
    files = [path for path in SOURCES.rglob("*.py") if path != SOURCES / "__init__.py"]
    assert {source_file(path) for path in files} == set(level)
    upward = {
        (source_file(path), target)
        for path in files
        for target, internal, _ in imports(path, SOURCES)
        if internal and target != source_file(path) and level.get(target, -1) >= level[source_file(path)]
    }
    assert upward == set()


def test_a_planted_upward_arrow_is_caught(tmp_path: Path) -> None:
    planted = tmp_path / "records.py"
    planted.write_text("from .errors import InvalidRecords\nfrom .curator import Curator\n")
    assert upward_arrows(planted, tmp_path) == ["records imports curator"]


CODE_IN_FILES = {"pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "jsonpickle", "yaml"}


def readers_of_code(path: Path, package: Path = PACKAGE) -> list[str]:
    """Imports and calls by which a file could bring code with it."""
    found = [target for target, internal, _ in imports(path, package) if not internal and target in CODE_IN_FILES]
    for node in nodes(path):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            safe = any(word.arg == "weights_only" for word in node.keywords)
            if called in ("eval", "exec", "compile", "__import__") or (called == "torch.load" and not safe):
                found.append(called)
            found += [called for word in node.keywords if word.arg == "allow_pickle"]
    return found


def test_no_file_format_brings_code() -> None:
    assert {place(path): found for path in (*FILES, *SERVED) if (found := readers_of_code(path, path.parent))} == {}


def test_a_planted_pickle_is_caught(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("import pickle, torch, numpy\ntorch.load('m')\nnumpy.load('x', allow_pickle=True)\neval('1')\n")
    assert set(readers_of_code(planted, tmp_path)) == {"pickle", "torch.load", "numpy.load", "eval"}


ANSWERS = {"Method", "Mechanism", "NoisySteps"}  # what methods have in common: no type of it may be asked for either


@cache
def catalogued() -> tuple[frozenset[str], frozenset[str]]:
    """Names, and names of types, of all methods and mechanisms that the catalogue lists: a new one is guarded by joining it."""
    from noisygd_delete.methods import ANALYSES, MECHANISMS, STAGE_METHODS, method_variants

    listed = (method_variants(), ANALYSES, STAGE_METHODS, MECHANISMS)
    kinds = {kind.__name__ for catalogue in listed for kind in catalogue.values()}
    return frozenset(name for catalogue in listed for name in catalogue), frozenset(kinds | ANSWERS)


def method_questions(path: Path) -> list[str]:
    """Comparisons with a method's name, lists and tables of several, and questions about a mechanism's type: what only `methods/` may ask."""
    names, kinds = catalogued()

    def called(parts: Iterable[ast.AST]) -> list[str]:
        return sorted(
            {
                n.id if isinstance(n, ast.Name) else n.attr
                for part in parts
                for n in ast.walk(part)
                if isinstance(n, ast.Name | ast.Attribute)
            }
            & kinds
        )

    found = []
    for node in nodes(path):
        if isinstance(node, ast.Compare):
            for part in [node.left, *node.comparators]:
                words = part.elts if isinstance(part, (ast.Tuple, ast.List, ast.Set)) else [part]
                found += [w.value for w in words if isinstance(w, ast.Constant) and w.value in names]
            if any(isinstance(operator, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) for operator in node.ops):
                found += called(part for part in node.comparators if isinstance(part, ast.Name | ast.Attribute))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            found += called(node.args[1:])
        elif isinstance(node, ast.MatchClass):
            found += called([node.cls])
        elif isinstance(node, ast.MatchValue):
            found += [node.value.value] if isinstance(node.value, ast.Constant) and node.value.value in names else []
        elif isinstance(node, ast.Dict | ast.Tuple | ast.List | ast.Set):
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            listed = [part.value for part in parts if isinstance(part, ast.Constant) and part.value in names]
            found += listed if len(listed) > 1 else []
    return found


def test_only_methods_know_which_method_it_is() -> None:
    outside = [*SERVED, *(path for path in FILES if room_of(path) != "methods")]
    asked = {place(path): method_questions(path) for path in outside}
    found = {path: questions for path, questions in asked.items() if questions}
    assert not found


@pytest.mark.parametrize(
    "question",
    [
        "plan.method.name == 'objective-perturbation'",
        "plan.method.name in ('noisy-gd', 'x')",
        "isinstance(facts, ObjectivePerturbationRun)",
        "isinstance(facts, methods.OutputPerturbationRun | int)",
        "issubclass(kind, CountedRecords)",
        "type(facts) is NoisyGDRun",
        "{'moments': 1, 'noisy-gd:analysis=paper': 2}[name]",
        "[make_plan(method=name) for name in ['noisy-gd', 'objective-perturbation']]",
    ],
)
def test_a_planted_question_about_a_method_is_caught(tmp_path: Path, question: str) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(f"if {question}:\n    pass\n")
    assert method_questions(planted)


def test_a_planted_match_on_a_method_is_caught(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(
        "match facts:\n    case StagedRun():\n        pass\nmatch name:\n    case 'sampled-steps':\n        pass\n"
    )
    assert sorted(method_questions(planted)) == ["StagedRun", "sampled-steps"]


HOLDERS = {"HeldSums", "ClusterSums", "RowsElsewhere", "ClusterRecords", "ray", "pyspark", "sums_held"}
KNOW_NONE = {"curator", "accountant", "methods", "planner", "privacy", "evidence", "reports", "store", "audit"}


def holders_known(path: Path) -> set[str]:
    """What a file names of those who hold a table's rows: `engine.CurrentRecords` is all that a learner may know."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found |= {*(node.module or "").split("."), *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {part for alias in node.names for part in alias.name.split(".")}
    return found & HOLDERS


def test_learner_accountant_and_papers_do_not_know_who_holds_the_rows() -> None:
    known = {place(path): holders_known(path) for path in FILES if room_of(path) in KNOW_NONE}
    assert {path: names for path, names in known.items() if names} == {}


def test_a_planted_question_about_the_holder_is_caught(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(
        "from ..engine.sums import RowsElsewhere\nif isinstance(records, RowsElsewhere):\n    import ray\n"
    )
    assert holders_known(planted) == {"RowsElsewhere", "ray"}


def test_the_root_holds_nothing_but_rooms() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} <= {
        "__init__",
        "__main__",
        "dates",
        "errors",
        "extensions",
        "lazy_imports",
        "version",
    }


def test_tests_stand_in_folders_as_the_rooms_do() -> None:
    """A folder of tests is named as its room; the others say what they hold: across rooms, or about the repository."""
    here = Path(__file__).parent
    assert {path.name for path in here.glob("*.py")} == {
        "__init__.py",
        "bank.py",
        "conftest.py",
        "fingerprint.py",
        "forks.py",
        "rooms.py",
        "slow.py",
        "syntax.py",
        "trips.py",
        "test_architecture.py",
        "test_language.py",
    }
    others = {
        "across",
        "compliance",
        "docs",
        "engines",
        "examples",
        "fuzz",
        "lab",
        "long",
        "mutation",
        "oracles",
        "proofs_check",
        "publishers",
        "service",
        "sources",
    }
    folders = {path.name for path in here.iterdir() if path.is_dir() and not path.name.startswith(("_", "."))}
    assert folders - others <= LEVEL.keys()


def test_planning_and_accounting_load_no_engine() -> None:
    code = "import sys, noisygd_delete.planner, noisygd_delete.accountant as a; print([m for m in sys.modules if m.split('.')[0] in ('numba', 'torch', 'sklearn') or m.startswith('noisygd_delete.engine')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_the_picture_of_the_house_is_drawn_from_its_imports() -> None:
    from tests.rooms import PICTURE, drawn

    assert PICTURE.read_text() == drawn(), "run python -m tests.rooms"


def defined(path: Path) -> list[str]:
    """The names of the classes that a file defines, at its top or inside another class or function."""
    return [node.name for node in nodes(path) if isinstance(node, ast.ClassDef)]


def test_one_word_one_thing_no_class_name_stands_for_two() -> None:
    homes: dict[str, list[str]] = {}
    for path in (*FILES, *SERVED):
        for name in defined(path):
            homes.setdefault(name, []).append(place(path))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
    assert len(homes) > 100


def files_imported(path: Path) -> set[Path]:
    """The files of its own room that a file imports, wherever in it, and for types alone too; a package's own `__init__` is no such file."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            found |= {folder.with_suffix(".py"), *(folder / f"{alias.name}.py" for alias in node.names)}
    return {file for file in found if file.is_file() and file != path and room_of(file) == room_of(path)}


def circles(paths: Iterable[Path]) -> list[set[str]]:
    """Sets of files each of which comes to every other by imports."""
    reached = {path: files_imported(path) for path in paths if path.name != "__init__.py"}
    for middle in tuple(reached):  # as Warshall: by way of ever more files
        for path, further in reached.items():
            if middle in further:
                reached[path] = further | reached[middle]
    return sorted(
        {
            frozenset(place(other) for other in reached[path] if path in reached.get(other, ()))
            for path in reached
            if path in reached[path]
        },
        key=sorted,
    )


def test_files_of_a_room_import_one_another_in_no_circle() -> None:
    assert circles(FILES) == []


def test_a_planted_circle_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    room = tmp_path / "room"
    room.mkdir()
    for name, text in {
        "a": "def f():\n    from .b import x\n",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import c\n",
        "c": "from .a import f\n",
        "d": "from .a import f\n",
    }.items():
        (room / f"{name}.py").write_text(text)
    assert circles(sorted(room.glob("*.py"))) == [{"room/a.py", "room/b.py", "room/c.py"}]
