"""The command ``coopmat``: thin functions over the public Python names.

Exit codes: 0 for success, 1 for every error, with the message on standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from coopmat.command_line import bench, compare, debug, doctor, layout, modules, probe, query, transform, tune, worker
from coopmat.command_line.arguments import parse_argument, parse_outputs, parse_sizes, parse_values, save_outputs
from coopmat.command_line.options import (
    SOURCES,
    BuildCommand,
    CacheFolder,
    DeviceName,
    Linked,
    Source,
    Specialized,
    build_options,
    chosen_kernel,
)
from coopmat.command_line.shaders import shader_of
from coopmat.diagnostics import Diagnostic, Error, LaunchError, render
from coopmat.runtime import Device, Kernel, Program, Queue, device, devices
from coopmat.runtime.building import make_program
from coopmat.runtime.debugging import DEFAULT_DEVICE
from coopmat.runtime.simulated_device import SimulatedDevice
from coopmat.support.cache import find_cache
from coopmat.support.files import STANDARD_STREAM, check_output, read_input, write_output
from coopmat.support.terminal import console, progress, table

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
                  help="Compile, check, simulate and run cooperative (joint) matrix kernels.")

# What `coopmat compile --emit` takes, and how a program gives it.
EMITTERS = {
    "llvm": lambda program: program.llvm_ir.encode(),
    "spirv": lambda program: program.spirv,
    "spirv-asm": lambda program: program.spirv_asm.encode(),
    "asm": lambda program: program.asm.encode(),
    "ptx": lambda program: program.ptx.encode(),
    "cubin": lambda program: program.cubin,
    "sass": lambda program: program.sass.encode(),
}
SHADER = "vulkan"
"""The same of one kernel, for a device of Vulkan."""
OF_CHIPS = ("ptx", "cubin", "sass")
"""What real chips run."""


def main() -> None:
    """Run the command line; an error that has a message never shows a traceback."""
    try:
        code = app(standalone_mode=False, prog_name="coopmat")
        sys.stdout.flush()
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)  # none where an option's value is missing
        command = context.command_path if context is not None else " ".join(["coopmat", *sys.argv[1:2]])
        fail(f"{error.format_message()} (see `{command} --help`)")
    except (typer.Abort, KeyboardInterrupt):
        fail("interrupted")
    except Error as error:
        fail(str(error))
    except UnicodeEncodeError as error:
        fail(f"standard output, in {error.encoding}, has no {error.object[error.start]!a}: set PYTHONIOENCODING=utf-8")
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(1)
        fail(f"cannot write to standard output: {error.strerror or error}")
    sys.exit(code if isinstance(code, int) else 0)


def fail(message: str) -> NoReturn:
    """Print an error and exit with 1."""
    _show(message)
    sys.exit(1)


def _show(message: str) -> None:
    """Print an error; one that names no place begins with the command's name."""
    first = message.split("\n", 1)[0]
    if not any(start in first for start in ("error: ", "warning: ", "In file included from ")):
        message = f"error: {message}"
    print(f"coopmat: {message}" if message.startswith("error: ") else message, file=sys.stderr)


def _build(file: Path, options: list[str], target: Device | None, cache_dir: Path | None,
           linked: list[Path] | None = None, values: list[str] | None = None) -> Program:
    """Build a file, or what standard input holds if it is called ``-``, and print the warnings."""
    program = make_program(read_input() if str(file) == "-" else file, options, target, link=linked or (),
                           spec_constants=parse_values(values) if values else None, cache_dir=cache_dir)
    _print_warnings(program.warnings)
    return program


def _print_warnings(warnings: Sequence[Diagnostic]) -> None:
    """Print warnings, if there are some."""
    if warnings:
        print(render(warnings), file=sys.stderr)


# ------------------------------------------------------------------------------- devices


@app.command("devices")
def show_devices(
    name: Annotated[str | None, typer.Argument(metavar="DEVICE", help="Show this device's combinations.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    of_farm: Annotated[str | None, typer.Option("--farm", metavar="ADDRESS", help="Those of a farm instead: "
                                                "dask://host:port.")] = None,
) -> None:
    """List the devices, or the matrix combinations of one."""
    if of_farm is not None:
        worker.show_farm(of_farm, name, as_json=as_json)
        return
    chosen = [device(name)] if name is not None else devices()
    if as_json:
        shown = [one.to_json() for one in chosen]
        print(json.dumps(shown[0] if name is not None else shown, indent=1))
        return
    if name is not None:
        console().print(_one_device(chosen[0]))
        return
    console().print(_device_table(chosen))
    from coopmat.command_line import opencl_drivers  # imported late: it asks the drivers

    for other, reason in opencl_drivers.unusable():
        print(f"{other} cannot be used: {reason}")


