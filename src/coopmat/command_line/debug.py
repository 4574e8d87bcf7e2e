"""``coopmat debug``: a launch under the debugger, at the terminal, by a script, or for an editor."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from coopmat.command_line.arguments import parse_argument, parse_outputs, parse_sizes, parse_values, save_outputs
from coopmat.command_line.options import (
    SOURCES,
    CacheFolder,
    DeviceName,
    Linked,
    Specialized,
    build_options,
    chosen_kernel,
)
from coopmat.diagnostics import Error, render
from coopmat.runtime import device
from coopmat.runtime.building import make_program
from coopmat.runtime.debugging import DEFAULT_DEVICE
from coopmat.support.files import STANDARD_STREAM, read_input

if TYPE_CHECKING:
    from coopmat.debugger.dap.messages import Arguments
    from coopmat.debugger.dap.session import Opened, Opener
    from coopmat.debugger.engine import Launch

ATTRIBUTES = {
    "program": ("string", "The file: OpenCL C (.cl), LLVM IR (.ll), SPIR-V (.spv, .spvasm). `file` is the same."),
    "global": (["string", "integer", "array"], "Number of work-items: 64, \"64,16\" or [64, 16]."),
    "local": (["string", "integer", "array"], "Work-items in a work-group; chosen if it is left out."),
    "kernel": ("string", "The kernel, if there are several."),
    "args": ("array", "The kernel's arguments: numbers, null, and texts as `--arg` takes them: FILE.npy, "
                      "zeros:DTYPE:SHAPE, local:BYTES."),
    "device": ("string", "A simulated device, as `coopmat devices` lists it; sim:generic if it is left out."),
    "options": (["string", "array"], "Build options, such as \"-DTILE=16 -I include\"."),
    "spec": ("array", "Specialisation constants: ID=VALUE or NAME=VALUE."),
    "link": ("array", "Files that are linked, too."),
    "out": ("array", "INDEX=FILE.npy: arguments to save when the kernel has ended."),
    "bounds": ("boolean", "Report accesses outside of buffers; true if it is left out."),
    "cacheDir": ("string", "Keep compiled programs there, or off."),
    "cwd": ("string", "The folder that the names of files are relative to."),
    "stopOnEntry": ("boolean", "Stop before the first line."),
    "stopOnExit": ("boolean", "Stop when the kernel has ended: it can be stepped back into."),
}
"""What a launch request takes: the JSON types, and the meaning."""
CLIENTS = ("noDebug", "port", "type", "request", "name", "file", "debugServer", "presentation", "preLaunchTask",
           "postDebugTask", "internalConsoleOptions", "debugOptions", "suppressMultipleSessionWarning", "restart",
           "console")
"""What clients send besides."""


@dataclass(frozen=True)
class LaunchWords:
    """A launch in the words of the command line."""

    file: Path
    global_size: str
    local_size: str | None
    kernel: str | None
    arguments: Sequence[str]
    outputs: Sequence[str]
    device: str | None
    options: str | Sequence[str]
    values: Sequence[str]
    linked: Sequence[Path]
    bounds: bool
    cache_dir: Path | None

    def prepare(self) -> Prepared:
        """Build the program, read the arguments. Raises Error for whatever is wrong."""
        from coopmat.runtime.debugging import launch_of

        target = device(self.device or DEFAULT_DEVICE)
        if any(one.name == "bounds" for one in fields(target.options)):
            target = device(target, options=replace(target.options, bounds=self.bounds))
        values = parse_values(list(self.values)) if self.values else None
        program = make_program(read_input() if self.file == STANDARD_STREAM else self.file, self.options, target,
                               link=self.linked, spec_constants=values, cache_dir=self.cache_dir)
        sizes = (parse_sizes("--global", self.global_size),
                 parse_sizes("--local", self.local_size) if self.local_size else None)
        kernel = chosen_kernel(program, self.kernel)
        parameters = kernel.signature.parameters
        arguments = [parse_argument(text, parameters[index] if index < len(parameters) else None)
                     for index, text in enumerate(self.arguments)]
        launch = launch_of(kernel, target, *sizes, arguments, {})
        return Prepared(launch, arguments, parse_outputs(list(self.outputs), arguments),
                        render(program.warnings) if program.warnings else "")


@dataclass(frozen=True)
class Prepared:
    """A launch with its arguments, those of them that are saved, and what the compiler warns of."""

    launch: Launch
    arguments: list[Any]
    outputs: dict[int, Path]
    warnings: str

    def save(self) -> None:
        """Write the arrays that are to be saved."""
        save_outputs(self.outputs, self.arguments)


def debug(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help=SOURCES)] = None,
    global_size: Annotated[str | None, typer.Option(
        "--global", metavar="X[,Y[,Z]]", help="Number of work-items.")] = None,
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="The kernel, if there are several.")] = None,
    local_size: Annotated[str | None, typer.Option(
        "--local", metavar="X[,Y[,Z]]", help="Work-items in a work-group; chosen if it is left out.")] = None,
    argument: Annotated[list[str] | None, typer.Option(
        "--arg", metavar="VALUE|null|FILE.npy|zeros:DTYPE:SHAPE|local:BYTES", help="The next argument.")] = None,
    out: Annotated[list[str] | None, typer.Option(
        "--out", metavar="INDEX=FILE.npy", help="Save argument INDEX (from 0) afterwards.")] = None,
    script: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Carry out these commands, one a line; - is standard input.")] = None,
    dap: Annotated[bool, typer.Option("--dap", help="Serve an editor by the Debug Adapter Protocol, at standard input "
                                                    "and output; its launch request has what is left out here.")
                   ] = False,
    port: Annotated[int | None, typer.Option(metavar="N", help="With --dap, serve editors that connect to this port of "
                                                               "this machine; 0 is a free one.")] = None,
    bounds: Annotated[bool, typer.Option(help="Report accesses outside of buffers.")] = True,
    device_name: DeviceName = None,
    linked: Linked = None,
    values: Specialized = None,
    cache_dir: CacheFolder = None,
) -> None:
    """Debug one kernel on a simulated device: stop it, look into it, go back."""
    if port is not None and not dap:
        raise Error("--port is for editors: it needs --dap")
    if dap and (script is not None or file == STANDARD_STREAM):
        raise Error(f"--dap takes no {'--script' if script is not None else 'source from standard input'}: "
                    "the editor commands")
    if not dap and (file is None or global_size is None):
        raise typer.BadParameter(f"Missing {'argument FILE' if file is None else 'option --global'}.", context)
    words = LaunchWords(file or Path(), global_size or "", local_size, kernel, argument or (), out or (), device_name,
                        build_options(context), values or (), linked or (), bounds, cache_dir)
    if dap:
        _serve(words, port)
    from coopmat.runtime.debugging import debug as start

    prepared = words.prepare()
    if prepared.warnings:
        print(prepared.warnings, file=sys.stderr)
    failed = start(prepared.launch, read_input() if script == STANDARD_STREAM else script)
    prepared.save()
    if failed:
        sys.exit(1)


# ------------------------------------------------------------------------------- editors


def _serve(words: LaunchWords, port: int | None) -> NoReturn:
    """Serve editors, at a port until Ctrl-C."""
    from coopmat.debugger.dap.serving import serve_port, serve_standard_streams

    opener = opener_for(words)
    if port is None:
        sys.exit(serve_standard_streams(opener))
    with suppress(KeyboardInterrupt):
        serve_port(port, opener)
    sys.exit(0)


def opener_for(words: LaunchWords) -> Opener:
    """What makes launches of editors' requests; the command line has what these leave out."""
    from coopmat.debugger.dap.kernel import Opened
    from coopmat.debugger.dap.messages import Arguments

    start = Path.cwd()

    def open_launch(configuration: Mapping[str, Any]) -> Opened:
        arguments = Arguments("launch", configuration)
        _enter(start / arguments.text("cwd", ""))
        prepared = _requested(words, arguments).prepare()
        notes = [one for one in (prepared.warnings, _unknown(configuration)) if one]
        return Opened(prepared.launch, Path.cwd(), "\n".join(notes), prepared.save)

    return open_launch


