"""The clang inside of ziglang, as an independent preprocessor and judge of literals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from coopmat.diagnostics import DiagnosticSink, SourceFile
from coopmat.opencl.preprocess.lexer import tokenize

_CLANG = (sys.executable, "-m", "ziglang", "clang", "-cc1", "-fno-caret-diagnostics", "-ferror-limit", "0")
C99 = ("-x", "c", "-std=c99")
OPENCL = ("-x", "cl", "-cl-std=CL3.0", "-triple", "spir64")


def run(source: str, folder: Path, *options: str) -> tuple[str, str]:
    """What clang writes to its output and its error output for a source."""
    file = folder / "source.c"
    file.write_text(source, encoding="utf-8")
    result = subprocess.run([*_CLANG, *options, str(file)], capture_output=True, text=True, encoding="utf-8",
                            timeout=60, check=False)
    return result.stdout, result.stderr


def has_errors(messages: str) -> bool:
    """Whether clang reported an error."""
    return " error: " in messages


def spellings(text: str) -> list[str]:
    """The spellings of the tokens of preprocessed text."""
    return [token.text for token in tokenize(SourceFile("output", text), DiagnosticSink())][:-1]
