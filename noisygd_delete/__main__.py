"""Run the command line: `python -m noisygd_delete`."""

from .cli import run

if __name__ == "__main__":
    run()
