"""Syntax trees: a file of the package is parsed once for all the questions that are asked about it."""

from __future__ import annotations

import ast
from functools import cache

parse_source = cache(ast.parse)
