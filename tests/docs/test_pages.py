"""Pages that a visitor reads: links that lead somewhere, words spelled right, a picture of what was measured."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import noisygd_delete
from noisygd_delete import errors
from noisygd_delete.cli import parser
from tests.docs import error_tree, options, picture, public_names
from tests.docs.pages import ROOT, dead, links

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert dead(page) == []


def test_dead_links_are_seen(tmp_path: Path) -> None:
    assert sum(len(links(page.read_text())) for page in PAGES) > 50
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading: `it`\n[a](gone.md) [b](#a-heading-it) [c](#gone) [d](https://example.org) `[e](code.md)`\n"
    )
    assert dead(page) == ["gone.md", "#gone"]


def test_the_pages_of_options_are_what_the_program_takes() -> None:
    written = {path.name: path.read_text() for path in options.FOLDER.glob("*.md")}
    assert written == options.pages(), "python -m tests.docs.options writes them anew"
    assert "* `--order ORDER`: Rényi order q" in written["begin.md"]
    assert "(**required**)" in written["begin.md"]
    planted = parser()
    options.children(planted)["plan"].add_argument("--planted", help="half of a|b < c")
    assert "* `--planted PLANTED`: half of a|b &lt; c\n" in options.page(options.children(planted)["plan"], "plan", "")


def test_what_the_pages_of_the_api_document_is_exported() -> None:
    """A documented name is one that its room, or the front, names in `__all__`, or `import noisygd_delete` offers: no file is promised."""
    missing = [
        f"{module}.{name}"
        for module, name in public_names.documented()
        if name not in {*getattr(import_module(module), "__all__", ()), *dir(noisygd_delete)}
        or not hasattr(import_module(module), name)
    ]
    assert missing == []
    assert {module.count(".") for module, _ in public_names.documented()} <= {0, 1, 2}


def test_the_tree_of_errors_is_drawn_where_they_are() -> None:
    assert f"```text\n{error_tree.drawn()}```" in (errors.__doc__ or ""), "python -m tests.docs.error_tree"


def test_the_public_interface_is_the_listed_one() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    listed = public_names.LISTED.read_text()
    assert public_names.listed() == listed, (
        "a name or a parameter of the public interface differs; where it is meant: python -m tests.docs.public_names, "
        "with a deprecation for whatever left and a line in CHANGELOG.md"
    )
    assert "make_plan(loss, *, records, features" in listed
    assert public_names.parameters(lambda a, *rest, b, c=1: None) == "(a, *rest, b, c=)"


@pytest.mark.skipif(find_spec("codespell_lib") is None, reason="codespell is not installed")
def test_pages_are_spelled_right(tmp_path: Path) -> None:
    (tmp_path / "wrong.md").write_text("We recieve a request.\n")

    def misspelt(*paths: Path) -> str:
        command = [sys.executable, "-m", "codespell_lib", *map(str, paths)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout

    assert misspelt(*PAGES) == ""
    assert "recieve ==> receive" in misspelt(tmp_path)


def test_the_picture_shows_what_was_measured() -> None:
    assert picture.PICTURE.read_text() == picture.drawn(), "python -m tests.docs.picture draws it anew"
    lines = picture.MEASURED.read_text().splitlines()
    for name in ("retrain", picture.DEFAULT, "gradient ascent"):
        shown = [re.findall(r"(\d+)% \(", line)[0] for line in lines if line.startswith(f"| {name} |") and "%" in line]
        assert shown == [str(rate) for rate in picture.rates(name)] != []


def alternative(name: str) -> str:
    """What the first page says of a picture to those who cannot see it."""
    return str(re.findall(rf"!\[([^\]]*)\]\({name}\)", (ROOT / "docs" / "index.md").read_text())[0])


def test_pictures_of_the_first_page_are_told_in_words() -> None:
    counts = [max(picture.rates(name)) // 5 for name in ("retrain", picture.DEFAULT)]
    assert re.findall(r"\d+(?= of 20)", alternative("request.svg")) == [*map(str, counts), "1"]
    drawn = ElementTree.fromstring((ROOT / "docs" / "trust.svg").read_text())
    assert drawn.get("aria-label") == alternative("trust.svg")


def test_every_block_of_the_first_page_runs_as_printed_in_a_fresh_copy(tmp_path: Path) -> None:
    """As a new reader pastes them: in order, in a folder with README and the example files, and nothing typed."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert {language for language, _ in blocks} == {"python", ""}
    said = []
    for language, block in blocks:
        lines = [block] if language == "python" else block.splitlines()
        for line in lines:
            words = ["-c", line] if language == "python" else ["-m", "noisygd_delete", *shlex.split(line)[1:]]
            assert language or line.startswith("noisygd-delete ")
            done = subprocess.run(
                [sys.executable, *words], cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *(ROOT / "packages").glob("*"))))},
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            said.append(done.stdout)
    assert len(said) >= 2
    assert any("signed and verified: biopsies/certificate.json" in one for one in said)
    assert (tmp_path / "biopsies" / "certificate.html").is_file()


def test_the_first_example_runs_the_article_and_meets_its_budget() -> None:
    code = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    plan, accountant = names["plan"], names["accountant"]
    assert (plan.method.name, plan.method.analysis) == ("noisy-gd", "paper")
    assert 0 < plan.calibration.delete_steps < plan.calibration.learn_steps
    assert accountant.epsilon_dp(observed=[2]) <= plan.problem.budget.dp
    assert accountant.epsilon_dd() <= plan.problem.budget.deletion < accountant.epsilon_dd(observed=[1, 2])
