"""The sentences of every claim, one file for each language."""
