"""``D = A*B + C``, exact and rounded once.

Products of numbers of at most 24 bits are exact in double. They are added up together with the rounding errors of these
additions (Knuth's TwoSum), a row of D at a time; where both ends of the interval in which the exact sum must then lie
round to the same number, that number is the result (Ziv's test). What this leaves open, and every sum of fp64's
products, is added up in an integer with a bit for every place that the sum can have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.formats import Format, format_of
from coopmat.spirv.types import MatrixType, Type
from coopmat.targets.cpu.conversions import narrowed
from coopmat.targets.cpu.matrix.body import Body, Made, plain_type
from coopmat.targets.cpu.matrix.fixed_point import BYTES, DOUBLE, OF_DOUBLES, OF_FLOATS, Fixed, quiet_nan, sum_function
from coopmat.targets.cpu.matrix.multiply import to_work
from coopmat.targets.cpu.matrix.operations import element_type
from coopmat.targets.cpu.number_writer import NumberWriter
from coopmat.targets.cpu.terms import Term, choose
from coopmat.targets.cpu.values import Number
from coopmat.targets.cpu.writer import Operand, Writer


def two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """The rounded sum, and its error; a + b is their sum exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def line(writer: Writer, base: str, number: int | str, pitch: int) -> str:
    """The address of a row."""
    offset = writer.let(f"mul i64 {number}, {pitch}")
    return writer.let(f"getelementptr i8, ptr {base}, i64 {offset}")


def pitch_of(columns: int) -> int:
    """The bytes from one row of doubles to the next."""
    return BYTES << (columns - 1).bit_length()


# --------------------------------------------------------------------------------------
# A row of D
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sums:
    """Sums of products, one for each column: what double holds of them, the sum of its errors, and of their magnitudes.
    """

    high: Term
    low: Term
    size: Term

    @classmethod
    def of(cls, columns: NumberWriter, texts: Sequence[str]) -> Sums:
        """From the operands that :attr:`operands` gave."""
        return cls(*(Term(columns, Number(DOUBLE, lanes=text)) for text in texts))

    @classmethod
    def start(cls, c: Term) -> Sums:
        """Before the first product."""
        return cls(c, c.constant(0.0), c.constant(0.0))

    @property
    def operands(self) -> list[Operand]:
        """As vectors."""
        columns = self.high.emitter
        return [(columns.vector(DOUBLE), columns.lanes(term.number)) for term in (self.high, self.low, self.size)]

    def plus(self, a: Term, b: Term) -> Sums:
        """With one more product; the product must be exact in double."""
        high, error = two_sum(self.high, a * b)
        return Sums(high, self.low + error, self.size + error.magnitude)


@dataclass(frozen=True)
class Row:
    """How a row of D is rounded.

    columns: writes the row. count: K. a: the address of a row of A, doubles; c: that of a row of C. b: the address of
    the rows of B, and pitch: the bytes from one to the next. component: of D. is_wide: A and B are fp64.
    """

    columns: NumberWriter
    count: int
    a: str
    b: str
    pitch: int
    c: str
    component: Type
    fixed: Fixed

    def rounded(self) -> Number:
        """The row."""
        if self.fixed == OF_DOUBLES:
            return self._narrowed(Term(self.columns, self._exactly("splat (i1 true)")))
        first, second = (Term(self.columns, self._narrowed(end)) for end in self._ends(self._sums()))
        is_open = first.bits.differs(second.bits)
        mask = self.columns.lanes(is_open.number)
        exact = self._narrowed(Term(self.columns, self._exactly(mask)))
        return choose(is_open, Term(self.columns, exact), first).number

    def _narrowed(self, sums: Term) -> Number:
        return narrowed(self.columns, sums.number, self.component, "rte")

    def _sums(self) -> Sums:
        columns, writer = self.columns, self.columns.writer
        vector = columns.vector(DOUBLE)

        def turn(k: str, carried: list[str]) -> list[str]:
            address = writer.let(f"getelementptr double, ptr {self.a}, i64 {k}")
            factor = Number(DOUBLE, writer.let(f"load double, ptr {address}"))
            b = Number(DOUBLE, lanes=writer.let(f"load {vector}, ptr {line(writer, self.b, k, self.pitch)}"))
            after = Sums.of(columns, carried).plus(Term(columns, factor), Term(columns, b))
            return [text for _, text in after.operands]

        start = Sums.start(Term(columns, Number(DOUBLE, lanes=writer.let(f"load {vector}, ptr {self.c}"))))
        return Sums.of(columns, writer.repeat(self.count, start.operands, turn))

    def _ends(self, sums: Sums) -> tuple[Term, Term]:
        """The ends of the interval, in double and rounded to odd, so that they may be rounded once more."""
        high, low = two_sum(sums.high, sums.low)
        error = sums.size * ((self.count + 1) * 2.0 ** -52)  # twice what the errors' own sum may be wrong by
        is_settled = sums.size.equals(0.0).apply("or {t} {0}, {1}", "i1", _not(sums.high.is_finite))
        settled = choose(sums.high.is_nan, quiet_nan(self.columns), sums.high)
        below, above = (choose(is_settled, settled, _odd(*two_sum(high, low + side))) for side in (-error, error))
        return below, above

    def _exactly(self, mask: str) -> Number:
        """The sums of the columns of a mask as doubles: rounded, or rounded to odd where they become narrower."""
        columns, writer = self.columns, self.columns.writer
        name = sum_function(writer, self.fixed)
        slot = writer.slot(columns.vector(DOUBLE), align=64, initial="zeroinitializer")

        def column(number: str, carried: list[str]) -> list[str]:
            def add_up() -> None:
                b, c, found = (writer.let(f"getelementptr double, ptr {base}, i64 {number}")
                               for base in (self.b, self.c, slot))
                start = writer.let(f"load double, ptr {c}")
                total = writer.call(DOUBLE, name, [
                    ("ptr", self.a), ("ptr", b), ("i64", str(self.pitch)), ("i64", str(self.count)), (DOUBLE, start)])
                writer.do(f"store double {total}, ptr {found}")

            place = writer.let(f"trunc i64 {number} to i32")
            writer.when(writer.let(f"extractelement {columns.vector('i1')} {mask}, i32 {place}"), add_up)
            return carried

        def all_columns() -> None:
            writer.repeat(columns.size, [], column)

        bits = writer.let(f"bitcast {columns.vector('i1')} {mask} to i{columns.size}")
        writer.when(writer.let(f"icmp ne i{columns.size} {bits}, 0"), all_columns)
        return Number(DOUBLE, lanes=writer.let(f"load {columns.vector(DOUBLE)}, ptr {slot}"))


