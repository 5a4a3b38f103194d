"""How the table in tests/sources/iceberg_table was written, by pyiceberg 0.12.0: `python tests/sources/iceberg_sample.py FOLDER [later]`.

Sixty people in two files; the first one is deleted, so one of the files is written anew; then the earlier snapshots are expired. With
`later`, as iceberg_table_later was written, one more person comes, and they are expired again.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path


def write(folder: Path, *, later: bool) -> None:
    """A new table in this folder, and its catalog beside it."""
    import pyarrow
    from pyiceberg.catalog.sql import SqlCatalog

    folder.mkdir(parents=True)
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("crm")
    parts = [
        pyarrow.table({"id": [f"p-{k:04d}" for k in range(first, first + 30)], "a": [float(k) for k in range(30)]})
        for first in (0, 30)
    ]
    table = catalog.create_table("crm.people", schema=parts[0].schema)
    for part in parts:
        table.append(part)
    table.delete("id = 'p-0000'")
    table.maintenance.expire_snapshots().older_than(datetime.now()).commit()
    if later:
        table.append(pyarrow.table({"id": ["p-0060"], "a": [0.0]}))
        table.maintenance.expire_snapshots().older_than(datetime.now()).commit()


if __name__ == "__main__":
    write(Path(sys.argv[1]).absolute(), later=sys.argv[2:] == ["later"])
