"""The version, stated here alone: packaging, `--version`, certificates and reports read it."""

__version__ = "0.3.0.dev0"