def _enter(folder: Path) -> None:
    try:
        os.chdir(folder)
    except OSError as error:
        raise Error(f"launch: cannot work in 'cwd' {folder}: {error.strerror or error}") from error


def _requested(words: LaunchWords, wanted: Arguments) -> LaunchWords:
    """The launch that a request asks for."""
    file = wanted.text("program", wanted.text("file", "")) or (str(words.file) if words.file != Path() else "")
    if not file:
        raise Error("launch: 'program' is missing: expected the file of the kernel, such as \"${file}\"")
    size = _size(wanted, "global") or words.global_size
    if not size:
        raise Error("launch: 'global' is missing: expected the number of work-items, such as 64, \"64,16\" or [64, 16]")
    options = wanted.values.get("options")
    if options is not None and not isinstance(options, str):
        options = wanted.texts("options")
    cache = wanted.text("cacheDir", "")
    return LaunchWords(
        Path(file), size, _size(wanted, "local") or words.local_size, wanted.text("kernel", words.kernel),
        _texts(wanted) if "args" in wanted.values else words.arguments, wanted.texts("out") or words.outputs,
        wanted.text("device", words.device), words.options if options is None else options,
        wanted.texts("spec") or words.values, [Path(one) for one in wanted.texts("link")] or words.linked,
        wanted.flag("bounds", words.bounds), Path(cache) if cache else words.cache_dir)


def _size(wanted: Arguments, name: str) -> str:
    """A size as the command line has it."""
    found = wanted.values.get(name)
    if found is None or isinstance(found, str):
        return found or ""
    parts = found if isinstance(found, list) else [found]
    if not parts or not all(isinstance(part, int) and not isinstance(part, bool) for part in parts):
        raise Error(f"launch: expected one to three whole numbers as '{name}'; found {json.dumps(found)[:80]}")
    return ",".join(map(str, parts))


def _texts(wanted: Arguments) -> list[str]:
    """The kernel's arguments as the command line has them."""
    found = wanted.values["args"]
    if not isinstance(found, list) or any(isinstance(one, bool | list | dict) for one in found):
        raise Error("launch: expected a list of numbers, null and texts as 'args', such as [\"a.npy\", "
                    f"\"zeros:float32:64\", 3]; found {json.dumps(found)[:80]}")
    return [one if isinstance(one, str) else json.dumps(one) for one in found]


def _unknown(configuration: Mapping[str, Any]) -> str:
    """What is said of attributes that mean nothing."""
    names = [name for name in configuration if name not in ATTRIBUTES and name not in CLIENTS]
    if not names:
        return ""
    return f"warning: the launch has {', '.join(names)}, unknown here; known are {', '.join(ATTRIBUTES)}"
