"""``coopmat tune``: which values, options and sizes make a kernel fastest."""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from coopmat.command_line.arguments import load_array, parse_argument, parse_sizes, parse_value
from coopmat.command_line.expressions import expressions
from coopmat.command_line.options import CacheFolder, DeviceName, Linked, Source, build_options
from coopmat.diagnostics import CompileWarning, Error, LaunchError, render
from coopmat.runtime import Device, Kernel, Queue, device, local
from coopmat.spirv.module.literals import parse_integer
from coopmat.support.files import read_input, write_atomically
from coopmat.support.terminal import console
from coopmat.tuning.benchmark import REP, WARMUP
from coopmat.tuning.config import Config, product
from coopmat.tuning.report import Report
from coopmat.tuning.tuned import Tuned, autotune

STANDARD_INPUT = Path("-")


def tune(
    context: typer.Context,
    file: Source,
    global_size: Annotated[str, typer.Option(
        "--global", metavar="X[,Y[,Z]]", help="Number of work-items; expressions with the names of ranges, too.")],
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="The kernel, if there are several.")] = None,
    local_size: Annotated[str | None, typer.Option(
        "--local", metavar="X[,Y[,Z]]", help="Work-items in a work-group; expressions, too.")] = None,
    local_sizes: Annotated[list[str] | None, typer.Option(
        "--local-range", metavar="X[,Y[,Z]]", help="Try this size of work-groups (repeatable).")] = None,
    argument: Annotated[list[str] | None, typer.Option(
        "--arg", metavar="VALUE|null|FILE.npy|zeros:DTYPE:SHAPE|local:BYTES",
        help="The next argument; VALUE and BYTES may be expressions.")] = None,
    ranges: Annotated[list[str] | None, typer.Option(
        "--range", metavar="NAME=V,V...", help="Try these values of a macro (OpenCL C) or of a specialisation constant "
        "(SPIR-V, LLVM IR) (repeatable).")] = None,
    values: Annotated[list[str] | None, typer.Option(
        "--spec", metavar="ID|NAME=V,V...", help="Try these values of a specialisation constant (repeatable).")] = None,
    check: Annotated[list[str] | None, typer.Option(
        "--check", metavar="INDEX=FILE.npy", help="What argument INDEX must hold afterwards (repeatable).")] = None,
    bounds: Annotated[bool, typer.Option(help="Run each configuration once with checks for accesses outside of "
                                              "buffers.")] = True,
    flush: Annotated[bool, typer.Option(help="Empty the caches before each run.")] = True,
    warmup: Annotated[float, typer.Option(metavar="MS", help="Work before the times of a configuration.")] = WARMUP,
    rep: Annotated[float, typer.Option(metavar="MS", help="Work that is timed for each configuration.")] = REP,
    json_output: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Write JSON; - prints it.")] = None,
    csv_output: Annotated[Path | None, typer.Option("--csv", metavar="OUT", help="Write a table; - prints it.")] = None,
    device_name: DeviceName = None,
    linked: Linked = None,
    cache_dir: CacheFolder = None,
) -> None:
    """Time a kernel with every combination of values and sizes; print a table and the command that runs the fastest."""
    target = device(device_name)
    chosen = _ranges(file, ranges or [], values or [])
    names = list(chosen)
    sizes: list[Any] = [_sizes("--local-range", text, names) for text in local_sizes or []]
    if sizes and local_size:
        raise LaunchError("--local is one size, --local-range are several: give one of them")
    whole = _sizes("--global", global_size, names)
    part = _sizes("--local", local_size, names) if local_size else None
    tuned: Tuned = autotune(
        [Config(one, local_size=size) for one in product(chosen) for size in sizes or [None]], kernel=kernel,
        source=read_input() if file == STANDARD_INPUT else file, options=build_options(context), link=linked or (),
        check=_expected(check or []) or None, warmup=warmup, rep=rep, flush=flush, bounds=bounds, cache_dir=cache_dir)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        one = tuned.kernel(target)
        arguments = _arguments(argument or [], one, names)
        Queue(target).enqueue(tuned, whole, part, *arguments).wait()
    if one.program.warnings:
        print(render(one.program.warnings), file=sys.stderr)
    fixed = [*build_options(context), *(word for path in linked or () for word in ("--link", str(path)))]
    _print(tuned.report, json_output, csv_output, _command(file, one, target, tuned, fixed, argument or []))


def _print(report: Report, json_output: Path | None, csv_output: Path | None, command: str) -> None:
    for path, text in ((json_output, report.json_text), (csv_output, report.to_csv)):
        if path is not None and path != STANDARD_INPUT:
            write_atomically(path, text().encode())
    if json_output == STANDARD_INPUT:
        print(report.json_text(), end="")
    elif csv_output == STANDARD_INPUT:
        print(report.to_csv(), end="")
    else:
        console().print(report)
        print(f"\nfastest: {report.best.config}\n{command}")


