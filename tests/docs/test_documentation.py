"""Documentation that runs: every Python block, every command line, every docstring example, and a strict build."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.options import program
from tests.docs.pages import missing_tests

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "docs/CONTRIBUTING.md", ROOT / "docs" / "releasing.md"]
)
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "noisygd_delete").rglob("*.py")
    if ">>> " in path.read_text()
)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [code for kind, code in FENCE.findall(page.read_text()) if kind == language]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.stem)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of one page share their names, as a reader who types along would have them."""
    codes = blocks(page, "python")
    if any("NoisyGD" in code or "sklearn" in code for code in codes):
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    if any("as_frame" in code for code in codes):
        pytest.importorskip("pandas", reason="pandas is not installed")
    if any("import torch" in code for code in codes):
        pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for number, code in enumerate(codes):
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, names, f"{page.name}[{number}]", str(page), 0)
            runner = doctest.DocTestRunner(optionflags=OPTIONS)
            said: list[str] = []
            runner.run(test, out=said.append, clear_globs=False)
            assert runner.failures == 0, "".join(said)
            names.update(test.globs)
        else:
            with contextlib.redirect_stdout(None):
                exec(compile(ast.parse(code), f"{page.name}[{number}]", "exec"), names)


def commands(page: Path) -> list[str]:
    """Command lines in unlabelled blocks, with backslash continuations joined."""
    text = "\n".join([*blocks(page, ""), *blocks(page, "sh")]).replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip().startswith("noisygd-delete ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_command_lines_parse(page: Path) -> None:
    for line in commands(page):
        words = shlex.split(line.partition(" #")[0])[1:]
        try:
            program().parse_args(words)
        except SystemExit as stopped:
            pytest.fail(f"{line!r} does not parse ({stopped.code})")


def named_paths(page: Path) -> list[str]:
    """Files and folders in backticks: `bounds/shifted_interpolation.py`, `tests/audit/`, `examples/schemas/adult.toml`."""
    spans = re.findall(r"`([^`\n]+)`", re.sub(FENCE, "", page.read_text()))
    roots = {path.name for path in [*ROOT.iterdir(), *(ROOT / "noisygd_delete").iterdir()]} - {
        "dist"
    }  # made beside by `make package`
    paths = [span for span in spans if re.fullmatch(r"[\w.…*-]+(/[\w.…*-]*)*", span)]
    return [path for path in paths if path.endswith(".py") or path.partition("/")[0] in roots]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_files_are_there(page: Path) -> None:
    for name in named_paths(page):
        pattern = name.replace("…", "*").rstrip("/")
        found = any(next(folder.glob(pattern), None) for folder in (ROOT, ROOT / "noisygd_delete"))
        assert found, f"{page.name} names {name}, which is not there"
    assert missing_tests(page.read_text()) == []


def test_the_checks_of_this_file_see_something() -> None:
    assert sum(len(blocks(page, "python")) for page in PAGES) > 15
    assert sum(len(commands(page)) for page in PAGES) > 5
    assert sum(len(named_paths(page)) for page in PAGES) > 40
    assert missing_tests("`tests/docs/pages.py::cells` `tests/docs/pages.py::gone` `tests/gone.py::cells`") == [
        "tests/docs/pages.py::gone",
        "tests/gone.py::cells",
    ]
    with pytest.raises(SystemExit):
        program().parse_args(["plan", "--recordz", "3"])


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    if ".estimators" in name:
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    result = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.skipif(
    find_spec("mkdocs") is None or find_spec("material") is None or find_spec("mkdocstrings") is None,
    reason="mkdocs is not installed (pip install 'noisygd-delete[dev]')",
)
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--config-file", ".ci/mkdocs.yml", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
