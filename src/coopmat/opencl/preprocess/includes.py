"""Finding and reading the files that ``#include`` names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coopmat.diagnostics import Diagnostic, SourceFile, SourceLocation
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.preprocess.lexer import MAX_SOURCE_CHARACTERS
from coopmat.support.source_files import SourceFiles

_UTF8_BYTES = 4  # at most, for one character


@dataclass(frozen=True, slots=True)
class HeaderName:
    """A file as ``#include`` names it: ``"file"``, or ``<file>`` if ``angled``."""

    file: str
    angled: bool


class IncludeSearch:
    """Looks for a header: next to the file that includes it (only ``"file"``), then in the folders of ``-I`` and
    those of ``-isystem``."""

    def __init__(self, include_paths: Iterable[str | Path], system_paths: Iterable[str | Path],
                 files: SourceFiles) -> None:
        self._include_paths = [Path(folder) for folder in include_paths]
        self._system_paths = [Path(folder) for folder in system_paths]
        self._files = files

    def folders(self, header: HeaderName, includer: str) -> list[Path]:
        """The folders to look in, in order."""
        own = [] if header.angled else [Path(includer).parent]
        return own + self._include_paths + self._system_paths

    def is_system(self, path: Path) -> bool:
        """Whether a file that was found lies in a folder of ``-isystem``."""
        return any(path.is_relative_to(folder) for folder in self._system_paths)

    def find(self, header: HeaderName, includer: str) -> Path | None:
        """The file's path; None if there is none. Only ordinary files count."""
        for folder in self.folders(header, includer):
            path = folder / header.file
            if self._files.is_file(path):
                return path
        return None

    def not_found(self, header: HeaderName, includer: str, location: SourceLocation) -> Diagnostic:
        """The message that a header was not found, naming the folders."""
        folders = [f"'{folder}'{'' if folder.is_dir() else ' (no such folder)'}"
                   for folder in self.folders(header, includer)]
        searched = f"; searched in {', '.join(folders)}" if folders else "; no folder is given with -I"
        return Diagnostic.of(messages.FILE_NOT_FOUND, location, file=header.file, searched=searched)


def read_source(path: Path, location: SourceLocation, included_from: SourceLocation, is_system: bool,
                files: SourceFiles) -> SourceFile | Diagnostic:
    """The file's text, or the message that says why it cannot be read."""
    try:
        size = files.size(path)
        if size > MAX_SOURCE_CHARACTERS * _UTF8_BYTES:
            return Diagnostic.of(messages.SOURCE_TOO_LARGE, location, size=size, limit=MAX_SOURCE_CHARACTERS)
        return SourceFile(str(path), files.read(path).decode("utf-8"), included_from, is_system)
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 text (byte {error.start})"
    except OSError as error:
        reason = error.strerror or type(error).__name__
    return Diagnostic.of(messages.FILE_NOT_READABLE, location, file=str(path), reason=reason)
