"""wgmma: descriptors of tiles in shared memory, and the instructions of one product as inline assembly.

PTX ISA, "Matrix Descriptor Format" and "wgmma.mma_async"; LLVM 22 has no intrinsics for it. The accumulator goes in and
out of one piece of assembly, which ends with the wait for it, so that nothing touches it meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.targets.cuda.work_groups.pipeline import LINES_OF_CORE, ROWS_OF_D, Kind, Tile
from coopmat.targets.llvm.writer import Writer

UNIT = 16  # bytes: of addresses and offsets in descriptors
_SWIZZLE_CODES = {128: 1, 64: 2, 32: 3}
_ADDRESS_BITS = 0x3FFFF


def descriptor(writer: Writer, address: str, tile: Tile) -> str:
    """The descriptor of a tile at an address in shared memory (an i32): an i64."""
    leading = tile.slab_bytes if not tile.along_k else UNIT
    fixed = (_SWIZZLE_CODES[tile.line_bytes] << 62 | LINES_OF_CORE * tile.line_bytes // UNIT << 32
             | leading // UNIT << 16)
    low = writer.let(f"lshr i32 {writer.let(f'and i32 {address}, {_ADDRESS_BITS}')}, {UNIT.bit_length() - 1}")
    wide = writer.let(f"zext i32 {low} to i64")
    return writer.let(f"or i64 {wide}, {fixed - (1 << 64) if fixed >> 63 else fixed}")


def step_of(tile: Tile, k: int) -> int:
    """How far element ``k`` of K is from the first one, in units of a descriptor."""
    if tile.along_k:
        slab, within = divmod(k * tile.element, tile.line_bytes)
        return (slab * tile.slab_bytes + within) // UNIT
    return k * tile.line_bytes // UNIT


def rows_step(tile: Tile, row: int) -> int:
    """How far a row of A is from the first one, in bytes; a multiple of the rows of a D."""
    if tile.along_k:
        return row * tile.line_bytes
    return row * tile.element // tile.line_bytes * tile.slab_bytes


def multiply(writer: Writer, product: Kind, accumulator: Sequence[str], a: tuple[str, Tile] | Sequence[str],
             b: tuple[str, Tile], shape: tuple[int, int], blocks: int, warp_groups: int, is_zero: str) -> list[str]:
    """``D = A*B + D`` for all blocks of 64 rows that a warp group has, which ``warp_groups`` others lie between. The
    registers of the result. a, b: tiles by their descriptors, or A's registers of two elements. shape: N and K.
    is_zero: whether D is zero at first, an i1; its registers count for nothing then."""
    columns, depth = shape
    count = len(accumulator)
    register, llvm = ("f", "float") if product.accumulator == "f32" else ("r", "i32")
    first = _Operands(count)
    right = first.take("i64", "l", b[0])
    zero = first.take("i32", "r", writer.let(f"zext i1 {is_zero} to i32"))
    left = _Tiles(first, a, warp_groups) if isinstance(a, tuple) else _Registers(first, a, depth // product.k)
    mixing = f"{left.mixing}, {int(not b[1].along_k)}" if product.mixes else ""
    scales = "" if product.accumulator == "s32" else f", 1, 1{mixing}"
    lines = [f"{{ .reg .pred p, q; .reg .b64 a, b; setp.eq.b32 q, 0, 0; setp.eq.b32 p, {zero}, 0;",
             "wgmma.fence.sync.aligned;"]
    for k in range(0, depth, product.k):
        lines.append(f"add.s64 b, {right}, {step_of(b[1], k)};")
        for block in range(blocks):
            size = count // blocks
            registers = ", ".join(f"${block * size + place}" for place in range(size))
            lines += [*left.prepared(k, block),
                      f"wgmma.mma_async.sync.aligned.m{ROWS_OF_D}n{columns}k{product.k}.{product.accumulator}."
                      f"{product.letters} {{{registers}}}, {left.operand(k // product.k, block)}, b, "
                      f"{'q' if k else 'p'}{scales};"]
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;", "}"]
    constraints = ",".join([*[f"={register}"] * count, *map(str, range(count)), *first.constraints])
    result = f"{{ {', '.join([llvm] * count)} }}"
    operands = ", ".join([*(f"{llvm} {one}" for one in accumulator), *first.operands])
    text = "\\0A".join(lines)
    found = writer.let(f'call {result} asm sideeffect "{text}", "{constraints}"({operands}) #1')
    return [writer.let(f"extractvalue {result} {found}, {place}") for place in range(count)]


class _Operands:
    """The operands of the assembly behind the accumulator, which counts twice: as what comes out and goes in."""

    def __init__(self, count: int) -> None:
        self.next = 2 * count
        self.constraints: list[str] = []
        self.operands: list[str] = []

    def take(self, llvm: str, constraint: str, operand: str) -> str:
        """One more; its name in the assembly."""
        self.constraints.append(constraint)
        self.operands.append(f"{llvm} {operand}")
        self.next += 1
        return f"${self.next - 1}"


class _Tiles:
    """A in shared memory."""

    def __init__(self, operands: _Operands, a: tuple[str, Tile], warp_groups: int) -> None:
        self.name = operands.take("i64", "l", a[0])
        self.tile, self.warp_groups = a[1], warp_groups
        self.mixing = f", {int(not self.tile.along_k)}"

    def prepared(self, k: int, block: int) -> list[str]:
        """What comes before an instruction."""
        down = rows_step(self.tile, block * self.warp_groups * ROWS_OF_D) // UNIT
        return [f"add.s64 a, {self.name}, {step_of(self.tile, k) + down};"]

    def operand(self, step: int, block: int) -> str:
        """A of an instruction."""
        return "a"


class _Registers:
    """A in registers: for every block of rows and every step of K four."""

    mixing = ""  # along K it lies as it lies

    def __init__(self, operands: _Operands, registers: Sequence[str], steps: int) -> None:
        self.names = [operands.take("i32", "r", one) for one in registers]
        self.steps = steps

    def prepared(self, k: int, block: int) -> list[str]:
        """What comes before an instruction."""
        return []

    def operand(self, step: int, block: int) -> str:
        """A of an instruction."""
        first = 4 * (block * self.steps + step)
        return f"{{{', '.join(self.names[first:first + 4])}}}"
