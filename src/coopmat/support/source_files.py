"""The files that a compilation looks at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coopmat.support.cache import content_digest


class SourceFiles:
    """A front end's view of the file system: each file is looked at once, and what was seen is remembered.

    So a compilation that is done again sees the same files, and :meth:`record` says what it depended on: files
    that it read, and places where it looked for one and found none.
    """

    def __init__(self) -> None:
        self._present: dict[Path, bool] = {}
        self._contents: dict[Path, bytes] = {}
        self._resolved: dict[Path, Path] = {}

    def is_file(self, path: Path) -> bool:
        """Whether there is an ordinary file."""
        if path not in self._present:
            try:
                self._present[path] = path.is_file()
            except (OSError, ValueError):  # a name that no file can have
                self._present[path] = False
        return self._present[path]

    def size(self, path: Path) -> int:
        """The size of a file in bytes. Raises OSError."""
        return len(self._contents[path]) if path in self._contents else path.stat().st_size

    def read(self, path: Path) -> bytes:
        """The content of a file. Raises OSError."""
        if path not in self._contents:
            self._contents[path] = path.read_bytes()
        return self._contents[path]

    def resolve(self, path: Path) -> Path:
        """The file's one path without links, by which ``#pragma once`` knows it."""
        if path not in self._resolved:
            self._resolved[path] = path.resolve()
        return self._resolved[path]

    @property
    def contents(self) -> list[bytes]:
        """What was read."""
        return list(self._contents.values())

    # ------------------------------------------------------------------ records

    def record(self) -> dict[str, Any]:
        """What was seen, as JSON holds it."""
        return {
            "present": {str(path): present for path, present in self._present.items()},
            "contents": {str(path): content_digest(content) for path, content in self._contents.items()},
            "resolved": {str(path): str(resolved) for path, resolved in self._resolved.items()},
        }

    def agrees_with(self, record: dict[str, Any]) -> bool:
        """Whether a compilation that saw what ``record`` says would see the same now."""
        try:
            return (all(self.is_file(Path(name)) == present for name, present in record["present"].items())
                    and all(content_digest(self.read(Path(name))) == digest
                            for name, digest in record["contents"].items())
                    and all(str(self.resolve(Path(name))) == resolved
                            for name, resolved in record["resolved"].items()))
        except OSError:
            return False
