"""The rows of a source as a table in memory."""

from __future__ import annotations

from noisygd_delete_sources import Source
from noisygd_delete_sources.reading import _read_in_memory
from noisygd_delete_sources.source import NOTHING_DONE

from noisygd_delete.features.schema import Schema
from noisygd_delete.records import Records


def records_of(source: Source, schema: Schema, slots: int) -> tuple[Records, str]:
    """The rows of one snapshot in so many slots, and the snapshot's position."""
    records, position, *_ = _read_in_memory(source, schema, slots, None, NOTHING_DONE)
    return records, position
