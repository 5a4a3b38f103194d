"""Entry point of `python -m noisygd_delete_lab compare`."""

from .command import run

run()
