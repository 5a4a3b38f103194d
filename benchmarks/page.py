"""What the page that checks itself costs: `certificate --html` over `certificate` alone, and their processor time."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from .ledger import begun, run
from .timing import processor_of_children, ratio, rounds


def main(arguments: list[str] | None = None) -> int:
    """Prints the ratio of processor times, and the page's size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parsed = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        store, page = begun(Path(folder)), Path(folder) / "page.html"
        alone = ["certificate", str(store), "--request-id", "request-2", "--out", str(Path(folder) / "paper.json")]
        times = rounds(
            {"alone": (lambda: run(*alone), 1), "page": (lambda: run(*alone, "--html", str(page)), 1)},
            parsed.repeats,
            processor_of_children,
        )
        print(
            f"certificate --html: {ratio(times, 'page', 'alone'):.2f} of the paper alone; {page.stat().st_size} bytes"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
