"""The tree of exceptions, as the docstring of `errors.py` draws it: `python -m tests.docs.error_tree` writes it there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from noisygd_delete import errors

_TREE = re.compile(r"(?<=```text\n).*?(?=```)", re.DOTALL)


def branches(base: type[BaseException], depth: int = 0) -> Iterator[str]:
    """A class and those below it, each with the exception of Python's that it is besides."""
    own = [known for known in base.__subclasses__() if known.__module__ == errors.__name__]
    besides = [parent.__name__ for parent in base.__bases__ if parent.__module__ == "builtins"]
    also = f" ({', '.join(besides)})" if besides not in ([], ["Exception"]) else ""
    yield "    " * depth + base.__name__ + also
    for known in sorted(own, key=lambda known: known.__name__):
        yield from branches(known, depth + 1)


def drawn() -> str:
    """Errors, then warnings."""
    warned = sorted(known.__name__ for known in UserWarning.__subclasses__() if known.__module__ == errors.__name__)
    return "\n".join([*branches(errors.NoisyGDDeleteError), *(f"{name} (UserWarning)" for name in warned)]) + "\n"


if __name__ == "__main__":
    place = Path(errors.__file__)
    place.write_text(_TREE.sub(drawn(), place.read_text(), count=1))
