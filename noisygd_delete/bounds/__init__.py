"""Privacy and utility bounds as pure functions: keyword-only floats in, floats out.

The modules import numpy and scipy only inside the functions that need them.
"""