def _one_device(shown: Device) -> Table:
    title = (f"{shown.name}: sub-group sizes {_sizes(shown)}; work-groups of at most {shown.max_work_group_size} "
             f"work-items and {shown.local_memory_size >> 10} KiB of local memory")
    return query.combination_table(title, shown.matrix_combinations)


def _device_table(shown: list[Device]) -> Table:
    result = table("device", "architecture", "sub-group sizes", "matrix combinations")
    for one in shown:
        result.add_row(one.name, one.architecture, _sizes(one), _count(one))
    return result


def _count(shown: Device) -> str:
    rows = shown.matrix_combinations
    if not shown.description.any_combination:
        return str(len(rows))
    native = f", {sum(row.native for row in rows)} natively" if rows else ""
    return f"every shape and type{native}"


def _sizes(shown: Device) -> str:
    return ", ".join(map(str, shown.sub_group_sizes))


app.command("query")(query.query)
app.command("layout")(layout.layout)
app.command("probe")(probe.probe)
app.command("doctor")(doctor.doctor)
app.command("bench")(bench.bench)
app.command("worker")(worker.worker)
app.command("tune", cls=BuildCommand)(tune.tune)
app.command("compare", cls=BuildCommand)(compare.compare)

# --------------------------------------------------------------------- check and compile


@app.command(cls=BuildCommand)
def check(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help=SOURCES)],
    device_name: DeviceName = None,
    cache_dir: CacheFolder = None,
) -> None:
    """Print the diagnostics of kernel files; exit with 1 if there is an error."""
    target = device(device_name) if device_name is not None else None
    failures = 0
    for file in files:
        try:
            _build(file, build_options(context), target, cache_dir)
        except Error as error:
            _show(str(error))
            failures += 1
    if failures:
        sys.exit(1)


@app.command("compile", cls=BuildCommand)
def compile_file(
    context: typer.Context,
    file: Source,
    output: Annotated[Path, typer.Option("-o", metavar="OUT", help="The file to write, or - for standard output.")],
    emit: Annotated[str, typer.Option(metavar="|".join((*EMITTERS, SHADER)), help="What to write; vulkan: a compute "
                                          "shader of one kernel.")] = "spirv",
    kernel_name: Annotated[str | None, typer.Option("--kernel", metavar="NAME", help="The kernel for --emit vulkan.")
                           ] = None,
    level: Annotated[int, typer.Option("-O", metavar="0..3", help="Optimise by LLVM; 0 is as written.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Say what an NVIDIA GPU would choose, and why.")] = False,
    device_name: DeviceName = None,
    linked: Linked = None,
    values: Specialized = None,
    cache_dir: CacheFolder = None,
) -> None:
    """Translate a kernel file; the output is written whole or not at all."""
    if emit not in EMITTERS and emit != SHADER:
        raise Error(f"cannot emit '{emit}': --emit takes {', '.join((*EMITTERS, SHADER))}")
    check_output(output, file)
    target = device(device_name or "sim:generic")
    if (explain or emit in OF_CHIPS) and isinstance(target, SimulatedDevice):
        target = target.real()
    program = _build(file, build_options(context), target, cache_dir, linked, values)
    made = program.optimized(level) if level else program
    _print_warnings(made.warnings[len(program.warnings):])
    explanation = made.explanation if explain else ""
    write_output(output, shader_of(made.module, kernel_name, target).spirv if emit == SHADER else EMITTERS[emit](made))
    if explain:
        print(explanation, file=sys.stderr if str(output) == "-" else sys.stdout)


# ------------------------------------------------------------------------ SPIR-V modules

app.command("as")(modules.assemble)
app.command("dis")(modules.disassemble)
app.command("val")(modules.validate)
app.command("opt", cls=BuildCommand)(transform.optimize)

