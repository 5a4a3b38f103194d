"""Sentences of every claim, one file per language."""
