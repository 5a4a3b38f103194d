"""A model in MLflow's registry: one version of it in force, under an alias, and no artefact of any earlier one.

A release is a logged model with a version that points to it. Deleting a version leaves its files where they are; so the files of
earlier releases are removed here by themselves, and overwritten where they lie on a disk of ours. Rows of MLflow's own database
(number of the release, its digest, times) stay, marked as deleted, until `mlflow gc`; they hold no coefficient.

Loaded by `mlflow.pyfunc`, the model needs numpy and not this package: it is the file model.py beside model.json, and no pickle.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from ..errors import MissingDependency, PublisherError
from .artefact import Artefact
from .folder import erase_whole
from .publisher import Ground

_STORE, _RELEASE = "noisygd-delete.store", "noisygd-delete.release"
_AT_ONCE = 100
_PATIENCE = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}


class Registry:
    """The registered model of this name at a tracking server or in a database, for the store of this id.

    tracking   as `mlflow.set_tracking_uri` takes it; model: its name; alias: what users load it by
    """

    def __init__(self, tracking: str, model: str, alias: str, store: str, ground: Ground) -> None:
        for name, value in _PATIENCE.items():
            os.environ.setdefault(name, value)
        try:
            import mlflow
            from mlflow.store.artifact import artifact_repository_registry as places
        except ImportError as error:
            raise MissingDependency("publishing to MLflow needs it: pip install 'noisygd-delete[mlflow]'") from error
        self._mlflow, self._places = mlflow, places
        self._client = mlflow.MlflowClient(tracking_uri=tracking, registry_uri=tracking)
        self._model, self._alias, self._store, self._ground = model, alias, store, ground

    def put(self, artefact: Artefact) -> None:
        artefact.require_plain()
        self._known()
        version = self._version(artefact.name)
        if version is None:
            logged = self._logged(artefact)
            self._reached("create version")
            version = self._client.create_model_version(
                self._model, f"models:/{logged}", tags=self._tags(artefact.name), model_id=logged
            ).version
        if self._client.get_registered_model(self._model).aliases.get(self._alias) != str(version):
            self._reached("move alias")
            self._client.set_registered_model_alias(self._model, self._alias, str(version))

    def withdraw(self, keep: str | None) -> tuple[str, ...]:
        if self._found() is None:
            return ()
        if keep is None and self._alias in self._client.get_registered_model(self._model).aliases:
            self._reached("remove alias")
            self._client.delete_registered_model_alias(self._model, self._alias)
        left = []
        for version in self._versions():
            if version.tags.get(_STORE) != self._store:
                left.append(
                    f"{self._model}, version {version.version}: not put there by this store; delete it, with its files"
                )
            elif version.tags.get(_RELEASE) != keep:
                self._reached("delete version")
                self._client.delete_model_version(self._model, version.version)
        kept = {version.model_id for version in self._versions() if version.tags.get(_RELEASE) == keep}
        for logged in self._models():
            if logged.model_id not in kept:
                self._erase(logged.artifact_location)
                self._reached("delete model")
                self._client.delete_logged_model(logged.model_id)
        return tuple(left)

    def _reached(self, step: str) -> None:
        self._ground.reached(step, Path(self._model))

    def _tags(self, release: str) -> dict[str, str]:
        return {_STORE: self._store, _RELEASE: release}

    def _found(self) -> Any:
        """The registered model, None where there is none."""
        from mlflow.exceptions import MlflowException

        try:
            return self._client.get_registered_model(self._model)
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return None
            raise

    def _known(self) -> None:
        """Make the registered model, or refuse the one of another store."""
        found = self._found()
        if found is None:
            self._reached("create model")
            self._client.create_registered_model(self._model, tags={_STORE: self._store})
        elif found.tags.get(_STORE) != self._store:
            raise PublisherError(
                f"MLflow has a model {self._model!r} that this store did not make; give another name (--model), or delete that one"
            )

    def _versions(self) -> list[Any]:
        return list(_all(lambda token: self._client.search_model_versions(
            f"name = '{self._model}'", max_results=_AT_ONCE, page_token=token
        )))  # fmt: skip

    def _version(self, release: str) -> str | None:
        """The version that is this release."""
        found = [
            one.version
            for one in self._versions()
            if one.tags.get(_STORE) == self._store and one.tags.get(_RELEASE) == release
        ]
        return found[0] if found else None

    @property
    def _experiment(self) -> str:
        """Where the logged models lie: an experiment of the model's name."""
        name = f"noisygd-delete {self._model}"
        found = self._client.get_experiment_by_name(name)
        return str(self._client.create_experiment(name) if found is None else found.experiment_id)

    def _models(self) -> list[Any]:
        """Logged models of this store, whole or half-written."""
        found = _all(
            lambda token: self._client.search_logged_models([self._experiment], max_results=_AT_ONCE, page_token=token)
        )
        return [one for one in found if one.tags.get(_STORE) == self._store]

    def _logged(self, artefact: Artefact) -> str:
        """The id of a logged model with the files of this release; one that was left half-written is done anew."""
        from mlflow.entities.logged_model_status import LoggedModelStatus

        for earlier in self._models():
            if earlier.tags.get(_RELEASE) == artefact.name and earlier.status == LoggedModelStatus.READY:
                return str(earlier.model_id)
        self._reached("create logged model")
        logged = self._client.create_logged_model(self._experiment, name=artefact.name, tags=self._tags(artefact.name))
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / "model"
            self._saved(whole, artefact)
            self._reached("log artefacts")
            self._client.log_model_artifacts(logged.model_id, str(whole))
            for path in whole.rglob("*"):
                if path.is_file():
                    path.write_bytes(bytes(path.stat().st_size))
        self._reached("finalize")
        self._client.finalize_logged_model(logged.model_id, LoggedModelStatus.READY)
        return str(logged.model_id)

    def _saved(self, folder: Path, artefact: Artefact) -> None:
        """The folder of a pyfunc model: MLmodel, model.json as its data, model.py as its code."""
        folder.mkdir()
        for name, data in artefact.files.items():
            (folder / name).write_bytes(data)
        code = folder / "code"
        code.mkdir()
        (folder / "model.py").rename(code / LOADER_FILE)
        described = self._mlflow.models.Model(artifact_path=None)
        self._mlflow.pyfunc.add_to_model(
            described, loader_module=LOADER, data="model.json", code="code", env={"virtualenv": "python_env.yaml"}
        )
        (folder / "requirements.txt").write_text("mlflow\nnumpy\n")
        self._mlflow.pyfunc.PythonEnv = None if False else getattr(self._mlflow.pyfunc, "PythonEnv", None)
        described.save(str(folder / "MLmodel"))

    def _erase(self, location: str) -> None:
        """Files of a logged model: overwritten where they are on a disk of ours, removed by MLflow elsewhere."""
        place = _local(location)
        if place is not None and place.is_dir():
            for path in sorted(place.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    erase_whole(self._ground, path)
        self._reached("delete artefacts")
        self._places.get_artifact_repository(location).delete_artifacts()


LOADER = "noisygd_delete_model"
LOADER_FILE = f"{LOADER}.py"


def _local(location: str) -> Path | None:
    """The folder that an artefact location names, if it is one of this machine."""
    parts = urlparse(location)
    if parts.scheme in ("", "file") and parts.netloc in ("", "localhost"):
        return Path(unquote(parts.path))
    return None


def _all(page: Any) -> Iterator[Any]:
    """Every result of a search that answers page by page."""
    token = None
    while True:
        found = page(token)
        yield from found
        token = found.token
        if not token:
            return
