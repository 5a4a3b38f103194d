"""What a release is made of: metadata without inventions, a lock with hashes, a container that writes nowhere, a bill of materials."""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import tomllib
import zipfile
from importlib.metadata import distribution, distributions
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import noisygd_delete
from noisygd_delete.extensions import PACKAGES

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SERVER = tomllib.loads((ROOT / "packages" / "server" / "pyproject.toml").read_text())["project"]
SOURCES = tomllib.loads((ROOT / "packages" / "sources" / "pyproject.toml").read_text())["project"]
COMPLIANCE = tomllib.loads((ROOT / "packages" / "compliance" / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements" / "release.lock").read_text()
LOCKED_EXTRAS = ("sklearn", "files", "fast")
LOCKED_SOURCES = ("files", "postgres", "mysql")


def extras_named(text: str) -> set[str]:
    """Every extra that a text asks somebody to install."""
    listed = re.findall(r"""noisygd-delete\\?\[([a-z,]+)\\?\]|["']\.\[([a-z,]+)\]["']|extra `([a-z]+)`""", text)
    return {name for groups in listed for group in groups for name in group.split(",") if name}


def test_every_extra_that_is_named_is_there() -> None:
    there = set(PROJECT["optional-dependencies"])
    pages = [
        ROOT / name for name in ("README.md", "docs/releasing.md", "docs/CONTRIBUTING.md", "Makefile", "pyproject.toml")
    ]
    for folder in ("noisygd_delete", "packages", "docs", "examples", "tests", ".ci"):
        pages += [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".ipynb", ".toml", "")]
    named = {page.name: extras_named(page.read_text()) for page in pages if page.is_file()}
    assert sum(map(len, named.values())) > 20
    assert {page: names - there for page, names in named.items() if names - there} == {}
    planted = f"pip install 'noisygd-delete{'[parquet]'}', or the extra {'`text`'}"
    assert extras_named(planted) == {"parquet", "text"}


@pytest.fixture(scope="module")
def materials() -> ModuleType:
    found = importlib.util.spec_from_file_location("materials", ROOT / ".ci" / "materials.py")
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def lock_faults(lock: str, constraints: str) -> list[str]:
    """Entries without a hash, at another version than the tests ran with, or that a local build would change."""
    pinned = {
        line.partition("==")[0].lower().replace("_", "-"): line.partition("==")[2] for line in constraints.splitlines()
    }
    entries = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", lock, flags=re.MULTILINE).strip())
    found = []
    for entry in entries:
        name, version = re.match(r"([\w.-]+)==([\w.+]+)", entry).groups()  # type: ignore[union-attr]
        if not re.search(r"--hash=sha256:[0-9a-f]{64}", entry):
            found.append(f"{name}: no hash")
        if name.lower().replace("_", "-") != "setuptools" and pinned.get(name.lower().replace("_", "-")) != version:
            found.append(f"{name}: not the version of constraints.txt")
        if name in ("torch", "triton"):
            found.append(f"{name}: a local build has another hash")
    return found


def test_the_lock_has_every_dependency_with_hashes_at_the_versions_tested() -> None:
    constraints = (ROOT / "requirements" / "constraints.txt").read_text()
    assert lock_faults(LOCK, constraints) == []
    locked = {name.lower() for name in re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE)}
    asked = [
        *PROJECT["dependencies"],
        *SERVER["dependencies"][2:],
        *(line for extra in LOCKED_EXTRAS for line in PROJECT["optional-dependencies"][extra]),
        *(line for extra in LOCKED_SOURCES for line in SOURCES["optional-dependencies"][extra]),
        *COMPLIANCE["optional-dependencies"]["stamp"],
    ]
    for line in asked:
        assert re.match(r"[\w-]+", line)[0].lower() in locked, line  # type: ignore[index]


def test_a_lock_with_a_fault_is_seen() -> None:
    planted = LOCK + "torch==2.13.0 \\\n    --hash=sha256:" + "0" * 64 + "\nnumpy==1.0\n"
    found = lock_faults(planted, (ROOT / "requirements" / "constraints.txt").read_text())
    assert found == [
        "torch: a local build has another hash",
        "numpy: no hash",
        "numpy: not the version of constraints.txt",
    ]


def test_each_kind_of_source_has_an_entry_point_of_its_name() -> None:
    for kind, place in SOURCES["entry-points"]["noisygd_delete.sources"].items():
        module, _, name = place.partition(":")
        assert getattr(importlib.import_module(module), name).kind == kind


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_the_version_of_the_engine_and_brings_its_commands(package: str) -> None:
    project = tomllib.loads((ROOT / "packages" / package / "pyproject.toml").read_text())["project"]
    assert project["version"] == noisygd_delete.__version__
    assert project["dependencies"][0] == f"noisygd-delete=={noisygd_delete.__version__}"
    assert project["entry-points"]["noisygd_delete.commands"].keys() == set(PACKAGES[package])