def _not(condition: Term) -> Term:
    return condition ^ True


def _odd(total: Term, error: Term) -> Term:
    """``total + error``, where inexact the one of the two neighbours whose last bit is 1."""
    bits = total.bits
    is_moved = (bits & 1).equals(0).apply("and {t} {0}, {1}", "i1", error.differs(0.0))
    outwards = (error.bits ^ bits) < 0
    moved = choose(outwards, bits - 1, bits + 1)
    return choose(is_moved, moved, bits).cast(DOUBLE)


# --------------------------------------------------------------------------------------
# The operation
# --------------------------------------------------------------------------------------


def multiply_exactly(body: Body) -> Made:
    """The multiply-accumulate of floating-point numbers."""
    a, b, c = body.operation.operands
    d = body.operation.result
    assert d is not None
    names = body.operation.detail[0]
    assert isinstance(names, tuple)
    formats = [format_of(name) for name in names]
    columns, writer = NumberWriter(body.writer, b.columns), body.writer
    a_slot, a_pitch = _in_memory(body, "%0", a, formats[0])
    b_slot, b_pitch = _in_memory(body, "%1", b, formats[1])
    c_slot, c_pitch = _in_memory(body, "%2", c, formats[2])
    row_type = columns.vector(element_type(d))
    d_slot = writer.slot(f"[{d.rows} x {row_type}]", align=64)

    def row(m: str, carried: list[str]) -> list[str]:
        a_row, c_row = (line(writer, slot, m, pitch) for slot, pitch in ((a_slot, a_pitch), (c_slot, c_pitch)))
        rule = Row(columns, a.columns, a_row, b_slot, b_pitch, c_row, d.component,
                   OF_DOUBLES if any(fmt.bits == 64 for fmt in formats) else OF_FLOATS)
        writer.do(f"store {row_type} {columns.lanes(rule.rounded())}, ptr {body.address(d_slot, row_type, m)}")
        return carried

    writer.repeat(d.rows, [], row)
    rows = [writer.let(f"load {row_type}, ptr {body.address(d_slot, row_type, number)}") for number in range(d.rows)]
    return [plain_type(kind) for kind in (a, b, c)], plain_type(d), body.gathered(rows, d)


def _in_memory(body: Body, parameter: str, kind: MatrixType, fmt: Format) -> tuple[str, int]:
    """A matrix as doubles in memory, and the bytes from row to row."""
    columns = NumberWriter(body.writer, kind.columns)
    vector = columns.vector(DOUBLE)
    slot = body.writer.slot(f"[{kind.rows} x {vector}]", align=64)
    for number, row in enumerate(body.rows(parameter, kind)):
        wide = to_work(columns, Number(element_type(kind), lanes=row), fmt, DOUBLE)
        body.writer.do(f"store {vector} {columns.lanes(wide)}, ptr {body.address(slot, vector, number)}")
    return slot, pitch_of(kind.columns)
