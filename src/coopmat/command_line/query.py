"""``coopmat query``: what an architecture's matrices may be, as matrix_params answers it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

import coopmat
from coopmat.devices import Combination, DeviceDescription, describe
from coopmat.diagnostics import Error
from coopmat.support.terminal import console, table

if TYPE_CHECKING:
    from rich.table import Table


def query(
    architecture: Annotated[str, typer.Argument(metavar="ARCHITECTURE", help="Such as intel_gpu_pvc.")],
    a: Annotated[str | None, typer.Option("--a", metavar="TYPE", help="Element type of A, such as bf16.")] = None,
    b: Annotated[str | None, typer.Option("--b", metavar="TYPE", help="Element type of B.")] = None,
    c: Annotated[str | None, typer.Option("--c", metavar="TYPE", help="Element type of C.")] = None,
    d: Annotated[str | None, typer.Option("--d", metavar="TYPE", help="Element type of D; C's by default.")] = None,
    m: Annotated[int | None, typer.Option("-m", metavar="M", help="Rows of A, C and D.")] = None,
    n: Annotated[int | None, typer.Option("-n", metavar="N", help="Columns of B, C and D.")] = None,
    k: Annotated[int | None, typer.Option("-k", metavar="K", help="Columns of A, rows of B.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show an architecture's matrix combinations; with types for A, B and C the default sizes; validate sizes."""
    device = describe(architecture)
    for option, name in zip(("--a", "--b", "--c", "--d"), (a, b, c, d), strict=True):
        _check_type(option, name)
    if a is not None and b is not None and c is not None:
        _show_params(device, (a, b, c, d or c), (m, n, k), as_json)
    elif (m, n, k) != (None, None, None):
        raise Error("sizes are validated for types: give --a, --b and --c, too")
    else:
        _show_rows(device, (a, b, c, d), as_json)


def _check_type(option: str, name: str | None) -> None:
    from coopmat.runtime.element_types import BY_FORMAT

    if name is None or name in BY_FORMAT:
        return
    by_spelling = {text: known for known, type_ in BY_FORMAT.items() for text in (str(type_), type_.cpp)}
    close = difflib.get_close_matches(name, BY_FORMAT, n=1)
    meant = by_spelling.get(name) or (close[0] if close else None)
    hint = f"; did you mean '{meant}'?" if meant else ""
    raise Error(f"{option}: unknown element type '{name}'{hint} (known: {', '.join(BY_FORMAT)})")


# ------------------------------------------------------------------ combinations


def _show_rows(device: DeviceDescription, types: Sequence[str | None], as_json: bool) -> None:
    rows = [row for row in device.combinations
            if all(wanted in (None, found) for wanted, found in zip(types, row.types, strict=True))]
    if not rows and device.combinations:
        asked = ", ".join(f"{matrix}={name}" for matrix, name in zip("ABCD", types, strict=True) if name is not None)
        raise Error(f"{device.name} has no combination with {asked}; `coopmat query {device.name}` lists those that "
                    "it has")
    if as_json:
        print(json.dumps({"architecture": device.name, "matrix_combinations": [asdict(row) for row in rows]}, indent=1))
    else:
        console().print(combination_table(device.name, rows, "exact" if device.is_simulated else "some"))


def combination_table(title: str, rows: Sequence[Combination], otherwise: str = "exact") -> Table:
    """Combinations as a table; without any, what a device says that takes them all, ``otherwise`` in the last column.
    """
    result = table("A", "B", "C", "D", "M", "N", "K", "native", title=title)
    for row in rows:
        result.add_row(row.atype, row.btype, row.ctype, row.dtype, *_shape(row), "yes" if row.native else "decomposed")
    if not rows:
        result.add_row(*["any"] * 7, otherwise)
    return result


def _shape(row: Combination) -> list[str]:
    pairs = ((row.max_msize, row.msize), (row.max_nsize, row.nsize), (row.max_ksize, row.ksize))
    return [f"<= {largest}" if largest else str(exact) for largest, exact in pairs]


# ------------------------------------------------------------------ matrix_params


def _show_params(device: DeviceDescription, types: Sequence[str], sizes: Sequence[int | None], as_json: bool) -> None:
    from coopmat.runtime.element_types import BY_FORMAT

    for option, size in zip(("-m", "-n", "-k"), sizes, strict=True):
        if size is not None and size < 1:
            raise Error(f"{option} takes a size of 1 or more; found {size}")
    given = [size or 0 for size in sizes]
    found = coopmat.sycl.matrix_params(device.name, *(BY_FORMAT[name] for name in types), *given)
    matrices = _matrices(found)
    if as_json:
        print(json.dumps({"architecture": device.name,
                          **dict(zip(("atype", "btype", "ctype", "dtype"), types, strict=True)),
                          "M": found.M, "N": found.N, "K": found.K, **matrices}, indent=1))
        return
    print(f"M = {found.M}, N = {found.N}, K = {found.K}")
    for name, text in matrices.items():
        print(f"{name}: {text}")


def _matrices(found: coopmat.sycl.matrix_params) -> dict[str, str]:
    """The types to write; A and B may also be layout.col_major."""
    layout, sub_group = coopmat.sycl.layout, coopmat.sycl.sub_group
    made: dict[str, Any] = {
        "joint_matrix_a": found.joint_matrix_a(sub_group, layout.row_major),
        "joint_matrix_b": found.joint_matrix_b(sub_group, layout.row_major),
        "joint_matrix_c": found.joint_matrix_c(sub_group),
        "joint_matrix_d": found.joint_matrix_d(sub_group),
    }
    return {name: str(type_) for name, type_ in made.items()}
