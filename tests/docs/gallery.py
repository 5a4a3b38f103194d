"""The page of the examples and their pictures: `python -m tests.docs.gallery` writes docs/examples.md and draws what has no picture yet.

The words of the page are those of examples/README.md. An example draws into the file that $PICTURE names.
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

Run an example with `python examples/start/first_deletion.py`; with `PICTURE=first.svg` before the command it draws one picture. Each ends in
assertions, and the tests run all of them.
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


def draw(script: str, picture: Path) -> None:
    """Run an example with $PICTURE."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "matplotlibrc").write_text(STYLE)
        environment = {
            **os.environ,
            "PICTURE": str(picture),
            "MATPLOTLIBRC": folder,
            "MPLBACKEND": "svg",
            "PYTHONPATH": str(ROOT),
        }
        subprocess.run([sys.executable, ROOT / "examples" / script], cwd=folder, env=environment, check=True)
    text = picture.read_text()
    picture.write_text(re.sub(r"\s*<dc:date>.*?</dc:date>", "", text) if text.startswith("<?xml") else text)


def page() -> str:
    """Every example with its line and, of a script, its picture; the line describes the picture, so it has no alternative text."""
    out = [HEAD]
    for heading, rows in listed():
        out.append(f"## {heading[0].upper()}{heading[1:]}\n")
        for script, line in rows:
            out.append(f"**`examples/{script}`**: {line}.\n")
            if script.endswith(".py"):
                out.append(f"![](pictures/{Path(script).stem}.svg){{ .picture }}\n")
    return "\n".join(out)


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("again", nargs="*", help="draw these scripts anew")
    again = reader.parse_args().again
    PICTURES.mkdir(exist_ok=True)
    for script in (script for _, rows in listed() for script, _ in rows if script.endswith(".py")):
        picture = PICTURES / f"{Path(script).stem}.svg"
        if script in again or not picture.exists():
            draw(script, picture)
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
