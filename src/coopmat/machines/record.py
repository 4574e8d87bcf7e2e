"""What a sweep has found so far, in a file: a sweep that was interrupted goes on from there."""

from __future__ import annotations

import hashlib
import pickle
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coopmat.diagnostics import Error, value_text

_TABLE = "CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, value BLOB, error TEXT, seconds REAL)"
Row = tuple[str, bytes | None, str | None, float]
"""Key, value (pickled), error, seconds."""


class Record:
    """A database of outcomes; without a file, in memory. Values are pickled: read only records of your own.

    Error for a file that is none.
    """

    def __init__(self, path: Path | str | None) -> None:
        name = str(path) if path is not None else ":memory:"
        try:
            self._database = sqlite3.connect(name)
            self._database.execute(_TABLE)
        except sqlite3.Error as error:
            raise Error(f"{name} cannot be a sweep's record: {error}") from None

    def found(self, keys: Iterable[str]) -> dict[str, Row]:
        """The outcomes that are known."""
        wanted = set(keys)
        return {row[0]: row for row in self._database.execute("SELECT key, value, error, seconds FROM outcomes")
                if row[0] in wanted}

    def add(self, rows: Iterable[Row]) -> None:
        """Write outcomes, all of them or none."""
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def key_of(name: str, configuration: Any) -> str:
    """What a configuration of a function is called in a record. Error for one that cannot be pickled."""
    try:
        content = pickle.dumps((name, configuration))
    except Exception as error:
        raise Error(f"the configuration {value_text(configuration)} cannot be sent to another process: {error}"
                    ) from None
    return hashlib.blake2b(content, digest_size=16).hexdigest()