# --------------------------------------------------------------------------------- cache


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove everything.")] = False,
    cache_dir: CacheFolder = None,
) -> None:
    """Show where compiled programs are kept and how much there is."""
    found = find_cache(cache_dir)
    if found.folder is None:
        print("the cache is off")
    elif clear:
        print(f"{found.folder}: removed {found.clear()}")
    else:
        print(f"{found.folder}: {found.usage()} of at most {found.max_bytes // 2**20} MiB")


# ----------------------------------------------------------------------------------- run


@app.command(cls=BuildCommand)
def run(
    context: typer.Context,
    file: Source,
    global_size: Annotated[str, typer.Option("--global", metavar="X[,Y[,Z]]", help="Number of work-items.")],
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="The kernel, if there are several.")] = None,
    local_size: Annotated[str | None, typer.Option(
        "--local", metavar="X[,Y[,Z]]", help="Work-items in a work-group; chosen if it is left out.")] = None,
    argument: Annotated[list[str] | None, typer.Option(
        "--arg", metavar="VALUE|null|FILE.npy|zeros:DTYPE:SHAPE|local:BYTES", help="The next argument.")] = None,
    out: Annotated[list[str] | None, typer.Option(
        "--out", metavar="INDEX=FILE.npy", help="Save argument INDEX (from 0) afterwards.")] = None,
    bounds: Annotated[bool, typer.Option(help="Report accesses outside of buffers.")] = True,
    explain: Annotated[bool, typer.Option("--explain", help="Say what the device chose, and why.")] = False,
    report: Annotated[Path | None, typer.Option(
        metavar="FILE.html|.json|.txt", help="Count what the launch does on a simulated device, and write a report; - "
        "prints it.")] = None,
    report_groups: Annotated[int | None, typer.Option(
        metavar="N", min=1, help="Run and count the first N work-groups only, for --report.")] = None,
    device_name: DeviceName = None,
    linked: Linked = None,
    values: Specialized = None,
    cache_dir: CacheFolder = None,
) -> None:
    """Run one kernel on a device, with arguments from the command line and files."""
    if report_groups is not None and report is None:
        raise LaunchError("--report-groups says how much of a launch is reported: it needs --report")
    target = device(device_name if report is None else device_name or DEFAULT_DEVICE)
    if any(one.name == "bounds" for one in fields(target.options)):
        target = device(target, options=replace(target.options, bounds=bounds))
    sizes = parse_sizes("--global", global_size), parse_sizes("--local", local_size) if local_size else None
    program = _build(file, build_options(context), target, cache_dir, linked, values)
    chosen = chosen_kernel(program, kernel)
    parameters = chosen.signature.parameters
    arguments = [parse_argument(text, parameters[index] if index < len(parameters) else None)
                 for index, text in enumerate(argument or ())]
    outputs = parse_outputs(out or [], arguments)
    if report is not None:
        _report(chosen, target, sizes, arguments, report, report_groups)
    else:
        with progress(f"running {chosen.name} on {target.name}"):
            event = Queue(target).enqueue(chosen, *sizes, *arguments).wait()
        print(f"{chosen.name} on {target.name}: {event.elapsed * 1e3:.1f} ms")
    save_outputs(outputs, arguments)
    if explain:
        print(*target.explanation(program.load(target)), sep="\n")


def _report(kernel: Kernel, target: Device, sizes: tuple[Any, Any], arguments: list[Any], output: Path,
            groups: int | None) -> None:
    """Run a launch, and write or print its report."""
    from coopmat.report.report import form_of

    if output != STANDARD_STREAM:
        form_of(output)
    with progress(f"counting what {kernel.name} does on {target.name}"):
        found = kernel.report(*sizes, *arguments, device=target, work_groups=groups)
    if output == STANDARD_STREAM:
        print(found.text(), end="")
    else:
        found.save(output)
        print(f"{found.kernel} on {found.device}: {output}")


app.command("debug", cls=BuildCommand)(debug.debug)


@app.command()
def demo(
    names: Annotated[str | None, typer.Option(
        "--devices", metavar="DEVICE,DEVICE...", help="As `coopmat devices` lists them; by default all.")] = None,
) -> None:
    """Classify handwritten digits with matrix kernels on every device, and check each result."""
    from coopmat.command_line import demo as demonstration

    chosen = devices() if names is None else [device(name.strip()) for name in names.split(",")]
    if not demonstration.run(chosen):
        sys.exit(1)
