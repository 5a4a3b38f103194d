"""Every example runs, and its own assertions hold."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import data_file
from tests.docs import gallery

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
EXAMPLES = sorted(FOLDER.rglob("*.py"))
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
OPTIONAL = ("torch", "opacus", "sklearn", "matplotlib", "pandas", "jinja2")


def needed(path: Path) -> set[str]:
    """Optional libraries that the file imports at top level."""
    return {name for name in OPTIONAL if re.search(rf"^(import|from) {name}\b", path.read_text(), re.MULTILINE)}


def test_the_index_lists_every_example_in_its_folder() -> None:
    listed = re.findall(r"^\| `(\w+/\w+\.(?:py|ipynb))` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(str(path.relative_to(FOLDER)) for path in [*EXAMPLES, *NOTEBOOKS])
    assert all(len(path.relative_to(FOLDER).parts) == 2 for path in FOLDER.rglob("*.*") if path.name != "README.md")


def test_the_page_of_the_site_has_every_example_with_its_picture() -> None:
    assert gallery.page() == gallery.PAGE.read_text(), "python -m tests.docs.gallery"
    assert {path.stem for path in gallery.PICTURES.glob("*.svg")} >= {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    missing = [name for name in needed(path) if find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    assert re.search(r"^ *assert ", path.read_text(), re.MULTILINE), "an example ends in assertions"
    paths = os.pathsep.join(map(str, (ROOT, *(ROOT / "packages" / name for name in ("lab", "server", "sources")))))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    if find_spec("matplotlib"):
        environment |= {"PICTURE": str(tmp_path / "picture.svg"), "MPLBACKEND": "svg"}
    with contextlib.suppress(pytest.skip.Exception):  # an example that needs the folder and has none says so itself
        environment["NOISYGD_DELETE_DATA"] = str(data_file("adult.csv.gz").parent)
    done = subprocess.run(
        [sys.executable, "-W", "error", path], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.strip(), "an example prints its lesson"
    if "PICTURE" in environment:
        assert "</svg>" in (tmp_path / "picture.svg").read_text(), "an example draws one picture"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit the notebook without outputs"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
