"""The form that matrices take on the hardware at hand, put into a kernel's optimised IR.

Matrix types for which AMX has the multiply-accumulate live in tiles; all others are plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from coopmat.diagnostics import Error
from coopmat.spirv.types import MatrixType
from coopmat.targets.cpu.matrix import plain
from coopmat.targets.cpu.matrix.amx import PITCH, TILE, Call, Tiles, conversions, is_direct, tile_kinds
from coopmat.targets.cpu.matrix.operations import Operation, matrix_type, slot_bytes, slot_type

Features = frozenset[str]

_CALL = re.compile(r"\s*(?:(%\S+) = )?(?:tail |musttail |notail )?call .*?@(matrix\.\w+\.\d+)\((.*)\)"
                   r"(?: #\d+)?(?:, ![\w.]+ !\d+)*$")
_ATTRIBUTES = re.compile(r" (?:noundef|nonnull|nocapture|readonly|captures\(none\)|noalias|writeonly)(?= )")
_METADATA = re.compile(r"(?:, ![\w.]+ !\d+)+$")
_UNDEFINED = re.compile(r"(?<=\[ )(?:undef|poison|zeroinitializer)(?=,)")


def lower(ir: str, operations: Mapping[str, Operation], features: Features) -> str:
    """The IR with every matrix type and operation in the form that the features allow."""
    kinds = dict.fromkeys(kind for operation in operations.values() for kind in (*operation.operands, operation.result)
                          if kind is not None)
    names = {matrix_type(kind): kind for kind in kinds}
    tiles = Tiles(tile_kinds(operations.values(), features), names, features)
    for kind in kinds:
        ir = ir.replace(slot_type(kind), f"[{slot_bytes(kind)} x i8]")
    lines = [line for function in _functions(ir.splitlines()) for line in _rewritten(function, operations, tiles)]
    text = "\n".join(lines)
    for name, kind in names.items():
        text = text.replace(name, plain.plain_type(kind))
    return "\n".join([text, *_definitions(operations, features, tiles, text)])


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


def _passing(lines: list[str], operations: Mapping[str, Operation], tiles: Tiles) -> set[str]:
    """The matrices that are only loaded and stored, one way or the other not as a tile is: they need no tile."""
    made: dict[str, bool] = {}
    stores: dict[str, int] = {}
    uses: dict[str, int] = {}
    for line in lines:
        found = _CALL.match(line)
        for name in set(re.findall(r"%[\w.$-]+", line.split(" = ", 1)[-1])):
            uses[name] = uses.get(name, 0) + 1
        if not found:
            continue
        operation = operations[found[2]]
        if operation.name == "load" and operation.result is not None:
            made[found[1]] = is_direct(operation.result, operation.detail[0])
        elif operation.name == "store":
            value = _split(found[3])[0].split()[-1]
            stores[value] = stores.get(value, 0) + 1
            if value in made:
                made[value] &= is_direct(operation.operands[0], operation.detail[0])
    return {name for name, as_tiles in made.items() if not as_tiles and stores.get(name, 0) == uses.get(name, 0) > 0}


def _line(line: str, operations: Mapping[str, Operation], tiles: Tiles) -> list[str]:
    found = _CALL.match(line)
    if found:
        operation = operations[found[2]]
        operands = tuple(_ATTRIBUTES.sub("", one.strip()) for one in _split(found[3]))
        kinds = (*operation.operands, operation.result)
        if any(kind in tiles.kinds for kind in kinds) and not _passes(found, operation, operands, tiles):
            return tiles.operation(operation, Call(found[1], found[2], operands))
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
    shape, text = tiles.kinds[kind], _METADATA.sub("", line.strip())
    if " = phi " in text:
        if _UNDEFINED.search(text):
            zero = tiles.fresh()
            tiles.slots.append(tiles.zero(zero, shape))
            text = _UNDEFINED.sub(zero, text)
        return [f"  {text.replace(name, TILE)}"]
    match = re.match(rf"(%\S+) = load {re.escape(name)}, (ptr [^,]+)", text)
    if match:
        return [tiles.load(match[1], shape, match[2], f"i64 {PITCH}")]
    match = re.match(rf"store {re.escape(name)} (\S+), (ptr [^,]+)", text)
    if match:
        return tiles._with_tiles([f"{name} {match[1]}"], lambda texts: [
            tiles.store(texts[0], shape, match[2], f"i64 {PITCH}")])
    match = re.match(rf"(%\S+) = select (i1 [^,]+), {re.escape(name)} (\S+), {re.escape(name)} (\S+)$", text)
    if match:
        slots = [tiles.slot(), tiles.slot()]
        chosen = tiles.fresh()
        stores = [one for slot, operand in zip(slots, match.groups()[2:], strict=True)
                  for one in tiles._with_tiles([f"{name} {operand}"], lambda texts, slot=slot: [
                      tiles.store(texts[0], shape, f"ptr {slot}", f"i64 {PITCH}")])]
        return [*stores, f"  {chosen} = select {match[2]}, ptr {slots[0]}, ptr {slots[1]}",
                tiles.load(match[1], shape, f"ptr {chosen}", f"i64 {PITCH}")]
    match = re.match(rf"(%\S+) = freeze {re.escape(name)} (\S+)$", text)
    if match:
        slot = tiles.slot()
        return [*tiles._with_tiles([f"{name} {match[2]}"], lambda texts: [
            tiles.store(texts[0], shape, f"ptr {slot}", f"i64 {PITCH}")]),
            tiles.load(match[1], shape, f"ptr {slot}", f"i64 {PITCH}")]
    raise Error(f"a cooperative matrix is used in a way that tiles do not allow: {text}")


def _split(text: str) -> list[str]:
    """Operands, separated by the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]] if text.strip() else []


def _definitions(operations: Mapping[str, Operation], features: Features, tiles: Tiles, text: str) -> list[str]:
    """The functions that are still called, and what they and the tiles need declared."""
    declared = {line.split("@", 1)[1].split("(", 1)[0] for line in text.splitlines() if line.startswith("declare ")}
    found: list[str] = []
    needed: dict[str, str] = {}
    for name, operation in operations.items():
        if f"@{name}(" in text:
            definition, declarations = plain.definition(name, operation, features)
            found.append(definition)
            needed |= declarations
    for kind, name in tiles.converters.items():
        found.append(conversions(name, kind, features))
    for line in tiles.declarations:
        needed[line.split("@", 1)[1].split("(", 1)[0]] = line
    return [*found, *(line for name, line in needed.items() if name not in declared)]
