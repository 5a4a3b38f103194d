"""Spark without Java, or with one that is too old or broken: one line that says what is needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from noisygd_delete_sources.workers import on_spark

from noisygd_delete.errors import MissingDependency

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a script stands for Java")
TOLD = {
    "17": ('openjdk version "17.0.9" 2023-10-17', None),
    "21 of another maker": ('java version "21" 2023-09-19 LTS', None),
    "25 early": ('openjdk version "25-ea" 2025-09-16', None),
    "8": ('openjdk version "1.8.0_392"', "8 is there"),
    "11": ('openjdk version "11.0.21" 2023-10-17', "11 is there"),
    "a broken one": ("Error: could not find libjava.so", "what is there does not run"),
    "none": (None, "there is none"),
}


@pytest.mark.parametrize("which", TOLD)
@pytest.mark.parametrize("where", ["PATH", "JAVA_HOME"])
def test_java_is_asked_before_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str, where: str) -> None:
    said, expected = TOLD[which]
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    if said is not None:
        java.write_text(f"#!/bin/sh\necho '{said}' >&2\necho 'OpenJDK Runtime' >&2\n")
        java.chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(java.parent) if where == "PATH" else "/nowhere")
    if where == "JAVA_HOME":
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if expected is None:
        on_spark.require_java()
        return
    with pytest.raises(MissingDependency, match=f"Java 17 or later .*{expected}") as told:
        on_spark.require_java()
    assert "\n" not in str(told.value)
