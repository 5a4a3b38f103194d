"""How a version is cut: one statement of the version, and tools that are what the pages say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import noisygd_delete
from noisygd_delete.cli import main

ROOT = Path(__file__).parents[2]
CHANGES = (ROOT / "CHANGELOG.md").read_text()


def test_versions_are_dated_in_falling_order_below_the_unreleased() -> None:
    first, *released = re.findall(r"^## (.*)$", CHANGES, re.MULTILINE)
    assert first == "[Unreleased]"
    dated = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)", heading) for heading in released]
    assert all(dated)
    numbers = [tuple(map(int, match.groups()[:3])) for match in dated if match]
    assert numbers == sorted(numbers, reverse=True)
    stated = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(\.dev0)?", noisygd_delete.__version__)
    assert stated
    here = tuple(map(int, stated.groups()[:3]))
    if stated[4]:
        assert not numbers or here > numbers[0], "a .dev0 comes after the last version listed"
    else:
        assert numbers[:1] == [here], "a release is listed first"


def test_the_version_is_stated_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.strip() == f"noisygd-delete {noisygd_delete.__version__}"
    assert "noisygd_delete.version.__version__" in (ROOT / "pyproject.toml").read_text()
    stating = [
        path.name
        for path in (ROOT / "noisygd_delete").rglob("*.py")
        if f'"{noisygd_delete.__version__}"' in path.read_text()
    ]
    assert stating == ["version.py"]


def test_pages_and_workflows_name_targets_that_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in ("docs/releasing.md", "docs/CONTRIBUTING.md", ".ci/run", "README.md"):
        for words in re.findall(r"\bmake ((?:[a-z]+ ?)+)(?=[`$&T\n])", (ROOT / name).read_text()):
            assert set(words.split()) <= targets, f"{name}: make {words}"
    assert "run: .ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()


def test_hooks_need_nothing_but_what_is_pinned() -> None:
    """Every hook is local and runs a module of .venv that constraints.txt pins, or of this repository."""
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with mkdocs")
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    pinned = (ROOT / "requirements" / "constraints.txt").read_text()
    assert [repository["repo"] for repository in repositories] == ["local"]
    for hook in repositories[0]["hooks"]:
        assert hook["language"] == "system"
        module = re.match(r"\.venv/bin/python -m ([\w.]+) ", f"{hook['entry']} ")
        assert module
        assert f"\n{module[1]}==" in pinned or (ROOT / module[1].replace(".", "/")).is_dir()
    assert "\npre_commit==" in pinned


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_programs_are_installed_only_where_a_test_uses_them_and_root_may(tmp_path: Path) -> None:
    """The function of .ci/run, with stand-ins for `id` and apt-get that say what they were asked."""
    text = (ROOT / ".ci" / "run").read_text()
    function = text[text.index("program() {") : text.index("\n}\n", text.index("program() {")) + 3]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_pages.py").write_text("BROWSER = 'no-such-browser'\n")

    def said(user: int, wanted: str, answer: int = 0) -> str:
        stubs = f'id() {{ echo {user}; }}\napt-get() {{ echo "$@" >>asked; return {answer}; }}\n'
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{stubs}{function}{wanted}"], cwd=tmp_path, capture_output=True, text=True, check=True
        )  # fmt: skip
        return done.stdout

    asked = tmp_path / "asked"
    assert said(0, "program no-such-server no-such-server") == said(0, "program bash no-such-browser") == ""
    assert not asked.exists(), "nothing uses it, or it is there"
    assert "are skipped" in said(1000, "program no-such-browser no-such-browser")
    assert not asked.exists(), "not root"
    assert said(0, "program no-such-browser no-such-browser") == ""
    assert "install -qy --no-install-recommends no-such-browser" in asked.read_text()
    assert "are skipped" in said(0, "program no-such-browser no-such-browser", answer=1)


def junit(passed: int, skipped: int, failed: int, errors: int = 0) -> str:
    """A report as pytest writes it, as far as it is read."""
    skips = '<testcase><skipped message="no such machine here"/></testcase>' * skipped
    counts = f'tests="{passed + skipped + failed + errors}" skipped="{skipped}" failures="{failed}" errors="{errors}"'
    return f'<testsuites><testsuite name="pytest" {counts}>{skips}</testsuite></testsuites>'


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_last_line_of_a_run_is_the_sum_of_its_stages(tmp_path: Path) -> None:
    """The stages of .ci/run, with others in their places: a tool, tests that pass or are skipped, and one that fails.

    What reads the last line takes exactly "N passed, N failed, N skipped": no separators, nothing beside or after it.
    """
    text = (ROOT / ".ci" / "run").read_text()
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "summary.py", tmp_path / ".ci")
    for name, numbers in {"one": (7829, 65, 0), "two": (3, 2, 0), "red": (0, 0, 1, 1)}.items():
        (tmp_path / f"{name}.xml").write_text(junit(*numbers))
    reported = 'reported() { cp "$1.xml" "${PYTEST_ADDOPTS##*--junitxml=}"; [ "$1" != red ]; }\n'
    staged = text[text.index("reports=") : text.index("\n}\n", text.index("told() {")) + 3]

    def said(stages: str) -> tuple[int, list[str]]:
        run = ["bash", "-euo", "pipefail", "-c", staged + reported + stages]
        environment = {**os.environ, "PYTHON": sys.executable}
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.endswith("skipped\n")
        assert not done.stderr, "nothing stands after the last line"
        return done.returncode, done.stdout[done.stdout.index("== summary") :].splitlines()

    stages = "stage lint true\nstage tests reported one\nstage container reported two\n"
    status, lines = said(stages)
    assert (status, lines[-1]) == (0, "7832 passed, 0 failed, 67 skipped")
    assert [line.split()[0] for line in lines[2:5]] == ["lint", "tests", "container"]
    assert lines[5:7] == [
        "skipped in tests: 65 × no such machine here",
        "skipped in container: 2 × no such machine here",
    ]
    status, lines = said(f"{stages}stage more reported red\nstage docs true\nstage api false\n")
    assert (status, lines[-2:]) == (1, ["FAILED in more, api", "7832 passed, 3 failed, 67 skipped"])
    assert [line.split()[:2] for line in lines[5:8]] == [["more", "failed"], ["docs", "0"], ["api", "failed"]]
    status, lines = said(f"{stages}stage docs exit 3\nstage api true\n")
    assert (status, lines[-1]) == (1, "7832 passed, 1 failed, 67 skipped")
    assert lines[-2] == "CUT OFF in docs, and what comes after it was not run"
    assert said("stage lint false")[1][-1] == "0 passed, 1 failed, 0 skipped"
    assert said(f"beside engines reported two\n{stages}told\n")[1][-1] == "7835 passed, 0 failed, 69 skipped"
    assert said(f"beside engines reported red\n{stages}told\n")[1][-2:] == [
        "FAILED in engines",
        "7832 passed, 2 failed, 67 skipped",
    ]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_every_folder_of_tests_has_its_stage() -> None:
    """What the fast suite ignores is named by another target, which .ci/run runs; `slow` is the rest of the fast suite's own folders."""
    stages = dict(re.findall(r"^(?:stage|beside) (\w+) make (\w+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE))
    assert {"test", "slow", "services", "proofs", "docs", "examples", "engines", "publishers"} <= set(stages.values())
    done = subprocess.run(["make", "-n", *stages.values()], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines() if " -m pytest " in line]
    fast, slow = (
        next(line for line in lines if f'"{marks}"' in " ".join(line))
        for marks in ("not long and not slow", "slow and not long")
    )
    ignored = {word.removeprefix("--ignore=") for word in fast if word.startswith("--ignore=")}
    assert ignored == {word.removeprefix("--ignore=") for word in slow if word.startswith("--ignore=")} != set()
    assert ignored <= {word for line in lines for word in line}
    assert all((ROOT / folder).is_dir() for folder in ignored)


def test_the_list_of_slow_tests_names_tests() -> None:
    from tests import slow

    names = slow.LIST.read_text().split()
    assert [name for name in names if not slow.exists(name)] == [], "python -m tests.slow"
    assert names == sorted(set(names))


def test_slow_tests_are_read_from_a_report(tmp_path: Path) -> None:
    from tests import slow

    case = '<testcase file="tests/docs/test_releasing.py" name="{}"><properties><property name="processor seconds" value="{}"/></properties></testcase>'
    names = [
        "test_every_folder_of_tests_has_its_stage",
        "test_scripts_are_well_formed[run]",
        "test_scripts_are_well_formed[package]",
    ]
    report = tmp_path / "report.xml"
    report.write_text(
        "<s>"
        + "".join(
            case.format(name, value)
            for name, value in zip(names, (0.7 * slow.LEAST, 0.1, 1.1 * slow.MOST), strict=True)
        )
        + "</s>"
    )
    found, here = slow.measured([report]), "tests/docs/test_releasing.py::"
    before = [
        here + "test_every_folder_of_tests_has_its_stage",
        here + "test_long_gone",
        "tests/conftest.py::processor_seconds",
    ]
    assert slow.listed(found, before) == ["tests/conftest.py::processor_seconds", here + "test_scripts_are_well_formed"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("script", ["run", "package"])
def test_scripts_are_well_formed(script: str) -> None:
    path = ROOT / ".ci" / script
    assert path.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", path], check=False).returncode == 0
