"""The multiply-accumulate of floating-point matrices by a rule: exactly, or as a device does it."""

from __future__ import annotations

from coopmat.diagnostics import Error, KernelNotSupported
from coopmat.formats import Format, format_of
from coopmat.numerics.hardware import ROWS, row_of
from coopmat.spirv.matrix_uses import required_matrix_uses
from coopmat.spirv.module import Module
from coopmat.spirv.types import MatrixType
from coopmat.targets.cpu.matrix.body import Body, Made, plain_type
from coopmat.targets.cpu.matrix.exact import Exact
from coopmat.targets.cpu.matrix.models import FLOAT_TYPES, AsDevice
from coopmat.targets.cpu.matrix.multiply import to_work
from coopmat.targets.cpu.matrix.operations import element_type
from coopmat.targets.cpu.matrix.rows import DOUBLE, Factors, Rule, line, pitch_of, stored, stored_forms
from coopmat.targets.cpu.number_writer import NumberWriter
from coopmat.targets.cpu.options import EXACT
from coopmat.targets.cpu.terms import Term
from coopmat.targets.cpu.values import Number

Names = tuple[str, str, str, str]  # of the formats of A, B, C and D


def rule_of(numerics: str, names: Names) -> Rule:
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
    of_sub_groups = (row.formats for use in uses.sub_group_operations for row in use.rows)
    for names in (*(operation.formats for operation in uses.operations), *of_sub_groups):
        if format_of(names[3]).is_float:
            rule_of(architecture, names)


# --------------------------------------------------------------------------------------
# Cooperative matrices
# --------------------------------------------------------------------------------------


def multiply_as(body: Body) -> Made:
    """The multiply-accumulate of an operation."""
    a, b, c = body.operation.operands
    d = body.operation.result
    names, numerics = body.operation.detail
    assert d is not None
    assert isinstance(names, tuple)
    assert isinstance(numerics, str)
    a_format, b_format, c_format, _ = map(format_of, names)
    rule, writer, columns = rule_of(numerics, names), body.writer, NumberWriter(body.writer, b.columns)
    a_rows = [_with_zeros(row, rule.multiple) for row in _doubles(body, "%0", a, a_format)]
    b_rows = _doubles(body, "%1", b, b_format)
    b_rows += [b_rows[0].constant(0.0)] * (-len(b_rows) % rule.multiple)
    a_slots, b_slots = stored_forms(rule, a_rows), stored_forms(rule, b_rows)
    c_slot = stored([rule.accumulator(row) for row in _doubles(body, "%2", c, c_format)])
    row_type = columns.vector(element_type(d))
    d_slot = writer.slot(f"[{d.rows} x {row_type}]", align=64)

    def row(m: str, carried: list[str]) -> list[str]:
        a_row = [line(writer, slot, m, pitch_of(len(b_rows))) for slot in a_slots]
        pitch = pitch_of(columns.size)
        found = rule.row(Factors(columns, len(b_rows), a_row, b_slots, pitch, line(writer, c_slot, m, pitch)))
        writer.do(f"store {row_type} {columns.lanes(found)}, ptr {body.address(d_slot, row_type, m)}")
        return carried

    writer.repeat(d.rows, [], row)
    rows = [writer.let(f"load {row_type}, ptr {body.address(d_slot, row_type, number)}") for number in range(d.rows)]
    return [plain_type(kind) for kind in (a, b, c)], plain_type(d), body.gathered(rows, d)


def _doubles(body: Body, parameter: str, kind: MatrixType, fmt: Format) -> list[Term]:
    """The rows of a matrix as doubles."""
    columns = NumberWriter(body.writer, kind.columns)
    return [Term(columns, to_work(columns, Number(element_type(kind), lanes=row), fmt, DOUBLE))
            for row in body.rows(parameter, kind)]


def _with_zeros(row: Term, multiple: int) -> Term:
    """A row with zeros behind it, so that its length is a multiple."""
    columns = row.emitter
    longer = NumberWriter(columns.writer, columns.size + -columns.size % multiple)
    if longer.size == columns.size:
        return row
    chosen = ", ".join(f"i32 {min(place, columns.size)}" for place in range(longer.size))
    vector = columns.vector(DOUBLE)
    text = columns.writer.let(f"shufflevector {vector} {columns.lanes(row.number)}, {vector} zeroinitializer, "
                              f"<{longer.size} x i32> <{chosen}>")
    return Term(longer, Number(DOUBLE, lanes=text))
