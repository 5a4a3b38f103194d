"""The one rule for every file that a user names to be written.

Never through a link, never inside a store, never over a key, a list or an input: an output takes a free name, or the place of
an earlier output of its own kind. Readable by its owner alone. It is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidParameter
from ..store.disk import Disk
from ..store.layout import Layout


@dataclass(frozen=True)
class Output:
    """A place to write to, looked at before any work is done.

    name     what the user called it, for messages: "--out report.html"
    path     resolved: no link on the way
    begins   how an earlier output of this kind begins, which alone is written over; None: only a free name will do
    """

    name: str
    path: Path
    begins: bytes | None = None

    def write(self, text: str | bytes) -> None:
        """Make the file, for its owner only. Another writer never sees half of it.

        Raises:
            InvalidParameter: it cannot be written; what was there before still is.
        """
        data = text.encode() if isinstance(text, str) else text
        try:
            Disk().place(self.path, data, over=self.begins is not None)
        except OSError as error:
            raise InvalidParameter(f"cannot write {self.name}: {error.strerror}; give another name") from error


def open_output(option: str, file: str, *, begins: bytes | None = None, inputs: Iterable[str | None] = ()) -> Output:
    """Where `option` of a command asks to write.

    Args:
        begins: the first bytes of every file of this kind. inputs: files that the same command reads, or writes besides.

    Raises:
        InvalidParameter: not a place to write to; nothing was changed.
    """
    name = f"{option} {file}"
    try:
        given = Path(file)
        if given.is_symlink():
            raise InvalidParameter(f"{name} is a link; give the name of the file itself")
        path = given.resolve()
        _outside_stores(name, path)
        for other in inputs:
            if other is not None and _is_same_file(path, Path(other)):
                raise InvalidParameter(f"{name} is also {other}, which this command uses; give another name")
        if path.exists():
            _check_replaceable(name, path, begins)
        if not path.parent.is_dir():
            raise InvalidParameter(f"cannot write {name}: there is no folder {path.parent}; make it first")
    except OSError as error:
        raise InvalidParameter(f"cannot write {name}: {error.strerror}; give another name") from error
    except (ValueError, RuntimeError) as error:  # a zero byte, letters that no name can hold, links in a circle
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(f"cannot write {name!r}: not the name of a file; give another name") from error
    return Output(name, path, begins)


def check_outside_store(option: str, file: str | None) -> None:
    """Refuse a key, a list or another file that must not lie in a store.

    Raises:
        InvalidParameter: it does.
    """
    if file is None:
        return
    try:
        path = Path(file).resolve()
    except (OSError, ValueError, RuntimeError):  # whoever opens the file says what is wrong with it
        return
    _outside_stores(f"{option} {file}", path)


def _outside_stores(name: str, path: Path) -> None:
    store = next((folder for folder in path.parents if _holds_a_store(folder)), None)
    if store is not None:
        raise InvalidParameter(
            f"{name} lies inside the store {store}; only the store writes there: choose another place"
        )


def _holds_a_store(folder: Path) -> bool:
    layout = Layout(folder)
    try:
        return any(path.exists() for path in (layout.ledger, layout.ids, layout.features))
    except OSError:  # nobody reads or writes there
        return False


def _is_same_file(path: Path, other: Path) -> bool:
    return path == other.resolve() or (path.exists() and other.exists() and path.samefile(other))


def _check_replaceable(name: str, path: Path, begins: bytes | None) -> None:
    if begins is None:
        raise InvalidParameter(f"{name} exists and is never overwritten; give the name of a new file")
    start = None
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(begins))
    if start not in (b"", begins):
        raise InvalidParameter(f"{name} exists and is not an earlier output of this kind; give another name")
