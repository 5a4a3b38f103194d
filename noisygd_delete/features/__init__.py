"""How a raw record becomes a row of norm <= R: the public schema of its columns, and public maps; nothing is ever fitted to data."""
