"""Files that are written whole or not at all, and read with errors that name the file."""

from __future__ import annotations

import os
from pathlib import Path

from coopmat.diagnostics import Error


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to a temporary file beside ``path`` and rename it; Error if that fails."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
        temporary.replace(path)
    except OSError as error:
        raise Error(f"cannot write '{path}': {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def read_bytes(path: Path) -> bytes:
    """The content of a file; Error if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror or error}") from error


def read_text(path: Path) -> str:
    """The content of a UTF-8 text file; Error if it cannot be read or is not text."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Error(f"cannot read '{path}': byte {error.start} is not UTF-8 text") from error
