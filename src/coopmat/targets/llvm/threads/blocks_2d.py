"""SPV_INTEL_2d_block_io on threads: each copies its own elements of the block between the matrix and its memory.

Outside of the matrix there are zeros, and nothing is written.
"""

from __future__ import annotations

from coopmat.devices.subgroup_layout import block_elements
from coopmat.spirv.analysis.blocks_2d import Block, block_of
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.access import moved
from coopmat.targets.llvm.arithmetic.integers import add, multiply, resized
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.threads.spread import Spread
from coopmat.targets.llvm.values import Number

SURFACE_AFTER_SOURCE, SURFACE_OF_STORE = 4, 5  # the position of the base pointer among the words
LOADED_TO, STORED_FROM = 9, 4  # that of the work-items' own pointers


def _block(emitter: Emitter, row: Instruction, *, transform: bool = False) -> Block:
    return block_of(row, [emitter.constant_of(word) for word in row.words[:4]], transform=transform)


def _copy(emitter: Emitter, row: Instruction, block: Block, surface: int, own: int, *, storing: bool = False,
          transpose: bool = False, transform: bool = False) -> None:
    size = block.element_size
    base, width, height, pitch, x, y = (
        number if number.type == "ptr" else resized(emitter, number, "i64", signed=True)
        for word in row.words[surface:surface + 5] for number in emitter.numbers(word))
    spread = Spread(block_elements(block.width, block.height, block.count, emitter.sub_group_size, transpose=transpose,
                                   rows_per_word=4 // size if transform else 1))
    pointer, element, writer = emitter.number(row.words[own]), f"i{8 * size}", emitter.writer
    limit = emitter.apply("sub {t} {0}, {1}", "i64", width, emitter.constant("i64", size))
    places = spread.positions(emitter, emitter.lane_number("i64"))
    per_block = len(places) // block.count
    for number, (line, column) in enumerate(places):
        down = add(emitter, line, y)
        beside = multiply(emitter, add(emitter, column, x), emitter.constant("i64", size))
        inside = _all(emitter, _below(emitter, down, height),
                      emitter.apply("icmp ule {t} {0}, {1}", "i1", beside, limit),
                      emitter.apply("icmp sge {t} {0}, {1}", "i1", limit, emitter.constant("i64", 0)))
        if not spread.everywhere[number]:
            inner = add(emitter, column, emitter.constant("i64", -(number // per_block) * block.width))
            inside = _all(emitter, inside, _below(emitter, line, emitter.constant("i64", block.height)),
                          _below(emitter, inner, emitter.constant("i64", block.width)))
        away = add(emitter, multiply(emitter, down, pitch), beside)
        there = writer.let(f"getelementptr i8, ptr {base.base}, i64 {away.base}")
        here = moved(emitter, pointer, number * size).base
        source, target = (here, there) if storing else (there, here)
        if not storing:
            writer.do(f"store {element} 0, ptr {here}, align {size}")
        writer.when(inside.base, lambda source=source, target=target: writer.do(  # type: ignore[misc]
            f"store {element} {writer.let(f'load {element}, ptr {source}, align {size}')}, ptr {target}, align {size}"))


def _below(emitter: Emitter, number: Number, limit: Number) -> Number:
    return emitter.apply("icmp ult {t} {0}, {1}", "i1", number, limit)


def _all(emitter: Emitter, first: Number, *others: Number) -> Number:
    for other in others:
        first = emitter.apply("and {t} {0}, {1}", "i1", first, other)
    return first


def _load(*, transpose: bool = False, transform: bool = False) -> Handler:
    def handle(emitter: Emitter, row: Instruction) -> None:
        _copy(emitter, row, _block(emitter, row, transform=transform), SURFACE_AFTER_SOURCE, LOADED_TO,
              transpose=transpose, transform=transform)

    return handle


def _store(emitter: Emitter, row: Instruction) -> None:
    _copy(emitter, row, _block(emitter, row), SURFACE_OF_STORE, STORED_FROM, storing=True)


def _prefetch(emitter: Emitter, row: Instruction) -> None:
    """No effect, but the rules of the constants hold for it as well."""
    _block(emitter, row)


OPERATIONS: dict[int, Handler] = {
    Op.Subgroup2DBlockLoadINTEL: _load(),
    Op.Subgroup2DBlockLoadTransformINTEL: _load(transform=True),
    Op.Subgroup2DBlockLoadTransposeINTEL: _load(transpose=True),
    Op.Subgroup2DBlockPrefetchINTEL: _prefetch,
    Op.Subgroup2DBlockStoreINTEL: _store,
}
