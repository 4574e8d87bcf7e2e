"""``coopmat probe``: the properties of a device's arithmetic that experiments show, beside the model's claims."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coopmat.devices.model import Combination
from coopmat.devices.operands import types_text
from coopmat.diagnostics import Error
from coopmat.formats import format_of
from coopmat.runtime import Device, device
from coopmat.support.terminal import console, progress, table

if TYPE_CHECKING:
    from rich.table import Table

    from coopmat.probing import Property

Types = tuple[str, str, str, str]
Shape = tuple[int, int, int]
Sizes = tuple[int | None, int | None, int | None]
Case = tuple[Types, Shape]

MOST_SIZE = 256  # of M, N and K: the experiments are some thousand matrices
# What is probed on a device without a table, if nothing else is asked for.
DEFAULTS: tuple[Case, ...] = (
    (("fp16", "fp16", "fp32", "fp32"), (16, 16, 16)), (("fp16", "fp16", "fp16", "fp16"), (16, 16, 16)),
    (("bf16", "bf16", "fp32", "fp32"), (16, 16, 16)), (("tf32", "tf32", "fp32", "fp32"), (16, 16, 8)),
    (("fp64", "fp64", "fp64", "fp64"), (8, 8, 4)), (("sint8", "sint8", "sint32", "sint32"), (16, 16, 32)),
    (("uint8", "uint8", "sint32", "sint32"), (16, 16, 32)),
)


def probe(
    name: Annotated[str, typer.Argument(metavar="DEVICE", help="As `coopmat devices` lists it.")],
    a: Annotated[str | None, typer.Option("--a", metavar="TYPE", help="Element type of A, such as bf16.")] = None,
    b: Annotated[str | None, typer.Option("--b", metavar="TYPE", help="Element type of B.")] = None,
    c: Annotated[str | None, typer.Option("--c", metavar="TYPE", help="Element type of C.")] = None,
    d: Annotated[str | None, typer.Option("--d", metavar="TYPE", help="Element type of D.")] = None,
    m: Annotated[int | None, typer.Option("-m", metavar="M", help="Rows of A, C and D.")] = None,
    n: Annotated[int | None, typer.Option("-n", metavar="N", help="Columns of B, C and D.")] = None,
    k: Annotated[int | None, typer.Option("-k", metavar="K", help="Columns of A, rows of B.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    export: Annotated[Path | None, typer.Option(
        metavar="FILE.npz", help="Write the experiments into a file instead of running them.")] = None,
    results: Annotated[Path | None, typer.Option(
        metavar="FILE.npz", help="Read what a chip made of exported experiments, instead of running them.")] = None,
) -> None:
    """Find out how a device adds and rounds, and compare it with its model; exit with 1 if a property differs.

    Without types, every combination of types that the device has.
    """
    if export is not None and (results is not None or as_json):
        raise Error(f"--export only writes a file: leave out {'--json' if results is None else '--results'}")
    target = device(name)
    types, sizes = (a, b, c, d), (m, n, k)
    _check(types, sizes)
    if results is not None:
        reports = _reported(target, results, types, sizes)
    else:
        cases = list(_cases(target, types, sizes))
        if export is not None:
            _export(target, cases, export)
            return
        reports = (_probed(target, *case) for case in cases)
    if not _show(target, reports, as_json):
        sys.exit(1)


def _check(types: Sequence[str | None], sizes: Sizes) -> None:
    for option, name in zip("abcd", types, strict=True):
        if name is not None:
            try:
                format_of(name)
            except Error as error:
                raise Error(f"--{option}: {error}") from None
    for option, size in zip("mnk", sizes, strict=True):
        if size is not None and size < 1:
            raise Error(f"-{option} takes a size of 1 or more; found {size}")
        if size is not None and size > MOST_SIZE:
            raise Error(f"-{option} takes a size of at most {MOST_SIZE}, as all rows and all columns are alike; found "
                        f"{size}")


# ------------------------------------------------------------------ what is probed


def _cases(target: Device, types: Sequence[str | None], sizes: Sizes) -> Iterator[Case]:
    """For each combination of types that was asked for the shape with the largest K, and of those the smallest."""
    if not target.has_matrices:
        raise Error(f"{target.name} has no matrices, as its driver has no sub-groups")
    own = target.own_matrices
    if target.description.any_combination and not own:
        yield from _any_cases(types, sizes)
        return
    rows = [row for row in own or target.matrix_combinations
            if _fits(types, row.types) and row.supports_sizes(*sizes)]
    if not rows:
        asked = [f"{matrix}={given}" for matrix, given in zip("ABCDMNK", [*types, *sizes], strict=True)
                 if given is not None]
        raise Error(f"{target.name} has no matrices with {', '.join(asked)}; `coopmat devices {target.name}` lists "
                    "those that it has")
    for wanted in dict.fromkeys(row.types for row in rows):
        yield wanted, min((_shape(row, sizes) for row in rows if row.types == wanted),
                          key=lambda shape: (-shape[2], shape[0] * shape[1]))


def _any_cases(types: Sequence[str | None], sizes: Sizes) -> Iterator[Case]:
    """Where every combination is possible: the one that was asked for, or those of the defaults that fit."""
    a, b, c, d = types
    chosen = [case for case in DEFAULTS if _fits(types, case[0])]
    if a is not None and c is not None:
        wanted = (a, b or a, c, d or c)
        chosen = [next((case for case in DEFAULTS if case[0] == wanted), (wanted, (16, 16, 16)))]
    if not chosen:
        raise Error("give the types of A and C, too: --a and --c (B has that of A, D that of C by default)")
    for found, shape in chosen:
        m, n, k = (size or default for size, default in zip(sizes, shape, strict=True))
        yield found, (m, n, k)


def _fits(asked: Sequence[str | None], found: Sequence[str]) -> bool:
    return all(wanted in (None, have) for wanted, have in zip(asked, found, strict=True))


def _shape(row: Combination, sizes: Sizes) -> Shape:
    m, n, k = (size or largest for size, largest in zip(sizes, row.largest, strict=True))
    return m, n, k


# ------------------------------------------------------------------ probing


Report = tuple[Types, Shape, list["Property"]]


def _probed(target: Device, types: Types, shape: Shape) -> Report:
    from coopmat.probing import probe as run
    from coopmat.probing import setup_of
    from coopmat.probing.kernels import multiplier

    m, n, k = shape
    setup = setup_of(types, k)
    with progress(f"probing {types_text(*types)} on {target.name}"):
        return _beside_claims(target, types, shape, lambda: run(multiplier(target, types, shape), setup, m, n))


def _reported(target: Device, path: Path, types: Sequence[str | None], sizes: Sizes) -> Iterator[Report]:
    """The report about a chip's results."""
    from coopmat.probing import found, setup_of
    from coopmat.probing.files import read_results

    of_file, shape, d = read_results(path)
    for name, asked, has in zip("ABCDMNK", [*types, *sizes], [*of_file, *shape], strict=True):
        if asked not in (None, has):
            raise Error(f"'{path}' has results for {name}={has}, not {asked}")
    yield _beside_claims(target, of_file, shape, lambda: found(setup_of(of_file, shape[2]), d))


