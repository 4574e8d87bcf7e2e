"""Files that are written whole or not at all, and read with errors that name the file."""

from __future__ import annotations

import os
import sys
import uuid
from pathlib import Path

from coopmat.diagnostics import Error

STANDARD_STREAM = Path("-")
"""Stands for standard input, or output."""


def write_output(output: Path, content: bytes) -> None:
    """Write what a command makes: a file, whole or not at all, or standard output."""
    if output == STANDARD_STREAM:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_atomically(output, content)


def check_output(output: Path, source: Path) -> None:
    """Raise Error if a command would write over its source."""
    if output != STANDARD_STREAM and output.exists() and source.exists() and output.samefile(source):
        raise Error(f"the output '{output}' is the source file itself: choose another name with -o")


def write_atomically(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write ``content`` so that a regular file is complete or untouched: to a temporary file, then rename. ``mode``
    says who may read and write it, as far as the process's mask allows.

    A symbolic link is followed; a device or pipe is written to as it is. Error if the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            _write_in_place(path, content)
        else:
            replace(path.resolve(), content, mode=mode)
    except OSError as error:
        raise Error(f"cannot write '{path}': {error.strerror or error}") from error


def _write_in_place(target: Path, content: bytes) -> None:
    with target.open("wb") as stream:
        stream.write(content)


def replace(target: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Give a name to a new file with ``content``, whole or not at all. What had the name before, a link or a pipe, too,
    is neither followed nor written to. OSError if that cannot be done."""
    temporary = target.with_name(f".coopmat-{uuid.uuid4().hex[:12]}.tmp")
    try:
        with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
            stream.write(content)
        temporary.replace(target)
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


def read_input_bytes() -> bytes:
    """What standard input holds."""
    return sys.stdin.buffer.read()


def read_input() -> str:
    """What standard input holds; Error if it is not UTF-8 text."""
    try:
        return read_input_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Error(f"cannot read standard input: not UTF-8 text (byte {error.start})") from None
