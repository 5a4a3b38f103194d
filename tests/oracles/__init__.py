"""Slow, independent versions of what the package computes. Nothing here imports the package."""
