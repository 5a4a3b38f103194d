"""A publisher for a model in MLflow's registry: one version of it under an alias, and no artifact of any earlier one.

A release is a logged model with a version that points to it. Deleting a version keeps its files, so the files of
earlier releases are removed separately, and overwritten if they are on a local disk. Rows of MLflow's own database
(number of the release, its digest, times) remain, marked as deleted, until `mlflow gc`; they hold no coefficient.

Loaded by `mlflow.pyfunc`, the model needs numpy and not this package: it consists of model.py and model.json, and no
pickle.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from noisygd_delete.errors import MissingDependency, PublisherError
from noisygd_delete.store.artifact import Artifact

from .address import ARTEFACTS, SQLITE
from .folder import erase_whole
from .publisher import Ground

_STORE, _RELEASE = "noisygd-delete.store", "noisygd-delete.release"
_LOGGED = "noisygd-delete.logged-model"  # needed because a database backend resolves MLflow's own link elsewhere
_AT_ONCE = 100
_MANNERS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "CRITICAL",
}


class Registry:
    """The registered model of this name at a tracking server or in a database, for the store with this id.

    Args:
        tracking: A URI as for `mlflow.set_tracking_uri`.
        model: The name of the registered model.
        alias: The alias by which users load it.
        store: The id of the store.
        ground: The file operations.
    """

    def __init__(self, tracking: str, model: str, alias: str, store: str, ground: Ground) -> None:
        for name, value in _MANNERS.items():
            os.environ.setdefault(name, value)
        try:
            import mlflow
            from mlflow.store.artifact import artifact_repository_registry as places
        except ImportError as error:
            raise MissingDependency("publishing to MLflow needs it: pip install 'noisygd-delete[publish]'") from error
        logging.getLogger("alembic").setLevel(logging.WARNING)  # it logs every table of a new database
        self._mlflow, self._places = mlflow, places
        self._client = mlflow.MlflowClient(tracking_uri=tracking, registry_uri=tracking)
        self._model, self._alias, self._store, self._ground = model, alias, store, ground
        self._tracking, self._work = tracking, Path(tempfile.gettempdir()) / f"noisygd-delete-{store}"

    def require_free(self) -> None:
        """Raise PublisherError if the destination belongs to another store or holds other files."""
        if self._tracking.startswith(SQLITE) and not Path(self._tracking.removeprefix(SQLITE)).exists():
            return  # a query would create the database
        found = self._found()
        if found is not None and found.tags.get(_STORE) != self._store:
            raise PublisherError(
                f"MLflow has a model {self._model!r} that this store did not make; give another name (--model), or delete that one"
            )

    def put(self, artefact: Artifact) -> None:
        """Publish a release and make it the current one."""
        artefact.require_plain()
        self._known()
        version = self._version(artefact.name)
        if version is None:
            logged = self._logged(artefact)
            self._reached("create version")
            version = self._client.create_model_version(
                self._model,
                self._source(logged),
                tags=self._tags(artefact.name) | {_LOGGED: logged},
                model_id=logged if self._is_server else None,
            ).version
        if self._client.get_registered_model(self._model).aliases.get(self._alias) != str(version):
            self._reached("move alias")
            self._client.set_registered_model_alias(self._model, self._alias, str(version))

    def withdraw(self, keep: str | None) -> tuple[str, ...]:
        """Delete this store's versions and logged models except `keep`, and the alias if nothing is kept.

        Returns:
            Always (): a failure raises.
        """
        if self._found() is None:
            return ()
        if keep is None and self._alias in self._client.get_registered_model(self._model).aliases:
            self._reached("remove alias")
            self._client.delete_registered_model_alias(self._model, self._alias)
        self._clear()
        for version in self._versions():
            if version.tags.get(_STORE) == self._store and version.tags.get(_RELEASE) != keep:
                self._reached("delete version")
                self._client.delete_model_version(self._model, version.version)
        kept = {
            one.tags.get(_LOGGED) for one in self._versions() if keep is not None and one.tags.get(_RELEASE) == keep
        }
        for logged in self._models():
            if logged.model_id not in kept:
                self._erase(logged.artifact_location)
                self._reached("delete model")
                self._client.delete_logged_model(logged.model_id)
        return ()

    def _reached(self, step: str) -> None:
        self._ground.reached(step, Path(self._model))

    def _tags(self, release: str) -> dict[str, str]:
        return {_STORE: self._store, _RELEASE: release}

    def _found(self) -> Any:
        """Return the registered model, or None if it does not exist."""
        from mlflow.exceptions import MlflowException

        try:
            return self._client.get_registered_model(self._model)
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return None
            raise

    def _known(self) -> None:
        """Create the registered model, or raise if it belongs to another store."""
        self.require_free()
        if self._found() is None:
            self._reached("create model")
            self._client.create_registered_model(self._model, tags={_STORE: self._store})

    def _versions(self) -> list[Any]:
        return list(_all(lambda token: self._client.search_model_versions(
            f"name = '{self._model}'", max_results=_AT_ONCE, page_token=token
        )))  # fmt: skip

    def _version(self, release: str) -> str | None:
        """Return the version of this release, if any."""
        found = [
            one.version
            for one in self._versions()
            if one.tags.get(_STORE) == self._store and one.tags.get(_RELEASE) == release
        ]
        return found[0] if found else None

    @property
    def _experiment(self) -> str:
        """The experiment that holds the logged models; it is named after the model."""
        name = f"noisygd-delete {self._model}"
        found = self._client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        return str(self._client.create_experiment(name, artifact_location=self._beside))

    @property
    def _beside(self) -> str | None:
        """The location of artifacts: next to a database file; None for a server, which has its own."""
        if not self._tracking.startswith(SQLITE):
            return None
        return (Path(self._tracking.removeprefix(SQLITE)).parent / ARTEFACTS / self._model).as_uri()

    def _models(self) -> list[Any]:
        """Return the logged models of this store, complete or half-written."""
        found = _all(
            lambda token: self._client.search_logged_models([self._experiment], max_results=_AT_ONCE, page_token=token)
        )
        return [one for one in found if one.tags.get(_STORE) == self._store]

    def _logged(self, artefact: Artifact) -> str:
        """Return the id of a complete logged model with the files of this release; a half-written one is not reused."""
        from mlflow.entities.logged_model_status import LoggedModelStatus

        for earlier in self._models():
            if earlier.tags.get(_RELEASE) == artefact.name and earlier.status == LoggedModelStatus.READY:
                return str(earlier.model_id)
        self._reached("create logged model")
        logged = self._client.create_logged_model(self._experiment, name=artefact.name, tags=self._tags(artefact.name))
        self._clear()
        self._work.mkdir(mode=0o700)
        self._save(artefact)
        self._reached("log artefacts")
        self._client.log_model_artifacts(logged.model_id, str(self._work / "model"))
        self._clear()
        self._reached("finalize")
        self._client.finalize_logged_model(logged.model_id, LoggedModelStatus.READY)
        return str(logged.model_id)

    @property
    def _is_server(self) -> bool:
        return self._tracking.startswith("http")

    def _source(self, logged: str) -> str:
        """Return where a version's files are: a reference to the logged model for a server, else the location."""
        if self._is_server:
            return f"models:/{logged}"
        return str(self._client.get_logged_model(logged).artifact_location)

    def _save(self, artefact: Artifact) -> None:
        """Write the folder of a pyfunc model: the files of the release as data, and a copy of model.py as code."""
        files, code = self._work / "files", self._work / f"{LOADER}.py"
        files.mkdir()
        self._reached("write artefacts")
        for name, data in artefact.files.items():
            (files / name).write_bytes(data)
        code.write_bytes(artefact.files["model.py"])
        self._mlflow.pyfunc.save_model(
            str(self._work / "model"),
            loader_module=LOADER,
            data_path=str(files),
            code_paths=[str(code)],
            pip_requirements=["mlflow", "numpy"],
            **_model_signature(artefact),
            metadata={"release": artefact.name},
        )

    def _clear(self) -> None:
        """Erase the local working folder, also one left by an earlier process."""
        if self._work.is_symlink():
            raise PublisherError(f"{self._work}: a link, where models are put together; remove it")
        if self._work.exists():
            self._erased(self._work)
            shutil.rmtree(self._work)

    def _erase(self, location: str) -> None:
        """Remove the files of a logged model; on a local disk they are overwritten first."""
        place = _local(location)
        if place is not None and place.is_dir():
            self._erased(place)
        self._reached("delete artefacts")
        self._places.get_artifact_repository(location, tracking_uri=self._tracking).delete_artifacts()

    def _erased(self, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                erase_whole(self._ground, path)


LOADER = "noisygd_delete_model"


def _model_signature(artefact: Artifact) -> dict[str, Any]:
    """Return signature and input example of the model.

    Columns are of any type, because typed cells and their texts have the same predictions. The example contains public
    values of the schema only, never a record's.
    """
    from mlflow.models import ModelSignature
    from mlflow.types.schema import AnyType, ColSpec
    from mlflow.types.schema import Schema as Columns
    from pandas import DataFrame

    schema = artefact.schema
    given = Columns([ColSpec(AnyType(), name) for name in schema.columns])
    answer = Columns([ColSpec("string" if schema.classes else "double")])
    example = DataFrame({name: [kind.example()] for name, kind in schema.columns.items()}, dtype=object)
    return {"signature": ModelSignature(inputs=given, outputs=answer), "input_example": example}


def _local(location: str) -> Path | None:
    """Return the local folder of an artifact location; None if it is remote."""
    parts = urlparse(location)
    if parts.scheme in ("", "file") and parts.netloc in ("", "localhost"):
        return Path(unquote(parts.path))
    return None


def _all(page: Any) -> Iterator[Any]:
    """Yield every result of a paginated search."""
    token = None
    while True:
        found = page(token)
        yield from found
        token = found.token
        if not token:
            return
