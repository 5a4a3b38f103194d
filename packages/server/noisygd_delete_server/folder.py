"""Requests as files: a desk without HTTP writes `NAME.jsonl` to a folder and gets `NAME.jsonl.answers`.

Each line is a body of `POST /requests` with a request id, so that reading a file twice is idempotent. A file is read
only under its final name: write it under another name, then rename it. Once every line is accepted or refused, the
answers are written; then the file is renamed `NAME.jsonl.taken`, overwritten and removed.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from noisygd_delete.errors import InvalidParameter, InvalidRequest, NoisyGDDeleteError, StoreError
from noisygd_delete.evidence.atomic_write import check_outside_store
from noisygd_delete.records import limited_io
from noisygd_delete.store.disk import Disk

from .request_body import RequestBody, Unfit, parse_as
from .service import Conflict, Service
from .writer import describe_failure

_LOOKS = 2.0  # seconds between scans of the folder
ENDING, ANSWERS, TAKEN = ".jsonl", ".answers", ".taken"

log = logging.getLogger("noisygd_delete_server")


class Watching:
    """A thread that scans a folder repeatedly; `turn` is one scan."""

    def __init__(self, option: str, folder: str | Path, disk: Disk | None = None) -> None:
        """Check the folder.

        Args:
            option: The option that names the folder, for messages.
            folder: The folder.
            disk: File operations; None means the default.

        Raises:
            InvalidParameter: If the folder does not exist, is not writable, or is inside a store.
        """
        self._folder, self._disk = Path(folder), disk or Disk()
        check_outside_store(option, str(self._folder / "any"))
        if not self._folder.is_dir() or not os.access(self._folder, os.W_OK | os.X_OK):
            raise InvalidParameter(
                f"{option} {folder}: not a folder that may be written to; make it, or fix its permissions"
            )
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="folder", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """Stop after the current file."""
        self._stopping.set()

    def join(self, until: float) -> None:
        """Wait for the thread to stop, until this time of the monotonic clock."""
        if self._thread.is_alive():
            self._thread.join(max(0.0, until - time.monotonic()))

    def process_files(self) -> None:
        """Process the files that are in the folder now."""
        raise NotImplementedError

    def _work(self) -> None:
        before = ""
        while not self._stopping.wait(_LOOKS):
            try:
                self.process_files()
                before = ""
            except Exception as error:  # for example a full inbox or disk: the files remain and are retried
                if describe_failure(error) != before:
                    before = describe_failure(error)
                    log.error("a folder of requests could not be taken, and is tried again: %s", before)


class FolderIntake(Watching):
    """Reads request files from a folder.

    Raises:
        InvalidParameter: If the folder does not exist, or is inside a store.
    """

    def __init__(self, service: Service, folder: str | Path, disk: Disk | None = None) -> None:
        super().__init__("--folder", folder, disk)
        self._service = service

    def process_files(self) -> None:
        """Process every request file in the folder."""
        for taken in self._folder.glob(f"*{ENDING}{TAKEN}"):  # answered; erasing it was interrupted
            self._disk.erase(taken)
        for path in sorted(self._folder.glob(f"*{ENDING}")):
            if self._stopping.is_set():
                return
            if path.is_symlink() or not path.is_file():
                continue
            try:
                answers = "".join(json.dumps(answer) + "\n" for answer in self._taken(path))
            except InvalidRequest as error:  # not readable, or without lines
                log.error("a file of requests was left where it is: %s", describe_failure(error))
                continue
            self._disk.replace(path.with_name(path.name + ANSWERS), answers.encode())
            taken = path.with_name(path.name + TAKEN)
            self._disk.reached("rename", path)
            self._disk.rename(path, taken)
            self._disk.sync_folder(self._folder)
            self._disk.erase(taken)

    def _taken(self, path: Path) -> Iterator[dict[str, Any]]:
        with limited_io.open_plain(path, error=InvalidRequest) as file:
            for number, line in enumerate(limited_io.iterate_lines(file, error=InvalidRequest), start=1):
                if line is None or line.strip():
                    yield {"line": number, **self._answer(line)}

    def _answer(self, line: str | None) -> dict[str, Any]:
        try:
            if line is None:
                raise Unfit(f"longer than {limited_io.LINE} bytes; split the request")
            body: RequestBody = parse_as(RequestBody, line.encode("utf-8", "surrogateescape"))
            if body.request_id is msgspec.UNSET:
                raise Unfit("request_id is missing; give every request a random one of its own")
            course = self._service.take(body.request_id, body)
            return {"request_id": course.request_id, "state": course.state}
        except StoreError:  # not now
            raise
        except (InvalidRequest, Conflict) as error:
            return {"error": str(error)}
        except NoisyGDDeleteError:
            return {"error": "not a request that the register could note"}
