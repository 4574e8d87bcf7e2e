"""What the compiler reports about a source, as objects and as lines."""

from __future__ import annotations

from coopmat.devices import describe
from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.opencl import BuildOptions, compile_source


def diagnostics(source: str, device: str = "generic", *warnings: str) -> list[Diagnostic]:
    """All that is reported about a source."""
    try:
        return compile_source(source, device=describe(device), options=BuildOptions(warnings=warnings))[1]
    except CompileError as error:
        return error.diagnostics


def reports(source: str, device: str = "generic") -> list[str]:
    """The diagnostics of a source but those of statements without effect, then their notes."""
    found = diagnostics(source, device, "-Wno-unused", "-Wno-empty-body")
    texts = [f"{d.location}: {d.severity}: {d.message} [{d.code}]" for d in found]
    texts += [f"{note.location}: note: {note.message}" for d in found for note in d.notes]
    return [text.removeprefix("<source>:") for text in texts]
