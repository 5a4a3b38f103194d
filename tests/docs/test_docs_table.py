"""The commands of docs/table.md, run as they are printed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "awk", "gunzip"))), reason="needs bash, awk and gunzip")
def test_adult_from_csv_to_an_erasure_by_subject_in_at_most_eight_commands(adult_file: Path, tmp_path: Path) -> None:
    block = (ROOT / "docs" / "table.md").read_text(encoding="utf-8").split("```sh\n")[1].split("```")[0]
    assert len(block.splitlines()) <= 8
    (tmp_path / "adult.csv.gz").symlink_to(adult_file)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = tmp_path / "bin" / "noisygd-delete"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m noisygd_delete "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-euc", block], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "32561 records in 33000 slots (439 free), 108 features" in done.stdout
    assert "release 2 (unlearn): 2 records erased" in done.stdout
    assert "\nsound\n" in done.stdout
    assert done.stdout.endswith("3 texts looked for in every byte of store: none found\n")
    assert (tmp_path / "store" / "model-2.safetensors").exists()
    # the search has power: the neighbours, who are still there, are found
    (tmp_path / "there.txt").write_text("person-00043\n")
    found = subprocess.run(
        [program, "verify", "store", "--absent", "there.txt"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert found.returncode == 5