def test_the_extras_install_distributions_and_their_extras_of_the_same_name() -> None:
    projects = {
        f"noisygd-delete-{name}": tomllib.loads((ROOT / "packages" / name / "pyproject.toml").read_text())["project"]
        for name in PACKAGES
    }
    ours = [
        (extra, Requirement(line))
        for extra, lines in PROJECT["optional-dependencies"].items()
        for line in lines
        if line.startswith("noisygd-delete-")
    ]
    assert {each.name for _, each in ours} == projects.keys()
    for extra, each in ours:
        there = projects[each.name].get("optional-dependencies", {}).keys()
        assert {extra} & there <= each.extras <= there


def test_the_citation_is_one() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with mkdocs")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(citation), "what the format demands"
    assert citation["license"] == PROJECT["license"]
    assert [author["family-names"] for author in citation["references"][0]["authors"]] == ["Chourasia", "Shah"]


def container_faults(dockerfile: str) -> list[str]:
    """Rules for an image that holds nobody's data and runs as nobody."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", dockerfile, flags=re.MULTILINE))
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    last = [step for number, step in enumerate(steps) if number > max(k for k, s in enumerate(steps) if s[0] == "FROM")]
    users = [words for name, words in last if name == "USER"]
    rules = {
        "a base image without a version": all(
            re.search(r":\d", words)
            for name, words in steps
            if words.startswith("BASE=") or (name == "FROM" and "${BASE}" not in words)
        ),
        "runs as root": bool(users) and not re.match(r"(root|0)\b", users[-1]),
        "no volume for stores": ["VOLUME", '["/stores", "/var/tmp"]'] in last,
        "packages without hashes": all(
            "--require-hashes" in words or "--no-deps" in words
            for name, words in steps
            if name == "RUN" and "pip install" in words
        ),
        "fetches what has no digest": not any(
            name == "ADD" or re.search(r"\b(curl|wget)\b", words) for name, words in steps
        ),
        "takes more than the package": {words for name, words in steps if name == "COPY" and "--from" not in words}
        <= {
            "requirements/release.lock .",
            "pyproject.toml README.md LICENSE ./",
            "noisygd_delete noisygd_delete",
            "packages/compliance packages/compliance",
            "packages/server packages/server",
            "packages/sources packages/sources",
        },
    }
    return [rule for rule, holds in rules.items() if not holds]


def test_the_container_keeps_its_rules() -> None:
    written = (ROOT / "packages" / "server" / "Dockerfile").read_text()
    assert container_faults(written) == []
    assert container_faults(written.replace("BASE=python:3.11-slim", "BASE=python")) == [
        "a base image without a version"
    ]
    assert container_faults(written.replace("USER 10001:10001\n", "")) == ["runs as root"]
    assert container_faults(written.replace("--require-hashes ", "")) == ["packages without hashes"]
    assert container_faults(written.replace("COPY requirements/release.lock .", "COPY . .")) == [
        "takes more than the package"
    ]
    kept = (ROOT / "packages" / "server" / "Dockerfile.dockerignore").read_text().split()
    assert kept[0] == "*", "nothing goes to the builder but what is named"
    for name in re.findall(r"^COPY (?!--)(.*) \S+$", written, re.MULTILINE):
        assert all(f"!{word}" in kept and (ROOT / word).exists() for word in name.split())


def test_the_composition_gives_the_engine_nothing_but_its_volume() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with mkdocs")
    services = yaml.safe_load((ROOT / "packages" / "server" / "compose.yaml").read_text())["services"]
    for engine in (services["engine"], services["service"]):
        assert engine["read_only"] is True
        assert engine["cap_drop"] == ["ALL"]
        assert engine["volumes"] == ["stores:/stores", "scratch:/var/tmp"]
        assert "$" not in engine["environment"]["PGPASSWORD"].replace("${ENGINE_PASSWORD", ""), "the engine's own role"
    assert not {"ports", "privileged", "network_mode"} & {key for service in services.values() for key in service}
    assert all(
        ":?" in str(value)
        for service in services.values()
        for key, value in service["environment"].items()
        if "PASSWORD" in key
    )
    from noisygd_delete.cli import parser

    told = parser().parse_args(services["service"]["command"])
    assert (told.stores, told.behind_proxy, told.port) == (["people"], True, 8080)


@pytest.mark.long
def test_the_image_runs_as_nobody_under_a_read_only_root_without_a_network() -> None:
    docker = shutil.which("docker")

    def answer(*words: str) -> str | None:
        done = subprocess.run([str(docker), *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return None if done.returncode else done.stdout

    if docker is None or answer("info") is None:
        pytest.skip("no docker daemon answers")
    base = re.findall(r"^ARG BASE=(\S+)", (ROOT / "packages" / "server" / "Dockerfile").read_text(), re.MULTILINE)[-1]
    if answer("image", "inspect", base) is None and answer("pull", "--quiet", base) is None:
        pytest.skip(f"{base} is not here and cannot be fetched")
    assert answer("build", "--quiet", "--network", "host", "--tag", "noisygd-delete-test", ".") is not None
    volume = (answer("volume", "create") or "").strip()
    careful = "--network=none --read-only --tmpfs=/tmp --cap-drop=ALL --security-opt=no-new-privileges"
    run = ("run", "--rm", *shlex.split(careful), "--volume", f"{volume}:/stores", "--entrypoint")
    try:
        assert answer(*run, "id", "noisygd-delete-test", "-u") == "10001\n"
        digits = (ROOT / "examples/start/digits.py").read_text()
        assert "Signed and verified" in (answer(*run, "python", "noisygd-delete-test", "-c", digits) or "")
        assert answer(*run, "touch", "noisygd-delete-test", "/stores/written") == ""
        assert answer(*run, "touch", "noisygd-delete-test", "/opt/engine/written") is None
    finally:
        answer("volume", "rm", volume)


def test_the_bill_of_materials_lists_what_is_installed(materials: ModuleType) -> None:
    packages = materials.installed(frozenset({"sklearn"}))
    bill = json.loads(json.dumps(materials.bill(packages)))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    listed = {part["name"]: part for part in bill["components"]}
    assert {"numpy", "scipy", "cryptography", "cffi", "scikit-learn", "joblib"} <= set(listed), (
        "what is needed, and what that needs"
    )
    assert not {"pytest", "mypy", "torch"} & set(listed), "the tools of development are no part of it"
    assert listed["numpy"]["purl"] == f"pkg:pypi/numpy@{distribution('numpy').version}"
    references = {part["bom-ref"] for part in [*bill["components"], bill["metadata"]["component"]]}
    assert len(references) == len(packages)
    assert all({link["ref"], *link["dependsOn"]} <= references for link in bill["dependencies"])
    assert all(len(part["licenses"]) == 1 for part in listed.values())
    assert materials.installed().keys() < packages.keys()


def test_licences_are_listed_for_all_that_the_lock_installs(materials: ModuleType) -> None:
    page = (ROOT / "docs" / "licences.md").read_text()
    rows = re.findall(r"^\* (.+): (.+)$", page, re.MULTILINE)
    listed = {name: licence for licence, names in rows for name in names.split(", ")}
    locked = {materials.canonical(name) for name in re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE)} - {"setuptools"}
    assert set(listed) == locked
    assert sum(len(names.split(", ")) for _, names in rows) == len(listed)
    needed = materials.installed(frozenset(LOCKED_EXTRAS)) | materials.installed(of=materials.SERVER)
    needed |= materials.installed(frozenset(LOCKED_SOURCES), of=materials.SOURCES)
    for name, package in needed.items():
        if name in locked:
            assert listed[name] == materials.licence(package), "python .ci/materials.py licences writes the list anew"
    assert "not stated" not in listed.values()


def test_what_is_released_has_the_scripts_that_readers_compare_with(materials: ModuleType, tmp_path: Path) -> None:
    """A wheel with listed scripts, one with altered scripts, and one between releases."""
    made = {"checker.js": b"checker", "loader.js": b"loader"}
    digest = {name: base64.b64encode(hashlib.sha256(text).digest()).decode() for name, text in made.items()}
    page = f"| 1.2.3 | `sha256-{digest['checker.js']}` | `sha256-{digest['loader.js']}` |\n"
    for version, more, listed in (("1.2.3", b"", True), ("1.2.3", b" ", False), ("1.2.4.dev0", b" ", True)):
        wheel = tmp_path / f"noisygd_delete_compliance-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as packed:
            for name, text in made.items():
                packed.writestr(f"noisygd_delete_compliance/templates/{name}", text + more)
        if listed:
            assert materials.digests([wheel], page).split() == [
                hashlib.sha256(wheel.read_bytes()).hexdigest(),
                wheel.name,
            ]
        else:
            with pytest.raises(SystemExit):
                materials.digests([wheel], page)


def test_the_recipe_asks_for_what_the_package_does(materials: ModuleType, tmp_path: Path) -> None:
    sdist = tmp_path / "noisygd_delete-1.2.3.tar.gz"
    sdist.write_bytes(b"x")
    made = json.loads(materials.recipe(sdist))
    assert made["package"] == {"name": "noisygd-delete", "version": "1.2.3"}
    assert made["requirements"]["run"][1:] == PROJECT["dependencies"]
    assert made["source"]["sha256"] == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert made["build"]["entry_points"] == ["noisygd-delete = noisygd_delete.cli:run"]


def too_new(needs: dict[str, str], python: str) -> list[str]:
    """The pins of constraints.txt that cannot be installed there, from what the installed ones ask for."""
    pins = [
        line.partition("==")[0]
        for line in (ROOT / "requirements" / "constraints.txt").read_text().splitlines()
        if "==" in line
    ]
    return [name for name in pins if not SpecifierSet(needs.get(canonicalize_name(name), "")).contains(python)]


def test_what_is_pinned_can_be_installed_on_the_oldest_python_that_is_promised() -> None:
    """Some releases ask for a later patch of Python 3.11 than distributions ship."""
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    needs = {canonicalize_name(each.name): each.metadata["Requires-Python"] or "" for each in distributions()}
    assert len(set(needs) & {"numpy", "torch", "mkdocs"}) == 3
    assert too_new(needs, oldest) == []
    assert too_new(needs | {"numpy": ">=3.11.5"}, oldest) == ["numpy"]
