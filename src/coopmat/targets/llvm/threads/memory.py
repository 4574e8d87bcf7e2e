"""Slots and memory of a thread. Slots are stack slots, of which LLVM makes registers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from coopmat.targets.llvm.access import offset_pointer
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.lanes import Ordering, Update
from coopmat.targets.llvm.threads.blocks import Blocks
from coopmat.targets.llvm.threads.launch import LaunchBlock
from coopmat.targets.llvm.values import Number, bits_of, zero_of

FLOATS = ("half", "float", "double")


class Memory(Blocks, ABC):
    """Loads and stores numbers of a work-item."""

    def __init__(self, emitter: Emitter, block: LaunchBlock) -> None:
        super().__init__(emitter)
        self.block = block
        self._slots: dict[Any, str] = {}

    @abstractmethod
    def lane_number(self, llvm: str) -> Number:
        """Each work-item's position in its sub-group."""

    # --- slots ------------------------------------------------------------------------

    def _slot(self, key: Any, llvm: str) -> str:
        if key not in self._slots:
            self._slots[key] = self.writer.slot(llvm, initial=zero_of(llvm))
        return self._slots[key]

    def load_slot(self, key: Any, llvm: str) -> Number:
        """What a slot holds; zero before anything is stored."""
        return Number(llvm, self.writer.let(f"load {llvm}, ptr {self._slot(key, llvm)}"))

    def store_slot(self, key: Any, number: Number, *, everywhere: bool = False) -> None:
        """Keep a number."""
        self.writer.do(f"store {number.type} {number.base}, ptr {self._slot(key, number.type)}")

    def _element(self, key: Any, count: int, llvm: str, index: str) -> str:
        if key not in self._slots:
            self._slots[key] = self.writer.slot(f"[{count} x {llvm}]", align=16, initial="zeroinitializer")
        return self.writer.let(f"getelementptr {llvm}, ptr {self._slots[key]}, i64 {index}")

    def load_element(self, key: Any, count: int, llvm: str, index: Number) -> Number:
        """A number of an array in slots."""
        return Number(llvm, self.writer.let(f"load {llvm}, ptr {self._element(key, count, llvm, index.base)}"))

    def store_element(self, key: Any, count: int, index: Number, number: Number) -> None:
        """Replace a number of an array in slots."""
        address = self._element(key, count, number.type, index.base)
        self.writer.do(f"store {number.type} {number.base}, ptr {address}")

    def clear_elements(self, key: Any, count: int, llvm: str) -> None:
        """Set an array in slots to zero."""
        self.writer.do(f"store [{count} x {llvm}] zeroinitializer, ptr {self._element(key, count, llvm, '0')}")

    # --- memory -----------------------------------------------------------------------

    most_aligned = 16
    """A thread loads and stores so much at once; the host sees to the alignment of arguments."""

    def load(self, pointer: Number, llvm: str, alignment: int, *, volatile: bool = False) -> Number:
        """A number of a work-item."""
        kind = "load volatile" if volatile else "load"
        return Number(llvm, self.writer.let(f"{kind} {llvm}, ptr {pointer.base}, align {alignment}"))

    def store(self, pointer: Number, number: Number, alignment: int, *, volatile: bool = False) -> None:
        """Write a number of a work-item."""
        kind = "store volatile" if volatile else "store"
        if number.type in FLOATS and alignment < bits_of(number.type) // 8:
            self._store_bytes(kind, pointer, number)
            return
        self.writer.do(f"{kind} {number.type} {number.base}, ptr {pointer.base}, align {alignment}")

    def _store_bytes(self, kind: str, pointer: Number, number: Number) -> None:
        """Write a floating-point number byte by byte: left to itself, ptxas 13.0 stores another first byte."""
        width = bits_of(number.type)
        whole = self.writer.let(f"bitcast {number.type} {number.base} to i{width}")
        for place in range(width // 8):
            moved = self.writer.let(f"lshr i{width} {whole}, {8 * place}")
            low = self.writer.let(f"trunc i{width} {moved} to i32" if width > 32 else f"zext i{width} {moved} to i32"
                                  if width < 32 else f"add i32 {moved}, 0")
            byte = self.writer.let(f"call i32 asm \"and.b32 $0, $1, 255;\", \"=r,r\"(i32 {low})")
            address = self.writer.let(f"getelementptr i8, ptr {pointer.base}, i64 {place}")
            self.writer.do(f"{kind} i8 {self.writer.let(f'trunc i32 {byte} to i8')}, ptr {address}, align 1")

    def copy_bytes(self, target: Number, source: Number, count: Number) -> None:
        """Copy so many bytes, an i64."""
        self.writer.call("void", "llvm.memcpy.p0.p0.i64", [
            ("ptr", target.base), ("ptr", source.base), ("i64", count.base), ("i1", "false")])

    def private(self, nbytes: int) -> tuple[Number, int]:
        """Memory of each work-item."""
        return Number("ptr", self.writer.slot(f"[{nbytes} x i8]", align=16)), nbytes

    def variable(self, identifier: int) -> str:
        """The address of a variable of the module in global or constant memory."""
        text = self.writer.fresh("variable")
        word = self.block.variable(identifier)
        self.writer.entry.append(f"  {text} = inttoptr i64 {word} to ptr")
        return text

    def beside(self, address: str, nbytes: int) -> Number:
        """Pointers of neighbouring work-items so many bytes apart, the first one's at an address."""
        return offset_pointer(self.emitter, Number("ptr", address), self.lane_number("i64"), nbytes)

    # --- one by one -------------------------------------------------------------------

    def each(self, name: str, operands: Sequence[Number], result: str | None,
             body: Callable[..., str | None]) -> Number:
        """Do something for each work-item: every thread does it for its own."""
        return Number(result or "", body(*(operand.base for operand in operands)) or "")

    def each_value(self, number: Number, body: Callable[[Number], None]) -> None:
        """Do something for the value of a number that all have alike."""
        body(number)

    def by_value(self, number: Number, llvm: str, body: Callable[[Number], Number]) -> Number:
        """As ``each_value``, for what ``body`` gives."""
        return body(number)

    def first(self, *numbers: Number) -> list[str]:
        """The operands of numbers that all work-items have alike."""
        return [number.base for number in numbers]

    def last(self, number: Number) -> str:
        """The operand of the last work-item: each thread writes its own, and one of them is the last."""
        return number.base

    def is_joint(self, number: Number) -> bool:
        """Whether a number is known to be the same for all work-items."""
        return not number.base.startswith("%")

    def update_together(self, update: Update, pointer: Number, number: Number, ordering: Ordering, *,
                        is_used: bool) -> Number | None:
        """None: the hardware combines updates of neighbouring threads by itself."""
        return None


def store_bytes(llvm: str) -> int:
    """The bytes that a number takes in memory; truth values take one."""
    return max(bits_of(llvm) // 8, 1)
