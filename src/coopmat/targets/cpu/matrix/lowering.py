"""The form that matrices take on the hardware at hand, put into a kernel's optimised IR.

Matrix types for which AMX has the multiply-accumulate live in tiles; all others are plain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix import reuse
from coopmat.targets.cpu.matrix.amx import PITCH, TILE, Call, Shape, Tiles, conversions, is_direct, tile_kinds
from coopmat.targets.cpu.matrix.body import is_large, plain_type
from coopmat.targets.cpu.matrix.component_loops import ComponentLoops
from coopmat.targets.cpu.matrix.large import COPY, ZEROS, LargeValues
from coopmat.targets.cpu.matrix.operations import Operation, matrix_type, slot_bytes, slot_type
from coopmat.targets.cpu.matrix.plain import Definition, definition
from coopmat.targets.cpu.matrix.text import CALL, move_of, operands_of
from coopmat.targets.llvm.writer import METADATA

Features = frozenset[str]

_UNDEFINED = re.compile(r"(?<=\[ )(?:undef|poison|zeroinitializer)(?=,)")


class Lowered(NamedTuple):
    """IR without matrices, and the bytes that large ones need on a sub-group's stack."""

    ir: str
    stack_bytes: int


def lower(ir: str, operations: Mapping[str, Operation], features: Features, *, stay_in_tiles: bool = True) -> Lowered:
    """The IR with every matrix type and operation in the form that the features allow. ``stay_in_tiles``: matrices that
    AMX multiplies live in tiles; otherwise each multiplication puts them there."""
    loops = ComponentLoops(operations)
    ir = "\n".join(line for function in _functions(ir.splitlines()) for line in loops.rewritten(function))
    operations = loops.operations
    kinds = dict.fromkeys(kind for operation in operations.values() for kind in (*operation.operands, operation.result)
                          if kind is not None)
    names = {matrix_type(kind): kind for kind in kinds}
    tiles = Tiles(tile_kinds(operations.values(), features), names, features, stay=stay_in_tiles)
    large = LargeValues({name: kind for name, kind in names.items() if is_large(kind)})
    for kind in kinds:
        ir = ir.replace(slot_type(kind), f"[{slot_bytes(kind)} x i8]")
    lines = [line for function in _functions(ir.splitlines())
             for line in large.rewritten(_rewritten(function, operations, tiles))]
    text = "\n".join(lines)
    for name, kind in names.items():
        text = text.replace(name, plain_type(kind))
    if ZEROS in text:
        text += f"\n{ZEROS} = internal constant [{max(large.sizes.values())} x i8] zeroinitializer, align 64"
    functions = {name: definition(name, operation, features) for name, operation in operations.items()
                 if f"@{name}(" in text or name in tiles.keepers}
    frame_bytes = max((one.frame_bytes for one in functions.values()), default=0)
    definitions = _definitions(functions, operations, features, tiles, text)
    return Lowered("\n".join([text, *definitions]), large.bytes + loops.bytes + frame_bytes)


