"""A publisher for an object store or file system supported by fsspec: s3://, gs://, abfs://, memory:// and others.

    PREFIX/noisygd-delete.json       the store that publishes here
    PREFIX/release-3-1f0c…/          the files of the release, facts.json last
    PREFIX/current.json              {"release": …, "folder": …}: one object, written at once

An object store erases removed objects at its own time, and overwrites nothing. If a bucket keeps earlier versions of
removed objects, this is reported as left; copies elsewhere (replication, backups, caches) cannot be detected from here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from noisygd_delete.errors import InvalidParameter, MissingDependency, PublisherError
from noisygd_delete.store.artifact import FACTS, Artifact

from .address import RELEASE
from .folder import require_own
from .publisher import Ground

MARK, CURRENT = "noisygd-delete.json", "current.json"
_LONGEST = 1 << 16  # bytes; maximum size of an object to read
_VERSIONS = "the bucket keeps earlier versions of objects, so what was removed can still be read; switch versioning off for it, and remove the versions"


class Objects:
    """The objects below the address, used by the store with this id only."""

    def __init__(self, address: str, store: str, ground: Ground) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingDependency(
                f"{address}: reached by the library fsspec: pip install 'fsspec>=2024.2', and what it needs for this kind of "
                "address (s3fs for s3://)"
            ) from error
        try:
            self._files, prefix = url_to_fs(address, use_listings_cache=False, skip_instance_cache=True)
        except (ImportError, ValueError) as error:
            raise InvalidParameter(f"{address}: fsspec cannot reach it ({str(error)[:200]})") from error
        self._prefix, self._address, self._store, self._ground = prefix.rstrip("/"), address, store, ground

    def require_free(self) -> None:
        """Raise PublisherError if the destination belongs to another store or holds other files."""
        self._files.invalidate_cache()
        if self._marked():
            if self._read(MARK) != {"store": self._store}:
                raise PublisherError(
                    f"{self._address}: another store publishes here; give each store a prefix of its own"
                )
        elif self._files.exists(self._prefix) and self._files.find(self._prefix):
            raise PublisherError(f"{self._address}: holds objects already; name a prefix that is new")

    def put(self, artefact: Artifact) -> None:
        """Publish a release and make it the current one."""
        self._take()
        if not self._whole(artefact):
            for name, data in artefact.files.items():
                self._write(f"{artefact.name}/{name}", data)
        current = {"release": artefact.release, "model": artefact.digest, "folder": artefact.name}
        if self._read(CURRENT) != current:
            self._write(CURRENT, json.dumps(current).encode())

    def withdraw(self, keep: str | None) -> tuple[str, ...]:
        """Remove every release but `keep`; return what could not be removed, each with what to do about it."""
        self._files.invalidate_cache()
        if not self._marked():
            return ()
        self._take()
        if keep is None:
            self._remove(CURRENT)
        for path in self._files.find(self._prefix):
            folder = path[len(self._prefix) + 1 :].split("/")[0]
            if RELEASE.fullmatch(folder) and folder != keep:
                self._remove(path[len(self._prefix) + 1 :])
        return (f"{self._address}: {_VERSIONS}",) if self._keeps_versions() else ()

    def _take(self) -> None:
        """Mark the prefix as this store's, or raise if it belongs to another."""
        self.require_free()
        if not self._marked():
            self._files.makedirs(self._prefix, exist_ok=True)
            self._write(MARK, json.dumps({"store": self._store}).encode())

    def _marked(self) -> bool:
        return bool(self._files.exists(self._place(MARK)))

    def _whole(self, artefact: Artifact) -> bool:
        facts = self._read(f"{artefact.name}/{FACTS}")
        return isinstance(facts, dict) and (facts.get("release"), facts.get("model")) == (
            artefact.release,
            artefact.digest,
        )

    def _place(self, name: str) -> str:
        return f"{self._prefix}/{name}"

    def _read(self, name: str) -> Any:
        """Return a small JSON object, or None if it does not exist."""
        try:
            if self._files.info(self._place(name))["size"] > _LONGEST:
                return None
            return json.loads(self._files.cat_file(self._place(name)))
        except (FileNotFoundError, ValueError):
            return None

    def _write(self, name: str, data: bytes) -> None:
        self._ground.reached("put object", Path(name))
        if "file" in self._protocols:  # a local file is written in place
            require_own(Path(self._place(name)))
        folder = self._place(name).rpartition("/")[0]
        self._files.makedirs(folder, exist_ok=True)
        self._files.pipe_file(self._place(name), data)

    @property
    def _protocols(self) -> tuple[str, ...]:
        named = self._files.protocol
        return (named,) if isinstance(named, str) else tuple(named)

    def _remove(self, name: str) -> None:
        self._ground.reached("remove object", Path(name))
        if self._files.exists(self._place(name)):
            self._files.rm_file(self._place(name))

    def _keeps_versions(self) -> bool:
        is_versioned = getattr(self._files, "is_bucket_versioned", None)  # only s3fs has it
        return bool(is_versioned is not None and is_versioned(self._prefix.split("/")[0]))