def _beside_claims(target: Device, types: Types, shape: Shape, seen: Callable[[], dict[str, str]]) -> Report:
    from coopmat.probing import claims, compare, setup_of

    return types, shape, compare(seen(), claims(target.architecture, setup_of(types, shape[2])))


def _export(target: Device, cases: list[Case], path: Path) -> None:
    from coopmat.probing.files import write_experiments

    if len(cases) > 1:
        raise Error("--export takes one combination of types: choose one with --a, --b, --c and --d; "
                    f"{target.name} has {'; '.join(types_text(*types) for types, _ in cases)}")
    write_experiments(path, *cases[0])


# ------------------------------------------------------------------ output


def _show(target: Device, reports: Iterator[Report], as_json: bool) -> bool:
    """Print the reports one after the other; whether every property is as claimed."""
    shown = []
    for types, shape, properties in reports:
        shown.append(_as_json(types, shape, properties))
        if not as_json:
            console().print(_table(target, types, shape, properties))
    agrees = all(each["agrees"] for report in shown for each in report["properties"])
    if as_json:
        print(json.dumps({"device": target.name, "agrees": agrees, "reports": shown}, indent=1))
    else:
        print(_summary(target, shown))
    return agrees


def _summary(target: Device, shown: list[dict[str, Any]]) -> str:
    found = [each for report in shown for each in report["properties"]]
    differing = sum(not each["agrees"] for each in found)
    if not any(each["claimed"] for each in found):
        return f"there is no model of these types on {target.name}: nothing to compare with"
    if differing:
        return f"{differing} of {len(found)} properties differ from the model's claims"
    return f"{len(found)} properties are as the model claims"


def _as_json(types: Types, shape: Shape, properties: list[Property]) -> dict[str, Any]:
    names = ("atype", "btype", "ctype", "dtype", "M", "N", "K")
    return {**dict(zip(names, [*types, *shape], strict=True)),
            "properties": [{"property": each.name, "found": each.found, "claimed": each.claimed or None,
                            "agrees": each.agrees} for each in properties]}


def _table(target: Device, types: Types, shape: Shape, properties: list[Property]) -> Table:
    from rich.text import Text

    m, n, k = shape
    title = f"{target.name}: {types_text(*types)}, M={m} N={n} K={k}"
    result = table("property", "found", "claimed", title=title)
    result.min_width = len(title)  # a title wider than its table would be wrapped
    for column in result.columns[1:]:
        column.no_wrap = False
    for each in properties:
        claim = Text(each.claimed or "no claim") if each.agrees else Text(f"DIFFERS: {each.claimed}", "bold red")
        result.add_row(each.name, Text(each.found), claim)
    return result
