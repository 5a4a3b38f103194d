"""The terminal session of the quick start: `python -m tests.docs.session` runs it and writes what it said into docs/quick-start.md.

A test compares what does not depend on a draw or on the day.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "quick-start.md"
BEGINS, ENDS = "<!-- session: python -m tests.docs.session -->\n", "<!-- end -->\n"
COMMAND = "quickstart examples/start/biopsies.csv --label diagnosis --id patient --delete patient-007 --yes"


def written_down() -> str:
    """What the page says was said."""
    return PAGE.read_text().split(BEGINS)[1].split(ENDS)[0]


def run() -> str:
    """The session in a folder of its own: the command after a dollar, and its answer."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / COMMAND.split()[1]
        file.parent.mkdir(parents=True)
        shutil.copy(ROOT / COMMAND.split()[1], file)
        done = subprocess.run(
            [sys.executable, "-m", "noisygd_delete", *COMMAND.split()],
            cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *(ROOT / "packages" / name for name in ("compliance", "server", "sources"))))), "COLUMNS": "120"}, capture_output=True, text=True, check=True,
        )  # fmt: skip
    return f"```text\n$ noisygd-delete {COMMAND}\n{done.stdout}```\n"


def without_chance(text: str) -> str:
    """The session but for what differs from run to run: the draws of the noise and of the rows kept apart, and the day."""
    text = re.sub(r"right on [\d.]+%; always saying '\w+': [\d.]+%; without noise: [\d.]+%", "right on …", text)
    text = re.sub(
        r"cost \d+ %|\d+ % for \d+|n=[\d,]+ records in place of [\d,]+|[\d.]+ for erased|leaves \d+ of", "…", text
    )
    return re.sub(r"\d+ (?=rows|slots|held-out)|on \d+ \w+ \d{4}|\d{4}-\d\d-\d\d|ε=[\d.]+", "…", text)


if __name__ == "__main__":
    before, after = PAGE.read_text().split(BEGINS)[0], PAGE.read_text().split(ENDS)[1]
    PAGE.write_text(before + BEGINS + run() + ENDS + after)
