"""The page of the examples and their pictures: `python -m tests.docs.gallery` runs each example and writes docs/examples.md.

The words of the page are those of examples/README.md, and what each example printed. An example draws into the file that $PICTURE names.
`--words` leaves the pictures and what was printed as they are, and writes the rest of the page.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE, PICTURES = ROOT / "docs" / "examples.md", ROOT / "docs" / "pictures"
# one look for all, and files that differ only where a picture does
STYLE = "svg.fonttype: none\nsvg.hashsalt: noisygd\naxes.spines.top: False\naxes.spines.right: False\nlegend.frameon: False\n"
HEAD = """# Examples

Each is a script of one screen or two: `python examples/start/first_deletion.py`. It ends in assertions, prints its lesson, and with
`PICTURE=first.svg` before the command it draws one picture. All of them are run by the tests.
"""


def listed() -> list[tuple[str, list[tuple[str, str]]]]:
    """The tables of examples/README.md: (heading, [(script, its line)])."""
    tables: list[tuple[str, list[tuple[str, str]]]] = []
    for line in (ROOT / "examples" / "README.md").read_text().splitlines():
        if row := re.match(r"\| `(\w+/\w+\.(?:py|ipynb))` \| (.+) \|$", line):
            tables[-1][1].append((row[1], row[2]))
        elif (head := re.match(r"\| (\w.*?) \|", line)) and not line.startswith("|---"):
            tables.append((head[1], []))
    return tables


def drawn(script: str, picture: Path) -> str:
    """Run an example with $PICTURE; what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "matplotlibrc").write_text(STYLE)
        environment = {
            **os.environ,
            "PICTURE": str(picture),
            "MATPLOTLIBRC": folder,
            "MPLBACKEND": "svg",
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run([sys.executable, ROOT / "examples" / script], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)  # fmt: skip
    text = picture.read_text()
    picture.write_text(re.sub(r"\s*<dc:date>.*?</dc:date>", "", text) if text.startswith("<?xml") else text)
    return done.stdout


def page(printed: dict[str, str]) -> str:
    """The page, given what each example printed (only its last lines are shown)."""
    out = [HEAD]
    for heading, rows in listed():
        out.append(f"## {heading[0].upper()}{heading[1:]}\n")
        for script, line in rows:
            out.append(f"**`examples/{script}`**: {line}.\n")
            if script in printed:
                out.append(f"![{line}](pictures/{Path(script).stem}.svg){{ .picture }}\n")
                out.append("```text\n" + "\n".join(printed[script].rstrip().splitlines()[-6:]) + "\n```\n")
    return "\n".join(out)


def already(text: str) -> dict[str, str]:
    """What the page at hand says each example printed."""
    return dict(re.findall(r"^\*\*`examples/([\w/.]+)`\*\*.*\n\n!.*\n\n```text\n((?:.*\n)*?)```$", text, re.MULTILINE))


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--words", action="store_true")
    reader.add_argument("only", nargs="*", help="draw these scripts alone")
    given = reader.parse_args()
    PICTURES.mkdir(exist_ok=True)
    printed = already(PAGE.read_text()) if PAGE.exists() else {}
    for script in (
        [] if given.words else [script for _, rows in listed() for script, _ in rows if script.endswith(".py")]
    ):
        if not given.only or script in given.only:
            printed[script] = drawn(script, PICTURES / f"{Path(script).stem}.svg")
    PAGE.write_text(page(printed))


if __name__ == "__main__":
    main()