def _functions(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each function, and those between them."""
    part: list[str] = []
    for line in lines:
        if line.startswith("define "):
            yield part
            part = []
        part.append(line)
        if line == "}":
            yield part
            part = []
    yield part


def _rewritten(lines: list[str], operations: Mapping[str, Operation], tiles: Tiles) -> list[str]:
    """A function whose tiles are tiles; its plain matrices follow by a replacement of their types."""
    lines = _with_own_zeros(lines, operations, tiles)
    tiles.slots = []
    tiles.passing = _passing(lines, operations, tiles)
    result: list[str] = []
    for line in lines:
        if line.startswith("declare ") and "@matrix." in line:
            continue
        result += _line(line, operations, tiles)
    if tiles.slots:
        start = next(number for number, line in enumerate(result) if line.startswith("define ")) + 1
        if result[start].rstrip().endswith(":") or re.match(r"[\w.\"$-]+:", result[start]):
            start += 1
        result[start:start] = tiles.slots
    return result


def _with_own_zeros(lines: list[str], operations: Mapping[str, Operation], tiles: Tiles) -> list[str]:
    """The lines with a tile of zeros for each use of one: LLVM copies tiles through memory."""
    definitions = {}
    for place, line in enumerate(lines):
        found = CALL.match(line)
        if found and tiles.is_zero(operations[found[3]], operands_of(found[4])):
            definitions[place] = found[1]
    if not definitions:
        return lines
    copies: dict[str, list[str]] = {name: [] for name in definitions.values()}
    pattern = re.compile(f"(?:{'|'.join(map(re.escape, copies))})(?![\\w.$-])")

    def own(use: re.Match[str]) -> str:
        copies[use[0]].append(f"{use[0]}.zero.{len(copies[use[0]])}")
        return copies[use[0]][-1]

    rewritten = [line if place in definitions else pattern.sub(own, line) for place, line in enumerate(lines)]
    result: list[str] = []
    for place, line in enumerate(rewritten):
        if place in definitions:
            result += [line.replace(definitions[place], copy, 1) for copy in copies[definitions[place]]]
        else:
            result.append(line)
    return result


def _passing(lines: list[str], operations: Mapping[str, Operation], tiles: Tiles) -> set[str]:
    """The matrices that are only loaded and stored, one way or the other not as a tile is: they need no tile."""
    made: dict[str, bool] = {}
    stores: dict[str, int] = {}
    uses: dict[str, int] = {}
    for line in lines:
        found = CALL.match(line)
        for name in set(re.findall(r"%[\w.$-]+", line.split(" = ", 1)[-1])):
            uses[name] = uses.get(name, 0) + 1
        if not found:
            continue
        operation = operations[found[3]]
        if operation.name == "load" and operation.result is not None:
            made[found[1]] = is_direct(operation.result, operation.detail[0])
        elif operation.name == "store":
            value = operands_of(found[4])[0].split()[-1]
            stores[value] = stores.get(value, 0) + 1
            if value in made:
                made[value] &= is_direct(operation.operands[0], operation.detail[0])
    return {name for name, as_tiles in made.items() if not as_tiles and stores.get(name, 0) == uses.get(name, 0) > 0}


def _line(line: str, operations: Mapping[str, Operation], tiles: Tiles) -> list[str]:
    found = CALL.match(line)
    if found:
        operation, operands = operations[found[3]], tuple(operands_of(found[4]))
        kinds = (*operation.operands, operation.result)
        if any(kind in tiles.kinds for kind in kinds) and not _passes(found, operation, operands, tiles):
            return tiles.operation(operation, Call(found[1], found[3], operands))
        if operation.name == "multiply" and tiles.shapes and not tiles.kinds:
            return tiles.multiply_in_tiles(operation, Call(found[1], found[3], operands)) or [line]
        return [line]
    for name, kind in tiles.types.items():
        if name in line and kind in tiles.kinds:
            return _moved(line, name, kind, tiles)
    return [line]


def _passes(found: re.Match[str], operation: Operation, operands: tuple[str, ...], tiles: Tiles) -> bool:
    """Whether a call moves a matrix that needs no tile."""
    return operation.name in ("load", "store") and bool(
        tiles.passing & {found[1] or "", operands[0].split()[-1]})


def _moved(line: str, name: str, kind: MatrixType, tiles: Tiles) -> list[str]:
    """A line that has a tile and is no operation: a phi, a choice, a load or store of a variable."""
    move, operands = move_of(line, name)
    return _MOVES[move](tiles, tiles.kinds[kind], *operands)


def _phi(tiles: Tiles, shape: Shape, result: str, sources: str) -> list[str]:
    if _UNDEFINED.search(sources):
        zero = tiles.fresh()
        tiles.slots.append(tiles.zero(zero, shape))
        sources = _UNDEFINED.sub(zero, sources)
    return [f"  {result} = phi {TILE} {sources}"]


def _load(tiles: Tiles, shape: Shape, result: str, address: str) -> list[str]:
    return [tiles.load(result, shape, f"ptr {address}", f"i64 {PITCH}")]


def _store(tiles: Tiles, shape: Shape, tile: str, address: str) -> list[str]:
    return tiles.stored(tile, shape, f"ptr {address}")


def _select(tiles: Tiles, shape: Shape, result: str, condition: str, *operands: str) -> list[str]:
    """Tiles cannot be chosen from: the addresses of both in memory can."""
    slots, chosen = (tiles.slot(), tiles.slot()), tiles.fresh()
    stores = [line for slot, tile in zip(slots, operands, strict=True)
              for line in tiles.stored(tile, shape, f"ptr {slot}")]
    return [*stores, f"  {chosen} = select i1 {condition}, ptr {slots[0]}, ptr {slots[1]}",
            tiles.load(result, shape, f"ptr {chosen}", f"i64 {PITCH}")]


def _freeze(tiles: Tiles, shape: Shape, result: str, tile: str) -> list[str]:
    slot = tiles.slot()
    return [*tiles.stored(tile, shape, f"ptr {slot}"), tiles.load(result, shape, f"ptr {slot}", f"i64 {PITCH}")]


_MOVES: dict[str, Callable[..., list[str]]] = {
    "phi": _phi, "load": _load, "store": _store, "select": _select, "freeze": _freeze}
"""How tiles are moved beside operations."""


def _definitions(functions: Mapping[str, Definition], operations: Mapping[str, Operation], features: Features,
                 tiles: Tiles, text: str) -> list[str]:
    """The functions that are still called, and what they and the tiles need declared."""
    declared = {line.split("@", 1)[1].split("(", 1)[0] for line in text.splitlines() if line.startswith("declare ")}
    found = [one.text for one in functions.values()]
    needed = {name: line for one in functions.values() for name, line in one.declarations.items()}
    for number, (load, keeper) in enumerate(tiles.keepers.items()):
        kind = operations[load].result
        assert kind is not None
        found.append(reuse.function(keeper, load, plain_type(kind), tiles.converter(kind), number))
    for kind, name in tiles.converters.items():
        found.append(conversions(name, kind, features))
    for line in [*tiles.declarations, COPY]:
        needed[line.split("@", 1)[1].split("(", 1)[0]] = line
    return [*found, *(line for name, line in needed.items() if name not in declared), METADATA]
