"""``coopmat compare``: the same launch on several devices, and why the results differ."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from coopmat.command_line.arguments import parse_argument, parse_sizes, parse_values
from coopmat.command_line.options import CacheFolder, Linked, Source, build_options
from coopmat.comparison.launches import compare_kernels, named_device
from coopmat.diagnostics import Error, LaunchError, render
from coopmat.runtime import Device, Kernel, Program
from coopmat.runtime.building import make_program
from coopmat.support.files import read_input, write_atomically
from coopmat.support.terminal import console, progress

STANDARD_STREAM = Path("-")


def compare(
    context: typer.Context,
    file: Source,
    devices: Annotated[str, typer.Option(
        "--devices", metavar="DEVICE,DEVICE...", help="As `coopmat devices` lists them; exact:ARCHITECTURE is a "
        "simulated device that rounds once.")],
    global_size: Annotated[str, typer.Option("--global", metavar="X[,Y[,Z]]", help="Number of work-items.")],
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="The kernel, if there are several.")] = None,
    local_size: Annotated[str | None, typer.Option(
        "--local", metavar="X[,Y[,Z]]", help="Work-items in a work-group; chosen if it is left out.")] = None,
    argument: Annotated[list[str] | None, typer.Option(
        "--arg", metavar="VALUE|null|FILE.npy|zeros:DTYPE:SHAPE|local:BYTES", help="The next argument.")] = None,
    reference: Annotated[str | None, typer.Option(
        metavar="DEVICE", help="The device that the others are held against; the first if it is left out.")] = None,
    ulps: Annotated[int, typer.Option(metavar="N", help="Differences of so many units in the last place are no "
                                                        "failure.")] = 0,
    explain: Annotated[bool, typer.Option(help="Say where two simulated devices part, and why.")] = True,
    json_output: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Write JSON; - prints it.")] = None,
    linked: Linked = None,
    values: Annotated[list[str] | None, typer.Option(
        "--spec", metavar="ID|NAME=VALUE", help="Set a specialisation constant (repeatable).")] = None,
    cache_dir: CacheFolder = None,
) -> None:
    """Run one launch on several devices and compare the results; exit with 1 if they differ."""
    if ulps < 0:
        raise LaunchError(f"--ulps takes a number of at least 0; found {ulps}")
    names = [name.strip() for name in devices.split(",")]
    if not all(names):
        raise Error(f"--devices takes names with commas between them, such as cpu,sim:generic; found '{devices}'")
    chosen = list(map(named_device, names))
    source = read_input() if file == STANDARD_STREAM else file
    programs: dict[Device, Program] = {}

    def kernel_for(device: Device) -> Kernel:
        if device not in programs:
            programs[device] = make_program(source, build_options(context), device, link=linked or (),
                                            spec_constants=parse_values(values) if values else None,
                                            cache_dir=cache_dir)
        return _kernel(programs[device], kernel)

    parameters = kernel_for(chosen[0]).signature.parameters
    arguments = [parse_argument(text, parameters[index] if index < len(parameters) else None)
                 for index, text in enumerate(argument or ())]
    sizes = parse_sizes("--global", global_size), parse_sizes("--local", local_size) if local_size else None
    try:
        with progress(f"comparing {', '.join(names)}"):
            found = compare_kernels(kernel_for, chosen, *sizes, arguments, {}, reference, explain)
    except Error as error:
        notes = getattr(error, "__notes__", ())
        raise Error("\n".join([str(error), *notes])) from error
    _print_warnings(programs)
    if json_output is not None and json_output != STANDARD_STREAM:
        write_atomically(json_output, found.json_text().encode())
    if json_output == STANDARD_STREAM:
        print(found.json_text(), end="")
    else:
        print(found.headline)
        if found.differences:
            console().print(found.table())
        print("".join(f"{line}\n" for line in found.remarks()), end="")
    if not found.is_within(ulps):
        sys.exit(1)


def _print_warnings(programs: dict[Device, Program]) -> None:
    """Print the warnings, each once."""
    texts = [render(program.warnings) for program in programs.values() if program.warnings]
    for text in dict.fromkeys(texts):
        print(text, file=sys.stderr)


def _kernel(program: Program, name: str | None) -> Kernel:
    if name is not None:
        return program.kernel(name)
    if len(program.kernels) != 1:
        names = ", ".join(program.kernels)
        raise Error(f"choose a kernel of {program.source_name} with --kernel: {names}" if names else
                    f"{program.source_name} has no kernels")
    return next(iter(program.kernels.values()))
