"""The commands about SPIR-V modules: ``coopmat as``, ``dis`` and ``val``."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coopmat.diagnostics import Diagnostic, Error, ValidationError
from coopmat.runtime import device
from coopmat.runtime.building import make_program
from coopmat.spirv import Module
from coopmat.support.files import STANDARD_STREAM, check_output, read_bytes, read_input_bytes, write_output

if TYPE_CHECKING:
    from coopmat.spirv import Violation

OLDEST, NEWEST = (1, 0), (1, 6)
_MAGIC = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")
_TEXT = re.compile(rb"(\xef\xbb\xbf)?\s*(;|Op[A-Z]|%\w+\s*=)")
"""How SPIR-V text begins."""
_COMPILED_SUFFIXES = (".cl", ".ll")

Text = Annotated[Path, typer.Argument(metavar="FILE", help="SPIR-V text, or - for standard input.")]
AnyForm = "SPIR-V as binary or text, OpenCL C (.cl), LLVM IR (.ll), or - for standard input (SPIR-V)."


def assemble(
    file: Text,
    output: Annotated[Path | None, typer.Option("-o", metavar="OUT", help="The file to write, or - for standard "
                                                "output; by default FILE with the suffix .spv.")] = None,
    version: Annotated[str, typer.Option(metavar="1.x", help="The version, if the text names none.")] = "1.4",
) -> None:
    """Assemble SPIR-V text to a binary."""
    match = re.fullmatch(r"(\d)\.(\d)", version, re.ASCII)
    number = (int(match[1]), int(match[2])) if match is not None else (0, 0)
    if not OLDEST <= number <= NEWEST:
        raise Error(f"--version takes a version of SPIR-V from 1.0 to 1.6, not '{version}'")
    content = _read(file)
    if content[:4] in _MAGIC:
        raise Error(f"'{file}' is a SPIR-V binary already; `coopmat dis` makes text of it")
    if output is None:
        if file == STANDARD_STREAM:
            raise Error("name the output of standard input with -o (-o - is standard output)")
        output = file.with_suffix(".spv")
    _write(output, _from_text(content, file, number).to_bytes(), file)


def disassemble(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=AnyForm)],
    output: Annotated[Path | None, typer.Option("-o", metavar="OUT", help="The file to write; by default it is "
                                                "printed.")] = None,
    names: Annotated[bool, typer.Option("--names", help="Show ids by name instead of by number.")] = False,
) -> None:
    """Print a module as SPIR-V text."""
    text = read_module(file).to_text(friendly_names=names)
    _write(output if output is not None else STANDARD_STREAM, text.encode("utf-8", "surrogateescape"), file)


def validate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help=AnyForm)],
    device_name: Annotated[str | None, typer.Option("--device", metavar="DEVICE",
                                                    help="Also check what this device has.")] = None,
) -> None:
    """Check modules against every rule; exit with 1 if one is broken."""
    target = device(device_name) if device_name is not None else None
    failures = 0
    for file in files:
        try:
            violations = read_module(file).validate(target)
        except Error as error:
            print(_as_diagnostic(str(error), file), file=sys.stderr)
            failures += 1
            continue
        for violation in violations:
            print(_shown(violation, file), file=sys.stderr)
        failures += any(violation.severity == "error" for violation in violations)
    if failures:
        sys.exit(1)


def read_module(file: Path) -> Module:
    """The module in a file, whatever its form.  Raises Error, naming the file, if there is none in it."""
    return read_or_compile(file, ())[0]


def read_or_compile(file: Path, options: Sequence[str]) -> tuple[Module, list[Diagnostic]]:
    """The same, with build options for what is compiled, and what its compiler warns of."""
    if file.suffix in _COMPILED_SUFFIXES:
        program = make_program(file, options)
        return program.module, program.warnings
    return _read_spirv(file), []


def _read_spirv(file: Path) -> Module:
    content = _read(file)
    if content[:4] not in _MAGIC and (file.suffix != ".spv" or _TEXT.match(content)) and b"\0" not in content:
        return _from_text(content, file, (1, 4))
    try:
        return Module.from_bytes(content)
    except ValidationError as error:
        raise error.in_file(str(file)) from None


def _from_text(content: bytes, file: Path, version: tuple[int, int]) -> Module:
    try:
        return Module.from_text(content.decode("utf-8", "surrogateescape"), version=version)
    except ValidationError as error:
        raise error.in_file(str(file)) from None


def _read(file: Path) -> bytes:
    return read_input_bytes() if file == STANDARD_STREAM else read_bytes(file)


def _write(output: Path, content: bytes, source: Path) -> None:
    check_output(output, source)
    write_output(output, content)


def _shown(violation: Violation, file: Path) -> str:
    """``FILE:OFFSET: error: message [RULE]`` and, below it, the instruction."""
    place = f"{violation.offset:#x}:" if violation.offset is not None else ""
    text = f"{file}:{place} {violation.severity}: {violation.message} [{violation.rule}]"
    return f"{text}\n    {violation.instruction}" if violation.instruction is not None else text


def _as_diagnostic(message: str, file: Path) -> str:
    """An error about a file; one that does not name it does so now."""
    return message if "error: " in message.split("\n", 1)[0] else f"{file}: error: {message}"
