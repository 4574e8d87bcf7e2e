"""Source files: under the names that the module has for them, and as clients name them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from coopmat.debugger.code import Line
from coopmat.debugger.dap.messages import Arguments
from coopmat.debugger.engine import Engine
from coopmat.diagnostics import Error


@dataclass(frozen=True)
class Dialect:
    """How a client counts and names: the number of the first line and column, and whether paths are URIs."""

    first_line: int = 1
    first_column: int = 1
    has_uris: bool = False

    @staticmethod
    def of(arguments: Arguments) -> Dialect:
        """As the initialize request tells."""
        return Dialect(int(arguments.flag("linesStartAt1", True)), int(arguments.flag("columnsStartAt1", True)),
                       arguments.text("pathFormat", "path") == "uri")

    def line(self, number: int) -> int:
        """A line, counted from 1, for the client."""
        return number - 1 + self.first_line

    def from_line(self, number: int) -> int:
        """A line of the client's, counted from 1."""
        return number + 1 - self.first_line


class Sources:
    """The files of an engine's code. ``folder``: what the names of files are relative to."""

    def __init__(self, engine: Engine, folder: Path, dialect: Dialect) -> None:
        self.engine = engine
        self.folder = folder
        self.dialect = dialect

    def shown(self, file: str) -> dict[str, Any]:
        """A file for the client: its path, or a number to ask for its text with if there is no such file."""
        path = self._path(file)
        found: dict[str, Any] = {"name": os.path.basename(file) or file}
        if os.path.isfile(path):
            return found | {"path": Path(path).as_uri() if self.dialect.has_uris else path}
        return found | {"sourceReference": self.engine.table.files.index(file) + 1}

    def place(self, line: Line | None) -> dict[str, Any]:
        """A line for the client; nothing if there is none."""
        if line is None:
            return {"line": 0, "column": 0}
        return {"source": self.shown(line.file), "line": self.dialect.line(line.number),
                "column": self.dialect.first_column}

    def file_of(self, source: Arguments) -> str:
        """The module's name for a client's file: the one of the same path, or the only one of the same name that is
        not on this machine. Error if no code comes from it."""
        files = self.engine.table.files
        reference = source.number("sourceReference", 0)
        if 0 < reference <= len(files):
            return files[reference - 1]
        path = source.text("path", source.text("name", ""))
        if path.startswith("file:"):
            path = unquote(urlsplit(path).path)
        wanted = self._path(path)
        found = [file for file in files if self._path(file) == wanted]
        found = found or [file for file in files if os.path.basename(file) == os.path.basename(path)
                          and not os.path.isfile(self._path(file))]
        if len(found) != 1:
            raise Error(f"no code of the kernel comes from '{path}'" + (
                f"; it comes from {', '.join(files)}" if files else ": the module tells no source lines (OpLine)"))
        return found[0]

    def text(self, source: Arguments, reference: int) -> str:
        """The text of a file. Error if it is not known."""
        values = dict(source.values)
        if reference:
            values["sourceReference"] = reference
        file = self.file_of(Arguments(source.what, values))
        text = self.engine.launch.text_of(file)
        if text is None:
            raise Error(f"the text of {file} is not known")
        return text

    def _path(self, file: str) -> str:
        return os.path.realpath(self.folder / file)
