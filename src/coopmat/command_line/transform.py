"""``coopmat opt``: SPIR-V to SPIR-V, by passes that the user chooses or by the usual ones."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from coopmat.command_line.modules import read_or_compile
from coopmat.command_line.options import build_options
from coopmat.command_line.shaders import interface, shader_of
from coopmat.diagnostics import Error, ValidationError, render
from coopmat.runtime import device
from coopmat.spirv import Module
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.from_shader.kernels import to_kernels
from coopmat.spirv.transform.goal import Goal
from coopmat.support.files import check_output, write_output

TEXT_SUFFIX = ".spvasm"
SIZES = 3  # M, N and K, or X, Y and Z
KNOWN = "; ".join(f"{one.name}: {one.summary}" for one in passes.PASSES)


def optimize(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="SPIR-V as binary or text (- for standard input), "
                                         "OpenCL C (.cl), LLVM IR (.ll).")],
    output: Annotated[Path, typer.Option("-o", metavar="OUT", help="The file to write, as text if its name ends in "
                                         ".spvasm, or - for standard output.")],
    names: Annotated[str | None, typer.Option("--passes", metavar="A,B,…", help="These passes in this order. "
                                              f"{KNOWN}.")] = None,
    device_name: Annotated[str | None, typer.Option("--device", metavar="DEVICE", help="Cut large matrices into those "
                                                    "that this device has.")] = None,
    tile: Annotated[str | None, typer.Option(metavar="M,N,K", help="Cut large matrices into these sizes instead.")
                    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="vulkan|kernel", help="Make a Vulkan compute shader of a "
                                           "kernel, for what --device has if that is one of Vulkan; -v prints how it "
                                           "is launched. Or make kernels of compute shaders, before the passes.")
                  ] = None,
    kernel: Annotated[str | None, typer.Option("--kernel", metavar="NAME", help="The kernel for --to.")] = None,
    merge: Annotated[str | None, typer.Option(metavar="RxC", help="How many work-groups the pass merge makes one, down "
                                              "and across; 2x2 where nobody says.")] = None,
    work_group: Annotated[str | None, typer.Option(metavar="X,Y,Z", help="The work-items of a work-group of the "
                                                   "kernels that require no size, which the pass merge must know.")
                          ] = None,
    verbose: Annotated[bool, typer.Option("-v", help="Print what each pass did, and what it did not and why.")] = False,
) -> None:
    """Transform a module of kernels, SPIR-V to SPIR-V."""
    chosen = passes.usual() if names is None else passes.chosen([name.strip() for name in names.split(",") if name])
    if to not in (None, "vulkan", "kernel"):
        raise Error(f"--to takes vulkan or kernel; found '{to}'")
    chosen = [] if to is not None and names is None else chosen
    target = device(device_name) if device_name is not None else None
    goal = Goal(None if target is None else target.description,
                None if tile is None else _three("--tile", "M, N and K", tile), merge=_factors(merge),
                work_group=None if work_group is None else _three("--work-group", "X, Y and Z", work_group))
    check_output(output, file)
    module, warnings = read_or_compile(file, build_options(context))
    if warnings:
        print(render(warnings), file=sys.stderr)
    try:
        module = to_kernels(module) if to == "kernel" else module
        changed, notes = passes.transform(module, chosen, goal)
        shader = shader_of(changed, kernel, target) if to == "vulkan" else None
    except ValidationError as error:
        raise error.in_file(str(file)) from None
    if verbose:
        print(*notes, *([] if shader is None else [interface(shader)]), sep="\n", file=sys.stderr)
    if shader is not None:
        changed = Module.from_bytes(shader.spirv)
    is_text = output.suffix == TEXT_SUFFIX
    write_output(output, changed.to_text(friendly_names=True).encode("utf-8", "surrogateescape") if is_text
                 else changed.to_bytes())


def _three(option: str, what: str, text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if len(parts) != SIZES or not all(re.fullmatch("[1-9][0-9]{0,4}", part.strip()) for part in parts):
        raise Error(f"{option} takes {what} such as 16,16,16; found '{text}'")
    x, y, z = map(int, parts)
    return x, y, z


def _factors(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})", text.strip())
    if found is None:
        raise Error(f"--merge takes how many work-groups become one, down and across, such as 2x2; found '{text}'")
    return int(found[1]), int(found[2])
