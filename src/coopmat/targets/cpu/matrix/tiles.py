"""AMX's tiles, put into a kernel's IR: what loads, multiplies and stores them, and what moves them otherwise.

Operations that the tile unit does not have go through memory, as plain matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix import reuse
from coopmat.targets.cpu.matrix.amx import MOST_ROWS, PITCH, TILE, Shape, conversions, instruction_of, is_direct
from coopmat.targets.cpu.matrix.body import Features, plain_type
from coopmat.targets.cpu.matrix.operation import Fill, Load, Multiply, Operation, Store
from coopmat.targets.llvm import ir_text
from coopmat.targets.llvm.ir_text import UNDEFINED, CallLine, Function, Line, is_name, is_zero


class Tiles:
    """Rewrites functions so that matrices of some types live in tiles, or, if they do not stay there (``stay``), are in
    tiles while they are multiplied.

    shapes: the types that AMX multiplies. types: all types, by their text. operations: what calls stand for, by name.
    """

    def __init__(self, shapes: dict[MatrixType, Shape], types: Mapping[str, MatrixType],
                 operations: Mapping[str, Operation], features: Features, *, stay: bool = True) -> None:
        self.shapes = shapes
        self.kinds = shapes if stay else {}  # those that live in tiles
        self.types = types
        self.operations = operations
        self.features = features
        self.declarations: dict[str, None] = {}  # in the order of their first uses
        self.converters: dict[MatrixType, str] = {}
        self.keepers: dict[str, str] = {}  # function of a load → function that gives its tile's address (reuse.py)
        self._slots: list[str] = []  # lines for the entry of the function at hand
        self._passing: set[str] = set()  # matrices that need no tile, of the function at hand
        self._count = 0

    @property
    def are_used(self) -> bool:
        """Whether the rewritten functions have tiles: no tile is there without an intrinsic that makes it."""
        return bool(self.declarations)

    @property
    def definitions(self) -> list[str]:
        """The functions that the rewritten functions call."""
        found = []
        for number, (load, keeper) in enumerate(self.keepers.items()):
            kind = self.operations[load].result
            assert kind is not None
            found.append(reuse.function(keeper, load, plain_type(kind), self._converter(kind), number))
        return [*found, *(conversions(name, kind, self.features) for kind, name in self.converters.items())]

    def rewrite(self, function: Function) -> None:
        """Give the tiles of a function their form."""
        self._give_own_zeros(function)
        self._slots, self._passing = [], self._find_passing(function)
        for block in function.blocks.values():
            block.lines = [one for line in block.lines for one in self._rewritten(line)]
        function.entry.lines[:0] = map(Line.of, self._slots)

    def _rewritten(self, line: Line) -> Sequence[Line]:
        """The lines that take the place of one."""
        operation = self.operations.get(line.call.function) if line.call else None
        if line.call and operation is not None:
            lines = self._called(operation, line.call)
        elif any(self.types.get(name) in self.kinds for name in line.opaque_types):
            lines = self._moved(line.move)
        else:
            lines = None
        return [line] if lines is None else [Line.of(text) for text in lines]

    def _called(self, operation: Operation, call: CallLine) -> list[str] | None:
        """The lines for a call; None if it stays as it is."""
        if any(kind in self.kinds for kind in operation.kinds) and not self._passes(operation, call):
            return self._operation(operation, call)
        if isinstance(operation, Multiply) and self.shapes and not self.kinds:
            return self._multiply_in_tiles(operation, call)
        return None

    # --- before anything is rewritten -------------------------------------------------

    def _give_own_zeros(self, function: Function) -> None:
        """Make a tile of zeros for each use of one: LLVM copies tiles through memory."""
        copies: dict[str, list[str]] = {line.result: [] for line in function.lines if self._is_zero(line)}
        if not copies:
            return

        def own(name: str) -> str:
            if name not in copies:
                return name
            copies[name].append(f"{name}.zero.{len(copies[name])}")
            return copies[name][-1]

        for block in function.blocks.values():
            block.lines = [line.renamed(own) if line.used & copies.keys() else line for line in block.lines]
        for block in function.blocks.values():
            block.lines = [one for line in block.lines for one in (
                map(line.with_result, copies[line.result]) if line.result in copies else [line])]

    def _is_zero(self, line: Line) -> bool:
        """Whether a line gives a tile of zeros."""
        operation = self.operations.get(line.call.function) if line.call else None
        return (line.call is not None and isinstance(operation, Fill) and operation.result in self.kinds
                and is_zero(line.call.operands[0].value))

    def _find_passing(self, function: Function) -> set[str]:
        """The matrices that are only loaded and stored, one way or the other not as a tile is: they need no tile."""
        made: dict[str, bool] = {}
        stores: dict[str, int] = {}
        for line in function.lines:
            operation = self.operations.get(line.call.function) if line.call else None
            if isinstance(operation, Load):
                made[line.result] = is_direct(operation.result, operation.layout)
            elif isinstance(operation, Store) and line.call:
                value = line.call.operands[0].value
                stores[value] = stores.get(value, 0) + 1
                if value in made:
                    made[value] &= is_direct(operation.operands[0], operation.layout)
        found = {name for name, as_tiles in made.items() if not as_tiles and name in stores}
        uses = dict.fromkeys(found, 0)
        for line in function.lines if found else ():
            for name in found & line.used:
                uses[name] += 1
        return {name for name in found if stores[name] == uses[name]}

    def _passes(self, operation: Operation, call: CallLine) -> bool:
        """Whether a call moves a matrix that needs no tile."""
        return isinstance(operation, Load | Store) and bool(self._passing & {call.result, call.operands[0].value})

    # --- lines ------------------------------------------------------------------------

    def _fresh(self) -> str:
        """A name that nothing has."""
        self._count += 1
        return f"%tile.{self._count}"

    def _declare(self, signature: str) -> None:
        """Declare an intrinsic."""
        self.declarations[f"declare {signature}"] = None

    def _slot(self) -> str:
        """Memory for a tile, in the frame of the function at hand."""
        name = self._fresh()
        self._slots.append(f"  {name} = alloca [{MOST_ROWS * PITCH} x i8], align 64")
        return name

    def _load(self, result: str, shape: Shape, address: str, stride: str = f"i64 {PITCH}") -> str:
        """A line that loads a tile; operands with their types."""
        self._declare(f"{TILE} @llvm.x86.tileloadd64.internal(i16, i16, ptr, i64)")
        return f"  {result} = call {TILE} @llvm.x86.tileloadd64.internal({shape.text}, {address}, {stride})"

    def _store(self, tile: str, shape: Shape, address: str, stride: str = f"i64 {PITCH}") -> str:
        """A line that stores a tile."""
        self._declare(f"void @llvm.x86.tilestored64.internal(i16, i16, ptr, i64, {TILE})")
        return f"  call void @llvm.x86.tilestored64.internal({shape.text}, {address}, {stride}, {TILE} {tile})"

    def _zero(self, result: str, shape: Shape) -> str:
        """A line that makes a tile of zeros."""
        self._declare(f"{TILE} @llvm.x86.tilezero.internal(i16, i16)")
        return f"  {result} = call {TILE} @llvm.x86.tilezero.internal({shape.text})"

    def _product(self, result: str, operation: Operation, name: str, tiles: Sequence[str]) -> str:
        """A line that multiplies the tiles of A and B, and adds that of C."""
        a_tile, c_tile = (self.shapes[operation.operands[place]] for place in (0, 2))
        sizes = f"i16 {a_tile.rows}, i16 {c_tile.row_bytes}, i16 {a_tile.row_bytes}"
        self._declare(f"{TILE} @llvm.x86.{name}.internal(i16, i16, i16, {TILE}, {TILE}, {TILE})")
        a, b, c = (f"{TILE} {tile}" for tile in tiles)
        return f"  {result} = call {TILE} @llvm.x86.{name}.internal({sizes}, {c}, {a}, {b})"

    def _stored(self, text: str, shape: Shape, address: str, stride: str = f"i64 {PITCH}") -> list[str]:
        """The lines that store a tile, or what stands for one that is not defined: zeros."""
        if is_name(text):
            return [self._store(text, shape, address, stride)]
        zero = self._fresh()
        return [self._zero(zero, shape), self._store(zero, shape, address, stride)]

    def _converter(self, kind: MatrixType) -> str:
        """The name of the functions that move a matrix type between tiles in memory and plain matrices."""
        return self.converters.setdefault(kind, f"tile.{len(self.converters)}")

    # --- operations -------------------------------------------------------------------

    def _operation(self, operation: Operation, call: CallLine) -> list[str]:
        """The lines for a call of which a matrix lives in a tile."""
        kind = operation.result
        if kind is not None and kind in self.kinds:
            shape = self.kinds[kind]
            if isinstance(operation, Fill) and is_zero(call.operands[0].value):
                return [self._zero(call.result, shape)]
            if isinstance(operation, Load) and operation.is_kept:
                return self._kept(operation, call)
            if isinstance(operation, Load) and is_direct(kind, operation.layout):
                return [self._load(call.result, shape, *map(str, call.operands))]
            name = instruction_of(operation, self.features)
            if name is not None:
                return self._multiply(operation, call, name)
        if isinstance(operation, Store) and is_direct(operation.operands[0], operation.layout):
            tile, address, stride = call.operands
            return self._stored(tile.value, self.kinds[operation.operands[0]], str(address), str(stride))
        return self._through_memory(operation, call)

    def _kept(self, operation: Load, call: CallLine) -> list[str]:
        """A tile that was converted before, or is converted now."""
        slot, address = self._slot(), self._fresh()
        name = self.keepers.setdefault(call.function, f"keep.{len(self.keepers)}")
        self._converter(operation.result)
        return [f"  {address} = call ptr @{name}(ptr {slot}, {', '.join(map(str, call.operands))})",
                self._load(call.result, self.kinds[operation.result], f"ptr {address}")]

    def _multiply(self, operation: Operation, call: CallLine, name: str) -> list[str]:
        before: list[str] = []
        tiles = []
        for operand, kind in zip(call.operands, operation.operands, strict=True):
            text = operand.value
            if not is_name(text):  # it is not defined
                text = self._fresh()
                before.append(self._zero(text, self.kinds[kind]))
            tiles.append(text)
        return [*before, self._product(call.result, operation, name, tiles)]

    def _multiply_in_tiles(self, operation: Multiply, call: CallLine) -> list[str] | None:
        """The lines for a multiply-accumulate of plain matrices, which are put into tiles for it; None if AMX has no
        such one."""
        name = instruction_of(operation, self.features)
        if name is None:
            return None
        lines, tiles, d = [], [], operation.result
        for operand, kind in zip(call.operands, operation.operands, strict=True):
            slot, tile = self._slot(), self._fresh()
            lines += [f"  call void @{self._converter(kind)}.put(ptr {slot}, {operand})",
                      self._load(tile, self.shapes[kind], f"ptr {slot}")]
            tiles.append(tile)
        slot, tile = self._slot(), self._fresh()
        return [*lines, self._product(tile, operation, name, tiles), self._store(tile, self.shapes[d], f"ptr {slot}"),
                f"  {call.result} = call {plain_type(d)} @{self._converter(d)}.take(ptr {slot})"]

    def _through_memory(self, operation: Operation, call: CallLine) -> list[str]:
        """The plain operation, on operands that are taken out of their tiles."""
        lines: list[str] = []
        operands: list[str] = []
        for operand in call.operands:
            kind = self.types.get(operand.type)
            if kind is not None and kind in self.kinds:
                taken, more = self._taken(operand.value, kind)
                lines += more
                operands.append(f"{plain_type(kind)} {taken}")
            else:
                operands.append(str(operand))
        result, called = operation.result, f"@{call.function}({', '.join(operands)})"
        if result is None or result not in self.kinds:
            start = f"  {call.result} = " if call.result else "  "
            return [*lines, f"{start}call {operation.returned} {called}"]
        plain, slot = self._fresh(), self._slot()
        return [*lines, f"  {plain} = call {plain_type(result)} {called}",
                f"  call void @{self._converter(result)}.put(ptr {slot}, {plain_type(result)} {plain})",
                self._load(call.result, self.kinds[result], f"ptr {slot}")]

    def _taken(self, value: str, kind: MatrixType) -> tuple[str, list[str]]:
        """A tile as a plain matrix."""
        if not is_name(value):
            return "zeroinitializer", []
        slot, plain = self._slot(), self._fresh()
        return plain, [self._store(value, self.kinds[kind], f"ptr {slot}"),
                       f"  {plain} = call {plain_type(kind)} @{self._converter(kind)}.take(ptr {slot})"]

    # --- moves ------------------------------------------------------------------------

    def _moved(self, move: ir_text.Move) -> list[str]:
        """The lines for what is no operation: a phi, a choice, a load or store of a variable."""
        shape = self.kinds[self.types[move.type]]
        match move:
            case ir_text.Phi():
                return self._phi(move, shape)
            case ir_text.Load(result, _, address):
                return [self._load(result, shape, f"ptr {address}")]
            case ir_text.Store(_, value, address):
                return self._stored(value, shape, f"ptr {address}")
            case ir_text.Select():
                return self._select(move, shape)
            case ir_text.Freeze(result, _, value):
                slot = self._slot()
                return [*self._stored(value, shape, f"ptr {slot}"), self._load(result, shape, f"ptr {slot}")]

    def _phi(self, phi: ir_text.Phi, shape: Shape) -> list[str]:
        """A phi of tiles; instead of constants it gets zeros, made in the first block."""
        sources = phi.incoming
        if any(_is_constant(value) for value, _ in sources):
            zero = self._fresh()
            self._slots.append(self._zero(zero, shape))
            sources = [(zero if _is_constant(value) else value, label) for value, label in sources]
        return [f"  {phi.result} = phi {TILE} {', '.join(f'[ {value}, %{label} ]' for value, label in sources)}"]

    def _select(self, select: ir_text.Select, shape: Shape) -> list[str]:
        """Tiles cannot be chosen from: the addresses of both in memory can."""
        slots, chosen = (self._slot(), self._slot()), self._fresh()
        stores = [line for slot, tile in zip(slots, (select.first, select.second), strict=True)
                  for line in self._stored(tile, shape, f"ptr {slot}")]
        return [*stores, f"  {chosen} = select i1 {select.condition}, ptr {slots[0]}, ptr {slots[1]}",
                self._load(select.result, shape, f"ptr {chosen}")]


def _is_constant(value: str) -> bool:
    return value in UNDEFINED or value == "zeroinitializer"
