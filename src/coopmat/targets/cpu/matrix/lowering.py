"""The form that matrices take on the hardware at hand, put into a kernel's optimised IR.

Matrix types for which AMX has the multiply-accumulate live in tiles; all others are plain, and large ones in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from coopmat.targets.cpu.matrix.amx import tile_kinds
from coopmat.targets.cpu.matrix.body import Features, is_large, plain_type
from coopmat.targets.cpu.matrix.component_loops import ComponentLoops
from coopmat.targets.cpu.matrix.ends import Ends
from coopmat.targets.cpu.matrix.expressions import Expressions
from coopmat.targets.cpu.matrix.fusing import Fusing
from coopmat.targets.cpu.matrix.large import COPY, LargeValues
from coopmat.targets.cpu.matrix.operation import Expression, Operation, Product
from coopmat.targets.cpu.matrix.plain import Definition, definition
from coopmat.targets.cpu.matrix.product.panels import shared_out
from coopmat.targets.cpu.matrix.product.product import panel_bytes
from coopmat.targets.cpu.matrix.sinking import Sinking
from coopmat.targets.cpu.matrix.tiles import Tiles
from coopmat.targets.cpu.matrix.types import matrix_type, slot_bytes, slot_type
from coopmat.targets.cpu.matrix.words import noted
from coopmat.targets.llvm.ir_text import Module, declared_name, parse
from coopmat.targets.llvm.writer import METADATA


class Lowered(NamedTuple):
    """IR without matrices, the bytes that large ones need on a sub-group's stack, whether any are in tiles, and what
    became of products, in words."""

    ir: str
    stack_bytes: int
    uses_tiles: bool
    notes: tuple[str, ...]


def lower(ir: str, operations: Mapping[str, Operation], features: Features, *, stay_in_tiles: bool = True) -> Lowered:
    """The IR with every matrix type and operation in the form that the features allow. ``stay_in_tiles``: matrices that
    AMX multiplies live in tiles; otherwise each multiplication puts them there."""
    module = parse(ir)
    module.drop_declarations(operations)
    loops = ComponentLoops(operations)
    for function in module.functions:
        loops.rewrite(function)
    sinking, fusing = Sinking(loops.operations), Fusing(loops.operations, features)
    for function in module.functions:
        sinking.rewrite(function)
        fusing.rewrite(function)
    expressions = Expressions(fusing.operations)
    for function in module.functions:
        expressions.rewrite(function)
    ends = Ends(expressions.operations)
    for function in module.functions:
        ends.rewrite(function)
    operations = ends.operations
    notes = noted([operations[name] for name in sorted(operations.keys() & module.called.keys())], features)
    types = {matrix_type(kind): kind for operation in operations.values() for kind in operation.kinds}
    places = {kind: f"[{slot_bytes(kind)} x i8]" for kind in types.values()}
    module.replace_types({slot_type(kind): place for kind, place in places.items()})
    # Of arrays of places LLVM makes variables of single matrices.
    module.replace_types({f"alloca {matrix_type(kind)}": f"alloca {place}" for kind, place in places.items()})
    tiles = Tiles(tile_kinds(operations.values(), features), types, operations, features, stay=stay_in_tiles)
    products = {name: operation for name, operation in operations.items() if isinstance(operation, Product)}
    large = LargeValues({name: kind for name, kind in types.items() if is_large(kind)},
                        [name for name, operation in operations.items()
                         if isinstance(operation, Product | Expression) and operation.updates])
    for function in module.functions:
        tiles.rewrite(function)
        large.rewrite(function)
    module.replace_types({name: plain_type(kind) for name, kind in types.items()})
    calls = module.called
    needed = calls.keys() | tiles.keepers.keys()
    used = {name: operation for name, operation in operations.items() if name in needed}
    shares = shared_out({name: nbytes for name in sorted(used.keys() & products.keys())
                         if any(nbytes := panel_bytes(products[name], features))})
    functions = [definition(name, operation, features, shares.get(name, (None, None)), calls[name])
                 for name, operation in used.items()]
    frame_bytes = max((one.frame_bytes for one in functions), default=0)
    text = "\n".join([str(module), *large.definitions, *_definitions(functions, tiles, module)])
    return Lowered(text, large.bytes + loops.bytes + frame_bytes, tiles.are_used, notes)


def _definitions(functions: Sequence[Definition], tiles: Tiles, module: Module) -> list[str]:
    """The functions that are called, and the declarations that they need and the module lacks."""
    helpers = {name: text for one in functions for name, text in one.helpers.items()}
    found = [*(one.text for one in functions), *helpers.values(), *tiles.definitions]
    needed = {name: line for one in functions for name, line in one.declarations.items()}
    needed |= {declared_name(line) or "": line for line in [*tiles.declarations, COPY]}
    return [*found, *(line for name, line in needed.items() if name not in module.declared), METADATA]
