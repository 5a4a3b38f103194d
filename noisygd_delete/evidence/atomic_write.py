"""Atomic writes of every file that a user names.

A file is never written through a link, inside a store, or over a key, a list or an input. An output takes an unused
name, or replaces an earlier output of its own kind. Only its owner can read it. A write is complete or has no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidParameter
from ..store.disk import Disk
from ..store.layout import Layout


@dataclass(frozen=True)
class Output:
    """A path to write to, checked before any work is done.

    Attributes:
        name: What the user typed, for messages: "--out report.html".
        path: The resolved path, without links.
        begins: First bytes of an earlier output of this kind, which may be overwritten; None allows only a new file.
    """

    name: str
    path: Path
    begins: bytes | None = None

    def write(self, text: str | bytes) -> None:
        """Write the file atomically, readable by its owner only.

        Raises:
            InvalidParameter: If it cannot be written; an existing file is unchanged.
        """
        data = text.encode() if isinstance(text, str) else text
        try:
            Disk().place(self.path, data, over=self.begins is not None)
        except OSError as error:
            raise InvalidParameter(f"cannot write {self.name}: {error.strerror}; give another name") from error


def check_output(option: str, file: str, *, begins: bytes | None = None, inputs: Iterable[str | None] = ()) -> Output:
    """Check the path that an option asks to write to.

    Args:
        option: Name of the option, for messages.
        file: The path as typed.
        begins: First bytes of every file of this kind; None allows only a new file.
        inputs: Files that the same command reads, or also writes.

    Returns:
        The checked path; nothing was written.

    Raises:
        InvalidParameter: If the path is a link, is inside a store, is one of `inputs`, has no folder, or exists and is
            neither empty nor of this kind.
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
    except (ValueError, RuntimeError) as error:  # a zero byte, characters not allowed in a name, a cycle of links
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(f"cannot write {name!r}: not the name of a file; give another name") from error
    return Output(name, path, begins)


def check_outputs(
    files: Mapping[str, tuple[str | None, bytes | None]], *, inputs: Iterable[str | None] = ()
) -> dict[str, Output]:
    """Check the paths that the options of one command ask to write to, as `check_output` does each; no two may be the same.

    Args:
        files: For each option, the path as typed, or None, and the first bytes of every file of this kind.
        inputs: Files that the command reads, or also writes.

    Returns:
        The checked path of each option that has one.
    """
    given = {option: file for option, (file, _) in files.items() if file is not None}
    read = tuple(inputs)
    return {
        option: check_output(
            option,
            file,
            begins=files[option][1],
            inputs=(*read, *(other for name, other in given.items() if name != option)),
        )
        for option, file in given.items()
    }


def check_outside_store(option: str, file: str | None) -> None:
    """Check that a key, a list or another file is not inside a store.

    Raises:
        InvalidParameter: If it is inside a store.
    """
    if file is None:
        return
    try:
        path = Path(file).resolve()
    except (OSError, ValueError, RuntimeError):  # opening the file will report the error
        return
    _outside_stores(f"{option} {file}", path)


def _outside_stores(name: str, path: Path) -> None:
    store = next((folder for folder in path.parents if _holds_a_store(folder)), None)
    if store is not None:
        raise InvalidParameter(f"{name} is inside the store {store}, where only the store writes: choose another path")


def _holds_a_store(folder: Path) -> bool:
    layout = Layout(folder)
    try:
        return any(path.exists() for path in (layout.ledger, layout.ids, layout.features, layout.codes))
    except OSError:  # the folder is not accessible
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
