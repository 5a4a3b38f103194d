"""Pure mathematics: keyword-only floats in, floats out. Imports numpy and scipy only, and those where they are used."""
