"""The version, stated here alone: packaging, `--version`, certificates and reports read it."""

__version__ = "1.0.0.dev0"
