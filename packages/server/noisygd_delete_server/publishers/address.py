"""Addresses of publishers, and names of releases there; plain text only, for commands that do not connect."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlparse

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.store.destinations import LONGEST_ADDRESS, UNKNOWN

FOLDER, MLFLOW, ALIAS = "folder:", "mlflow:", "production"
SQLITE = "sqlite:///"
ARTEFACTS = "mlartifacts"  # folder next to MLflow's database file
RELEASE = re.compile(r"release-[1-9][0-9]*-[0-9a-f]{12}")
_NAME = re.compile(r"[\w .-]{1,120}")
_WORD = re.compile(r"[A-Za-z][\w-]{0,60}")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://.+")

Address = tuple[str, str | None, str | None]  # complete address; model and alias in a registry


def check_address(address: str, model: str | None, alias: str | None, *, default: str) -> Address:
    """Return the complete address, with the model's name and alias if it has them.

    Args:
        address: The address as given.
        model: The name of the model in a registry.
        alias: The alias of the model in a registry.
        default: The name of the model if none is given.

    Raises:
        InvalidParameter: If it is not an address, contains a password, or has a name that does not belong to it.
    """
    if not isinstance(address, str) or not 0 < len(address) <= LONGEST_ADDRESS or not address.isprintable():
        raise InvalidParameter(f"an address is a text of one line and at most {LONGEST_ADDRESS} characters")
    if urlparse(address.removeprefix(MLFLOW)).password is not None:
        raise InvalidParameter(
            "an address is stored and shown in clear, so it must hold no password; pass it in the environment "
            "(AWS_SECRET_ACCESS_KEY, MLFLOW_TRACKING_PASSWORD)"
        )
    if address.startswith(MLFLOW) and address != MLFLOW:
        model, alias = default if model is None else model, ALIAS if alias is None else alias
        if not _NAME.fullmatch(model) or not _WORD.fullmatch(alias):
            raise InvalidParameter(
                f"the model {model!r} with the alias {alias!r}: names in MLflow have letters, digits and _ . - (an alias begins with a "
                "letter); give --model and --alias"
            )
        return MLFLOW + _absolute_tracking_uri(address.removeprefix(MLFLOW)), model, alias
    if model is not None or alias is not None:
        raise InvalidParameter("--model and --alias are names in MLflow's registry; they belong to mlflow:URI")
    if address == UNKNOWN:
        return UNKNOWN, None, None
    if address.startswith(FOLDER) and address != FOLDER:
        if os.name == "nt":
            raise InvalidParameter(
                "folder: needs symbolic links, which this system reserves for administrators; give file:///C:/... instead"
            )
        return FOLDER + str(Path(address.removeprefix(FOLDER)).absolute()), None, None
    if _SCHEME.fullmatch(address):
        return address, None, None
    raise InvalidParameter(
        f"{address!r}: not an address; write folder:/path, mlflow:URI (sqlite:////path/mlflow.db, https://host), or an address of an "
        "object store such as s3://bucket/prefix"
    )


def _absolute_tracking_uri(place: str) -> str:
    """Return a database file or a folder by its absolute path, because the next command may run elsewhere."""
    if place.startswith(SQLITE):
        return SQLITE + str(Path(place.removeprefix(SQLITE)).absolute())
    return place if "://" in place else Path(place).absolute().as_uri()


def on_this_machine(address: str) -> list[Path]:
    """Return the local folders and files that a publisher uses; empty if it is remote."""
    if address.startswith(FOLDER):
        return [Path(address.removeprefix(FOLDER))]
    if address.startswith(MLFLOW + SQLITE):
        database = Path(address.removeprefix(MLFLOW + SQLITE))
        return [database, database.parent / ARTEFACTS]
    parts = urlparse(address.removeprefix(MLFLOW))
    return [Path(unquote(parts.path))] if parts.scheme == "file" and parts.netloc in ("", "localhost") else []
