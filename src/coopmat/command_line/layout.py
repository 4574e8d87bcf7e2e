"""``coopmat layout``: which lane, component and register holds which element of a matrix."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coopmat.diagnostics import Error
from coopmat.support.files import write_atomically

if TYPE_CHECKING:
    from coopmat.layout import DeviceMatrix

FORMATS: dict[str, Callable[[DeviceMatrix], str]] = {
    "text": lambda matrix: str(matrix),
    "svg": lambda matrix: matrix.to_svg(),
    "html": lambda matrix: matrix.to_html(),
    "json": lambda matrix: matrix.to_json(),
}
"""What --format takes, and how a matrix gives it. A file's name may end in .svg, .html or .json instead."""


def layout(
    device: Annotated[str, typer.Argument(metavar="DEVICE", help="Such as sim:intel_gpu_pvc.")],
    use: Annotated[str, typer.Option("--use", metavar="a|b|accumulator", help="Which matrix of D = A*B + C.")],
    element_type: Annotated[str, typer.Option("--type", metavar="TYPE", help="Its element type, such as bf16.")],
    m: Annotated[int, typer.Option("-m", metavar="M", help="Rows of A, C and D.")],
    n: Annotated[int, typer.Option("-n", metavar="N", help="Columns of B, C and D.")],
    k: Annotated[int, typer.Option("-k", metavar="K", help="Columns of A, rows of B.")],
    sub_group_size: Annotated[int | None, typer.Option(
        "--sub-group-size", metavar="S", help="The device's first one by default.")] = None,
    form: Annotated[str | None, typer.Option(
        "--format", metavar="|".join(FORMATS), help="By default what FILE's name ends in, or text.")] = None,
    output: Annotated[Path | None, typer.Option("-o", metavar="FILE", help="Write this file.")] = None,
) -> None:
    """Show which lane, component, register and bits hold each element of a device's matrix."""
    chosen = _format(form, output)
    from coopmat.layout import of

    shown = FORMATS[chosen](of(device, use=use, type=element_type, m=m, n=n, k=k, sub_group_size=sub_group_size))
    if output is None:
        sys.stdout.write(shown)
    else:
        write_atomically(output, shown.encode())


def _format(given: str | None, output: Path | None) -> str:
    if given is None:
        ending = output.suffix.removeprefix(".") if output else ""
        return ending if ending in FORMATS else "text"
    if given in FORMATS:
        return given
    close = difflib.get_close_matches(given.lower(), FORMATS, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise Error(f"unknown format '{given}'{hint} (--format takes {', '.join(FORMATS)})")
