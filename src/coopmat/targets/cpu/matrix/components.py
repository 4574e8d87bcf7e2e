"""The components of the work-items: of plain matrices, and of those that lie in memory as long as a loop runs."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.body import Body, Made, plain_type
from coopmat.targets.cpu.matrix.operation import (
    Extract,
    ExtractInMemory,
    FromMemory,
    Insert,
    InsertInMemory,
    Publish,
    ToMemory,
)
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, suffix


@dataclass(frozen=True)
class _Components:
    """The components of all work-items in a buffer. lanes: a writer of numbers of work-items. index: the number of the
    component, or of each work-item's, an i64."""

    body: Body
    kind: MatrixType
    slot: str
    lanes: NumberWriter
    index: Number

    @property
    def vector(self) -> str:
        """LLVM's type of a component of all work-items."""
        return self.lanes.vector(element_type(self.kind))

    @property
    def alignment(self) -> int:
        """The bytes of an element, which it is aligned to."""
        return self.kind.component.size

    @property
    def address(self) -> str:
        """The address of a component."""
        place = self.body.writer.let(f"mul i64 {self.index.base}, {self.lanes.size}")
        return self.body.address(self.slot, element_type(self.kind), place)

    @property
    def addresses(self) -> str:
        """The address of each work-item's component."""
        number = self.lanes.apply("mul {t} {0}, {1}", "i64", self.index, self.lanes.constant("i64", self.lanes.size))
        element = self.lanes.apply("add {t} {0}, {1}", "i64", number, Number("i64", "0", 1))
        return self.body.writer.let(f"getelementptr {element_type(self.kind)}, ptr {self.slot}, "
                                    f"{self.lanes.vector('i64')} {self.lanes.lanes(element)}")

    def read(self) -> str:
        """The components."""
        if self.index.is_single:
            return self.body.writer.let(f"load {self.vector}, ptr {self.address}, align {self.alignment}")
        pointers = self.lanes.vector("ptr")
        return self.body.writer.call(self.vector, f"llvm.masked.gather.{suffix(self.vector)}.{suffix(pointers)}", [
            (pointers, f"align 1 {self.addresses}"), (self.lanes.vector("i1"), "splat (i1 true)"),
            (self.vector, "zeroinitializer")])

    def write(self, value: str, mask: str) -> None:
        """Change the components of the work-items in a mask."""
        mask_type = self.lanes.vector("i1")
        if self.index.is_single:
            address = self.address
            old = self.body.writer.let(f"load {self.vector}, ptr {address}, align {self.alignment}")
            new = self.body.writer.let(f"select {mask_type} {mask}, {self.vector} {value}, {self.vector} {old}")
            self.body.writer.do(f"store {self.vector} {new}, ptr {address}, align {self.alignment}")
            return
        pointers = self.lanes.vector("ptr")
        self.body.writer.call("void", f"llvm.masked.scatter.{suffix(self.vector)}.{suffix(pointers)}", [
            (self.vector, value), (pointers, f"align 1 {self.addresses}"), (mask_type, mask)])


_Access = Extract | Insert | ExtractInMemory | InsertInMemory


def _components(body: Body, operation: _Access, kind: MatrixType, slot: str) -> _Components:
    """The components in a buffer; the second parameter is which."""
    lanes = NumberWriter(body.writer, operation.sub_group_size)
    number = Number("i32", "%1") if operation.is_uniform else Number("i32", lanes="%1")
    last = lanes.constant("i32", kind.slice_length - 1)
    wide = resized(lanes, lanes.intrinsic("umin", "i32", number, last), "i64", signed=False)
    return _Components(body, kind, slot, lanes, wide)


def _index_type(components: _Components) -> str:
    return "i32" if components.index.is_single else components.lanes.vector("i32")


def _in_buffer(body: Body, operation: Extract | Insert, *, is_own: bool) -> _Components:
    kind, = operation.operands
    count = kind.slice_length * operation.sub_group_size
    return _components(body, operation, kind, body.to_buffer("%0", kind, count, is_own=is_own))


def extract(body: Body, operation: Extract) -> Made:
    kind, components = operation.operands[0], _in_buffer(body, operation, is_own=False)
    return [plain_type(kind), _index_type(components)], components.vector, components.read()


def insert(body: Body, operation: Insert) -> Made:
    kind, components = operation.result, _in_buffer(body, operation, is_own=True)
    components.write("%2", "%3")
    types = [plain_type(kind), _index_type(components), components.vector, components.lanes.vector("i1")]
    return types, plain_type(kind), body.from_buffer(components.slot, kind)


def extract_in_memory(body: Body, operation: ExtractInMemory) -> Made:
    components = _components(body, operation, operation.kind, "%0")
    return ["ptr", _index_type(components)], components.vector, components.read()


def insert_in_memory(body: Body, operation: InsertInMemory) -> Made:
    components = _components(body, operation, operation.kind, "%0")
    components.write("%2", "%3")
    return ["ptr", _index_type(components), components.vector, components.lanes.vector("i1")], "void", ""


def to_memory(body: Body, operation: ToMemory) -> Made:
    kind, = operation.operands
    body.fill_buffer("%1", "%0", kind, kind.slice_length * kind.work_items)
    return [plain_type(kind), "ptr"], "void", ""


def publish(body: Body, operation: Publish) -> Made:
    body.writer.do("store ptr %0, ptr %1, align 8")
    return ["ptr", "ptr"], "void", ""


def from_memory(body: Body, operation: FromMemory) -> Made:
    kind = operation.result
    return ["ptr"], plain_type(kind), body.from_buffer("%0", kind)
