"""Build the script of certificates' pages into the wheel: the engine's verification, translated to JavaScript."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
sys.path[:0] = [
    str(HERE / "noisygd_delete_compliance"),
    str(HERE.parents[1]),
]  # the translator, and the engine of a clone


class BuildWithScript(build_py):
    """The usual build, and templates/checker.js."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # a source checkout builds the script on first use
            return
        from translator import script

        made = Path(self.build_lib, "noisygd_delete_compliance", "templates", "checker.js")
        made.write_text(script(), encoding="utf-8")


setup(cmdclass={"build_py": BuildWithScript})
