"""Slots of numbers: one for all work-items where they are the same or rise steadily, else a vector."""

from __future__ import annotations

from typing import Any

from coopmat.targets.cpu.lanes.masks import Assumptions, Variant
from coopmat.targets.cpu.lanes.memory import Memory
from coopmat.targets.cpu.lanes.shapes import UNIFORM, VARYING, Shape
from coopmat.targets.llvm.access import offset_pointer
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Number, bits_of, zero_of


class Slots(Memory):
    """Keeps numbers on the stack."""

    def __init__(self, emitter: Emitter, variant: Variant, known: Assumptions) -> None:
        super().__init__(emitter, variant, known)
        self._slots: dict[Any, str] = {}

    def load_slot(self, key: Any, llvm: str) -> Number:
        """What a slot holds."""
        shape, slot = self.known.shape_of(key), self._slot(key, llvm)
        if shape.stride is None:
            return self.emitter.varying(llvm, self.writer.let(f"load {self.emitter.vector(llvm)}, ptr {slot}"))
        return Number(llvm, self.writer.let(f"load {llvm}, ptr {slot}"), shape.stride, is_id=shape.is_id)

    def store_slot(self, key: Any, number: Number, *, everywhere: bool = False) -> None:
        """Keep a number, of the work-items that are here or of all."""
        self.keep(key, number, None if everywhere else self.mask)

    def keep(self, key: Any, number: Number, mask: str | None) -> None:
        """Keep a number, of the work-items of a mask."""
        self.known.join(key, VARYING if self.is_part(mask) else Shape.of(number))
        if self.known.shapes[key].stride is not None:
            self.writer.do(f"store {number.type} {number.base}, ptr {self._slot(key, number.type)}")
        else:
            self.keep_masked(number, self._slot(key, number.type), mask)

    def _slot(self, key: Any, llvm: str) -> str:
        if key not in self._slots:
            is_varying = self.known.shape_of(key).stride is None
            self._slots[key] = (self.writer.slot(self.emitter.vector(llvm), initial="zeroinitializer") if is_varying
                                else self.writer.slot(llvm, initial=zero_of(llvm)))
        return self._slots[key]

    # --- arrays -----------------------------------------------------------------------

    def load_element(self, key: Any, count: int, llvm: str, index: Number) -> Number:
        """A number of an array in slots."""
        slot, element, varies = self._array(key, count, llvm)
        if not index.is_single:
            return self.load(self._lane_address(slot, llvm, index, varies), llvm, 1)
        address = self.writer.let(f"getelementptr {element}, ptr {slot}, i64 {index.base}")
        text = self.writer.let(f"load {element}, ptr {address}")
        return self.emitter.varying(llvm, text) if varies else Number(llvm, text)

    def store_element(self, key: Any, count: int, index: Number, number: Number) -> None:
        """Replace a number of an array in slots."""
        is_uniform = number.is_single and index.is_single and not self.is_part(self.mask)
        self.known.join(key, UNIFORM if is_uniform else VARYING)
        slot, element, varies = self._array(key, count, number.type)
        if not varies:
            address = self.writer.let(f"getelementptr {element}, ptr {slot}, i64 {index.base}")
            self.writer.do(f"store {element} {number.base}, ptr {address}")
        elif index.is_single:
            address = self.writer.let(f"getelementptr {element}, ptr {slot}, i64 {index.base}")
            self.keep_masked(number, address, self.mask)
        else:
            self.store(self._lane_address(slot, number.type, index, varies), number, 1)

    def clear_elements(self, key: Any, count: int, llvm: str) -> None:
        """Set an array in slots to zero."""
        slot, _, varies = self._array(key, count, llvm)
        nbytes = count * (bits_of(llvm) // 8) * (self.size if varies else 1)
        self.writer.call("void", "llvm.memset.p0.i64", [("ptr", slot), ("i8", "0"), ("i64", str(nbytes)),
                                                         ("i1", "false")])

    def _array(self, key: Any, count: int, llvm: str) -> tuple[str, str, bool]:
        """The slot of an array, the type of its elements, and whether these vary."""
        varies = self.known.shape_of(key) != UNIFORM
        element = self.emitter.vector(llvm) if varies else llvm
        if key not in self._slots:
            self.frame.reserve_stack(count * (bits_of(llvm) // 8 * (self.size if varies else 1)))
            self._slots[key] = self.writer.slot(f"[{count} x {element}]", align=64)
        return self._slots[key], element, varies

    def _lane_address(self, slot: str, llvm: str, index: Number, varies: bool) -> Number:
        """The address of each work-item's own number under its own index."""
        emitter = self.emitter
        if varies:
            index = emitter.apply("mul {t} {0}, {1}", "i64", index, emitter.constant("i64", self.size))
            index = emitter.apply("add {t} {0}, {1}", "i64", index, emitter.lane_number("i64"))
        return offset_pointer(emitter, Number("ptr", slot), index, bits_of(llvm) // 8)
