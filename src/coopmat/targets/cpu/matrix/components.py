"""The components of the work-items: of plain matrices, and of those that lie in memory as long as a loop runs."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.body import Body, Made, plain_type
from coopmat.targets.cpu.matrix.operations import element_type
from coopmat.targets.llvm.instructions.integers import resized
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
        if self.index.is_uniform:
            return self.body.writer.let(f"load {self.vector}, ptr {self.address}, align {self.alignment}")
        pointers = self.lanes.vector("ptr")
        return self.body.writer.call(self.vector, f"llvm.masked.gather.{suffix(self.vector)}.{suffix(pointers)}", [
            (pointers, f"align 1 {self.addresses}"), (self.lanes.vector("i1"), "splat (i1 true)"),
            (self.vector, "zeroinitializer")])

    def write(self, value: str, mask: str) -> None:
        """Change the components of the work-items in a mask."""
        mask_type = self.lanes.vector("i1")
        if self.index.is_uniform:
            address = self.address
            old = self.body.writer.let(f"load {self.vector}, ptr {address}, align {self.alignment}")
            new = self.body.writer.let(f"select {mask_type} {mask}, {self.vector} {value}, {self.vector} {old}")
            self.body.writer.do(f"store {self.vector} {new}, ptr {address}, align {self.alignment}")
            return
        pointers = self.lanes.vector("ptr")
        self.body.writer.call("void", f"llvm.masked.scatter.{suffix(self.vector)}.{suffix(pointers)}", [
            (self.vector, value), (pointers, f"align 1 {self.addresses}"), (mask_type, mask)])


def _components(body: Body, kind: MatrixType, slot: str, index: str) -> _Components:
    lanes = NumberWriter(body.writer, body.operation.sub_group_size)
    number = Number("i32", index) if body.operation.detail[0] == "uniform" else Number("i32", lanes=index)
    last = lanes.constant("i32", kind.slice_length - 1)
    wide = resized(lanes, lanes.intrinsic("umin", "i32", number, last), "i64", signed=False)
    return _Components(body, kind, slot, lanes, wide)


def _index_type(components: _Components) -> str:
    return "i32" if components.index.is_uniform else components.lanes.vector("i32")


def _in_buffer(body: Body, kind: MatrixType, *, is_own: bool) -> _Components:
    count = kind.slice_length * body.operation.sub_group_size
    return _components(body, kind, body.to_buffer("%0", kind, count, is_own=is_own), "%1")


def extract(body: Body) -> Made:
    kind = body.operation.operands[0]
    components = _in_buffer(body, kind, is_own=False)
    return [plain_type(kind), _index_type(components)], components.vector, components.read()


def insert(body: Body) -> Made:
    kind = body.operation.operands[0]
    components = _in_buffer(body, kind, is_own=True)
    components.write("%2", "%3")
    types = [plain_type(kind), _index_type(components), components.vector, components.lanes.vector("i1")]
    return types, plain_type(kind), body.from_buffer(components.slot, kind)


def _in_memory(body: Body) -> _Components:
    kind = body.operation.detail[1]
    assert isinstance(kind, MatrixType)
    return _components(body, kind, "%0", "%1")


def extract_in_memory(body: Body) -> Made:
    components = _in_memory(body)
    return ["ptr", _index_type(components)], components.vector, components.read()


def insert_in_memory(body: Body) -> Made:
    components = _in_memory(body)
    components.write("%2", "%3")
    return ["ptr", _index_type(components), components.vector, components.lanes.vector("i1")], "void", ""


def to_memory(body: Body) -> Made:
    kind = body.operation.operands[0]
    body.fill_buffer("%1", "%0", kind, kind.slice_length * kind.sub_group_size)
    return [plain_type(kind), "ptr"], "void", ""


def from_memory(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    return ["ptr"], plain_type(kind), body.from_buffer("%0", kind)
