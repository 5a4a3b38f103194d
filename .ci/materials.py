"""What an installation is made of, read from the metadata of the environment that runs this file.

    python .ci/materials.py bill       a CycloneDX 1.6 bill of materials as JSON, for a release
    python .ci/materials.py licences   a list of the licences of the installed packages that noisygd-delete and its server need
    python .ci/materials.py conda SDIST    a recipe for conda-forge, of the sdist that was published
    python .ci/materials.py digests FILE...    SHA-256 of wheels and sdists; the scripts of a released page must be those of docs/page-digests.md

Only packages that noisygd-delete needs, directly or not, are listed; with `licences EXTRA...`, those of the extras too.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import tomllib
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

PACKAGE, SERVER, SOURCES = "noisygd-delete", "noisygd-delete-server", "noisygd-delete-sources"


def canonical(name: str) -> str:
    """A name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needs(package: Distribution, extras: frozenset[str] = frozenset()) -> dict[str, frozenset[str]]:
    """Name -> its extras, for what a package asks for in this environment; what belongs to an extra only where it is among `extras`."""
    try:
        from packaging.requirements import Requirement
    except ImportError:  # an environment without extras has none but pip's own
        from pip._vendor.packaging.requirements import Requirement

    found: dict[str, frozenset[str]] = {}
    for line in package.requires or []:
        wanted = Requirement(line)
        if any(wanted.marker is None or wanted.marker.evaluate({"extra": extra}) for extra in extras | {""}):
            name = canonical(wanted.name)
            found[name] = found.get(name, frozenset()) | frozenset(wanted.extras)
    return found


def installed(extras: frozenset[str] = frozenset(), of: str = PACKAGE) -> dict[str, Distribution]:
    """Name -> package, for one of ours and all that it rests on, as far as it is installed here."""
    found: dict[str, Distribution] = {}
    waiting = [(of, extras)]
    while waiting:
        name, wanted = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        waiting += [(needed, asked) for needed, asked in needs(found[name], wanted).items() if needed != PACKAGE]
    return found


SPDX = {"Apache Software License": "Apache-2.0", "MIT License": "MIT", "Python Software Foundation License": "PSF-2.0"}


def licence(package: Distribution) -> str:
    """As the package states it: its SPDX expression, else its classifiers, else the first line of its licence field.

    A classifier that stands for one expression is written as that: from one release to the next packages change from one to the other.
    """
    metadata: Any = package.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    kinds = [line.split(" :: ")[-1] for line in metadata.get_all("Classifier") or [] if line.startswith("License :: ")]
    named = [kind for kind in kinds if kind != "OSI Approved"]
    stated = str(metadata.get("License") or "").strip().splitlines()
    return ", ".join(SPDX.get(kind, kind) for kind in named) or (stated[0] if stated else "not stated")


def bill(packages: dict[str, Distribution]) -> dict[str, Any]:
    """CycloneDX 1.6: the package as subject, every other one as a component, and who needs whom."""

    def component(name: str, kind: str) -> dict[str, Any]:
        reference = f"pkg:pypi/{name}@{packages[name].version}"
        stated = licence(packages[name])
        form = "expression" if packages[name].metadata.get("License-Expression") else "license"
        licences = [{form: stated if form == "expression" else {"name": stated}}]
        return {
            "type": kind, "bom-ref": reference, "name": name, "version": packages[name].version,
            "purl": reference, "licenses": licences,
        }  # fmt: skip

    references = {name: f"pkg:pypi/{name}@{package.version}" for name, package in packages.items()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component(PACKAGE, "library")},
        "components": [component(name, "library") for name in sorted(packages) if name != PACKAGE],
        "dependencies": [
            {
                "ref": references[name],
                "dependsOn": sorted(references[other] for other in needs(package) if other in references),
            }
            for name, package in sorted(packages.items())
        ],
    }


def table(packages: dict[str, Distribution]) -> str:
    """Markdown: a licence as stated, and the packages that state it."""
    stated: dict[str, list[str]] = {}
    for name, package in sorted(packages.items()):
        if not name.startswith(PACKAGE):
            stated.setdefault(licence(package), []).append(name)
    return "".join(f"* {licence}: {', '.join(names)}\n" for licence, names in sorted(stated.items()))


def recipe(sdist: Path) -> str:
    """meta.yaml of the package without extras, from pyproject.toml: names on conda-forge are those of PyPI. JSON is YAML."""
    root = Path(__file__).parents[1]
    stated = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    project, version = stated["project"], sdist.name.removesuffix(".tar.gz").rpartition("-")[2]
    python = f"python {project['requires-python']}"
    (command, entry), *_ = project["scripts"].items()
    address = f"https://pypi.org/packages/source/n/{PACKAGE}/{sdist.name}"
    return json.dumps(
        {
            "package": {"name": PACKAGE, "version": version},
            "source": {"url": address, "sha256": hashlib.sha256(sdist.read_bytes()).hexdigest()},
            "build": {
                "number": 0,
                "noarch": "python",
                "entry_points": [f"{command} = {entry}"],
                "script": "{{ PYTHON }} -m pip install . -vv --no-deps --no-build-isolation",
            },
            "requirements": {
                "host": [python, "pip", *stated["build-system"]["requires"]],
                "run": [python, *project["dependencies"]],
            },
            "test": {
                "imports": ["noisygd_delete"],
                "commands": [f"{command} --version", "pip check"],
                "requires": ["pip"],
            },
            "about": {
                "summary": project["description"],
                "license": project["license"],
                "license_file": project["license-files"],
            },
        },
        indent=2,
    )


def scripts(wheel: Path) -> list[str]:
    """Return the digests of the checker and the loader inside a wheel, as a page's policy names them."""
    with zipfile.ZipFile(wheel) as opened:
        found = [opened.read(f"noisygd_delete_compliance/templates/{name}") for name in ("checker.js", "loader.js")]
    return [f"sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}" for text in found]


def digests(artefacts: list[Path], page: str) -> str:
    """Return lines as sha256sum writes them.

    Raises:
        SystemExit: If a released wheel has scripts of pages that the page of digests does not list for its version.
    """
    lines = []
    for artefact in artefacts:
        version = artefact.name.removesuffix(".tar.gz").split("-")[1]
        released = artefact.name.startswith("noisygd_delete_compliance-") and ".dev" not in version
        if released and f"| {version} | {' | '.join(f'`{digest}`' for digest in scripts(artefact))} |" not in page:
            raise SystemExit(
                f"docs/page-digests.md does not list the scripts of {artefact.name}: "
                "python -m noisygd_delete_compliance.translator docs/page-digests.md"
            )
        lines.append(f"{hashlib.sha256(artefact.read_bytes()).hexdigest()}  {artefact.name}\n")
    return "".join(lines)


if __name__ == "__main__":
    what, named = sys.argv[1], sys.argv[2:]
    if what == "bill":
        print(json.dumps(bill(installed(frozenset(named))), indent=1))
    elif what == "licences":
        print(table(installed(frozenset(named)) | installed(of=SERVER)), end="")
    elif what == "conda":
        print(recipe(Path(named[0])))
    elif what == "digests":
        page = Path(__file__).parents[1] / "docs" / "page-digests.md"
        print(digests([Path(name) for name in named], page.read_text(encoding="utf-8")), end="")
    else:
        sys.exit(f"bill, licences, conda or digests, not {what!r}")
