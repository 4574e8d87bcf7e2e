"""The multiply-accumulate of floating-point matrices by a rule: exactly, or as a device does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coopmat.diagnostics import Error, KernelNotSupported
from coopmat.formats import Format, format_of
from coopmat.numerics.hardware import ROWS, row_of
from coopmat.spirv.analysis.device_support import not_supported
from coopmat.spirv.analysis.matrix_uses import required_matrix_uses
from coopmat.spirv.analysis.types import MatrixType, round_up
from coopmat.spirv.module import Module
from coopmat.targets.cpu.matrix.body import RESULT, Body, Made, is_large, plain_type, row_type
from coopmat.targets.cpu.matrix.exact import Exact
from coopmat.targets.cpu.matrix.models import AsDevice
from coopmat.targets.cpu.matrix.operation import Formats, MultiplyAs
from coopmat.targets.cpu.matrix.rows import ALIGNMENT, BYTES, DOUBLE, Factors, Forms, Rule, alignment_of, pitch_of
from coopmat.targets.cpu.matrix.sums import FLOAT_TYPES, register_bytes, to_work
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.cpu.options import EXACT
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.terms import Term
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Writer


def rule_of(numerics: str, names: Formats) -> Rule:
    """The rule by which ``numerics``, "exact" or an architecture, multiplies floating-point numbers of these formats.

    Raises KernelNotSupported if the architecture has no model of them.
    """
    component = FLOAT_TYPES[names[3]]
    if numerics == EXACT:
        return Exact(component, is_wide="fp64" in names)
    try:
        return AsDevice(row_of(numerics, ROWS[numerics], names), format_of(names[2]), component)
    except Error as error:
        raise KernelNotSupported(str(error)) from None


def check_models(module: Module, architecture: str) -> None:
    """Raise KernelNotSupported if a kernel multiplies numbers of which an architecture has no model."""
    uses = required_matrix_uses(module)
    of_sub_groups = ((row.formats, where) for use, where in uses.sub_group_operations.items() for row in use.rows)
    for names, where in (*((use.formats, where) for use, where in uses.operations.items()), *of_sub_groups):
        if format_of(names[3]).is_float:
            try:
                rule_of(architecture, names)
            except KernelNotSupported as error:
                raise not_supported(module, where, error.message) from None


# --------------------------------------------------------------------------------------
# Cooperative matrices
# --------------------------------------------------------------------------------------


REGISTERS = 4  # of columns that are computed together


def multiply_as(body: Body, operation: MultiplyAs) -> Made:
    d, writer, rule = operation.result, body.writer, rule_of(operation.numerics, operation.formats)
    memory = _Memory.of(body, operation, rule)
    columns, element, whole = NumberWriter(writer, memory.width), element_type(d), row_type(d)
    slot = writer.slot(f"[{d.rows} x {whole}]", align=ALIGNMENT)

    def part(m: str, first: str) -> None:
        found = rule.row(memory.factors(columns, m, first))
        address = body.address(body.address(slot, whole, m), element, first)
        writer.do(f"store {columns.vector(element)} {columns.lanes(found)}, ptr {address}, align {d.component.size}")

    _each_part(writer, d.rows, d.columns, memory.width, part)
    parameters = [plain_type(kind) for kind in operation.operands]
    if is_large(d):
        nbytes = d.columns * d.component.size
        writer.count(d.rows, lambda number: body.copy(writer.line(RESULT, number, nbytes), body.address(
            slot, whole, number), nbytes, d.component.size))
        return parameters, plain_type(d), RESULT
    rows = [writer.let(f"load {whole}, ptr {body.address(slot, whole, number)}, align {d.component.size}")
            for number in range(d.rows)]
    return parameters, plain_type(d), body.gathered(rows, d)


def _each_part(writer: Writer, rows: int, columns: int, width: int, body: Callable[[str, str], None]) -> None:
    """Loops over the columns of a matrix, ``width`` at a time, and its rows: ``body`` gets a row and the first column.
    That keeps the code of large matrices short."""
    def part(number: str) -> None:
        first = writer.let(f"mul i64 {number}, {width}")
        writer.count(rows, lambda m: body(m, first))

    writer.count(-(-columns // width), part)


# --------------------------------------------------------------------------------------
# Operands in memory
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Memory:
    """A, B and C as a rule needs them: A and B in each of its forms, with zeros added.

    count: K. columns: of B. width: how many of them are computed together.
    """

    a: Sequence[str]
    b: Sequence[str]
    c: str
    count: int
    columns: int
    width: int

    @classmethod
    def of(cls, body: Body, operation: MultiplyAs, rule: Rule) -> _Memory:
        """The operands of an operation."""
        a, b, c = operation.operands
        formats = [format_of(name) for name in operation.formats]
        count = round_up(a.columns, rule.multiple)
        a_slots = _in_memory(body, "%0", a, formats[0], (a.rows, count), rule.forms)
        b_slots = _in_memory(body, "%1", b, formats[1], (count, b.columns), rule.forms)
        c_slot, = _in_memory(body, "%2", c, formats[2], (c.rows, c.columns), lambda one: (rule.accumulator(one),))
        return cls(a_slots, b_slots, c_slot, count, b.columns, _width(body, b.columns))

    def factors(self, columns: NumberWriter, m: str, first: str) -> Factors:
        """What ``columns`` of a row of D are made of, from the ``first`` column on."""
        pitch = pitch_of(self.columns)
        a = [columns.writer.line(base, m, pitch_of(self.count)) for base in self.a]
        b = [columns.writer.line(base, first, BYTES) for base in self.b]
        c = columns.writer.line(columns.writer.line(self.c, m, pitch), first, BYTES)
        return Factors(columns, self.count, a, b, pitch, c)


def _width(body: Body, columns: int) -> int:
    """How many of some columns are computed together."""
    return min(columns, REGISTERS * register_bytes(body.features) // BYTES)


def _in_memory(body: Body, parameter: str, kind: MatrixType, fmt: Format, shape: tuple[int, int],
               forms: Callable[[Term], Forms]) -> list[str]:
    """A matrix with zeros added, of a shape, as doubles in each of some forms: the addresses."""
    writer, (rows, columns), element = body.writer, shape, element_type(kind)
    part = NumberWriter(writer, _width(body, columns))
    elements = _elements_in_memory(body, parameter, kind, rows, round_up(columns, part.size))
    slots: list[str] = []

    def convert(row: str, first: str) -> None:
        place = writer.let(f"add i64 {first}, {writer.let(f'mul i64 {row}, {pitch_of(columns) // BYTES}')}")
        text = writer.let(f"load {part.vector(element)}, ptr {body.address(elements, element, place)}, align "
                          f"{kind.component.size}")
        found = forms(Term(part, to_work(part, Number(element, lanes=text), fmt, DOUBLE)))
        slots.extend(writer.slot(f"[{rows * pitch_of(columns)} x i8]", align=ALIGNMENT) for _ in found)
        for slot, form in zip(slots, found, strict=True):
            address = body.address(slot, DOUBLE, place)
            writer.do(f"store {part.vector(DOUBLE)} {part.lanes(form.number)}, ptr {address}, "
                      f"align {alignment_of(pitch_of(columns))}")

    _each_part(writer, rows, columns, part.size, convert)
    return slots


def _elements_in_memory(body: Body, parameter: str, kind: MatrixType, rows: int, columns: int) -> str:
    """A matrix as it is in memory, with zeros added."""
    writer, element = body.writer, element_type(kind)
    given, wanted = row_type(kind), f"<{columns} x {element}>"
    slot = writer.slot(f"[{rows} x {wanted}]", align=ALIGNMENT)
    if is_large(kind):
        nbytes = kind.columns * kind.component.size
        body.clear(slot, rows * pitch_of(columns, element))
        writer.count(kind.rows, lambda number: body.copy(body.address(slot, wanted, number), writer.line(
            parameter, number, nbytes), nbytes, kind.component.size))
        return slot
    chosen = ", ".join(f"i32 {min(place, kind.columns)}" for place in range(columns))
    texts = [writer.let(f"shufflevector {given} {row}, {given} zeroinitializer, <{columns} x i32> <{chosen}>")
             for row in body.rows(parameter, kind)]
    for number, text in enumerate([*texts, *["zeroinitializer"] * (rows - kind.rows)]):
        writer.do(f"store {wanted} {text}, ptr {body.address(slot, wanted, number)}, align {kind.component.size}")
    return slot