def _command(file: Path, kernel: Kernel, target: Device, tuned: Tuned, fixed: list[str], arguments: list[str]) -> str:
    """The command that runs the fastest configuration."""
    best = tuned.report.best
    assert best.global_size is not None
    assert best.local_size is not None
    is_opencl_c = file == STANDARD_INPUT or file.suffix == ".cl"
    words = ["coopmat", "run", str(file), "--kernel", kernel.name, "--device", target.name,
             "--global", ",".join(map(str, best.global_size)), "--local", ",".join(map(str, best.local_size)), *fixed]
    for name, value in best.config.values.items():
        words += [f"-D{name}={value}"] if is_opencl_c else ["--spec", f"{name}={value}"]
    names = list(best.config.values)
    for text in arguments:
        words += ["--arg", _resolved(text, names, best.config.values)]
    if not getattr(target.options, "bounds", True):
        words.append("--no-bounds")
    return shlex.join(words)


# ------------------------------------------------------------------------------- ranges


def _ranges(file: Path, ranges: list[str], specialized: list[str]) -> dict[str | int, list[Any]]:
    """--range and --spec as names to values."""
    is_opencl_c = file == STANDARD_INPUT or file.suffix == ".cl"
    if specialized and is_opencl_c:
        raise Error(f"{file} is OpenCL C, which has no specialisation constants: define a macro instead, with --range "
                    f"{specialized[0]}")
    found: dict[str | int, list[Any]] = {}
    for option, texts in (("--range", ranges), ("--spec", specialized)):
        for text in texts:
            name, equals, listed = text.partition("=")
            parts = listed.split(",")
            if not equals or not name or not all(parts):
                raise LaunchError(f"{option} {text}: expected a name and its values, such as TILE=16,32,64")
            number = None if is_opencl_c else parse_integer(name)
            key = name if number is None else number
            if key in found:
                raise LaunchError(f"{option} {text}: {name} has values already")
            found[key] = [_macro(part) if is_opencl_c else parse_value(text, part) for part in parts]
    return found


def _macro(text: str) -> int | str:
    """The value of a macro: a number for expressions, where it is written as one."""
    return int(text) if re.fullmatch("0|-?[1-9][0-9]{0,17}", text) else text


def _sizes(option: str, text: str, names: list[Any]) -> Any:
    """Sizes, or a function of the configuration that gives them."""
    if re.fullmatch(r"[0-9,\s]*", text):
        return parse_sizes(option, text)
    compute = expressions(option, text, names)
    return lambda config, _: compute(config.values)


def _arguments(texts: list[str], kernel: Kernel, names: list[Any]) -> list[Any]:
    parameters = kernel.signature.parameters
    return [_argument(text, names, parameters[index] if index < len(parameters) else None)
            for index, text in enumerate(texts)]


def _argument(text: str, names: list[Any], parameter: Any) -> Any:
    """The value of --arg, or a function of the configuration that gives it."""
    if not _is_expression(text, names):
        return parse_argument(text, parameter)
    compute = _computed(text, names)
    if text.startswith("local:"):
        return lambda config, _: local(compute(config.values))
    return lambda config, _: compute(config.values)


def _is_expression(text: str, names: list[Any]) -> bool:
    """Whether it names a range, where a number or a size may stand."""
    if text.endswith(".npy") or text.startswith("zeros:"):
        return False
    return any(word in names for word in re.findall(r"[^\W\d]\w*", text.removeprefix("local:")))


def _computed(text: str, names: list[Any]) -> Callable[[Any], int]:
    compute = expressions("--arg", text.removeprefix("local:"), names)

    def one(values: Any) -> int:
        found = compute(values)
        if len(found) != 1:
            raise LaunchError(f"--arg {text}: expected one number")
        return found[0]

    return one


def _resolved(text: str, names: list[Any], values: Any) -> str:
    """--arg for one configuration."""
    if not _is_expression(text, names):
        return text
    prefix = "local:" if text.startswith("local:") else ""
    return f"{prefix}{_computed(text, names)(values)}"


def _expected(texts: list[str]) -> dict[int, Any]:
    """--check as argument index → array."""
    found: dict[int, Any] = {}
    for text in texts:
        index, equals, name = text.partition("=")
        if not equals or not re.fullmatch("[0-9]{1,9}", index) or not name.endswith(".npy"):
            raise LaunchError(f"--check {text}: expected INDEX=FILE.npy, such as 2=c.npy")
        found[int(index)] = load_array(Path(name), None)
    return found
