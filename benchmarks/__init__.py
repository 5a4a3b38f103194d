"""Side-by-side measurements; each writes its table, with commit and command, under benchmarks/results."""
