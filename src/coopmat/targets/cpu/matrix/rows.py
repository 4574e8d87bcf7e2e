"""``D = A*B + C`` a row of D at a time: what all that computes in double has in common.

A and B lie in memory as doubles, C as well. A :class:`Rule` says what becomes of them: exact sums (:mod:`.exact`), or
what a device makes of them (:mod:`.models`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.terms import Term
from coopmat.targets.llvm.values import Number, bits_of
from coopmat.targets.llvm.writer import Operand

DOUBLE = "double"
BYTES = 8
ALIGNMENT = 64  # of memory with rows

Forms = tuple[Term, ...]  # an element of A, or a row of B, in each of the forms that a rule has them in
Pair = tuple[Forms, Forms]  # of A, and of B


class Rule(Protocol):
    """How rows of D are computed."""

    @property
    def multiple(self) -> int:
        """Zeros are added to A and B so that K is a multiple of it."""

    def forms(self, elements: Term) -> Forms:
        """What is kept of elements of A or B, given as doubles."""

    def accumulator(self, c: Term) -> Term:
        """What is kept of elements of C, given as doubles."""

    def row(self, factors: Factors) -> Number:
        """A row of D."""


@dataclass(frozen=True)
class Factors:
    """What a row of D is made of, in memory.

    columns: writes numbers of all columns. count: K. a: the addresses of a row of A, one for each form; b: those of the
    rows of B, and pitch: the bytes from one to the next. c: the address of a row of C.
    """

    columns: NumberWriter
    count: int
    a: Sequence[str]
    b: Sequence[str]
    pitch: int
    c: str

    @property
    def start(self) -> Term:
        """The row of C."""
        return self._loaded(self.c)

    def _loaded(self, address: str) -> Term:
        text = self.columns.writer.let(f"load {self.columns.vector(DOUBLE)}, ptr {address}, "
                                       f"align {alignment_of(self.pitch)}")
        return Term(self.columns, Number(DOUBLE, lanes=text))

    def pair(self, k: str) -> Pair:
        """An element of A, the same for all columns, and the row of B that it is multiplied with."""
        writer = self.columns.writer
        places = [writer.let(f"getelementptr double, ptr {base}, i64 {k}") for base in self.a]
        elements = [Number(DOUBLE, writer.let(f"load double, ptr {place}")) for place in places]
        rows = tuple(self._loaded(writer.line(base, k, self.pitch)) for base in self.b)
        return tuple(Term(self.columns, element) for element in elements), rows

    def steps(self, first: str, count: int, carried: Sequence[Term],
              body: Callable[[list[Pair], list[Term]], Sequence[Term]], together: int = 1) -> list[Term]:
        """A loop over ``count`` products from ``first`` on, of which a turn gets so many ``together``. What is carried
        from turn to turn are doubles."""
        columns, writer = self.columns, self.columns.writer

        def turn(number: str, texts: Sequence[str]) -> list[str]:
            k = writer.let(f"add i64 {first}, {writer.let(f'mul i64 {number}, {together}')}")
            pairs = [self.pair(writer.let(f"add i64 {k}, {place}")) for place in range(together)]
            return [text for _, text in map(_operand, body(pairs, _terms(columns, texts)))]

        return _terms(columns, writer.repeat(count // together, [_operand(term) for term in carried], turn))

    def in_blocks(self, size: int, block: Callable[[str, int, Term], Term], start: Term) -> Term:
        """A loop over blocks of ``size`` products and what remains: ``block`` gets the first product, how many there
        are, and the doubles before them, and gives those after them."""
        columns, writer = self.columns, self.columns.writer
        whole, rest = divmod(self.count, size)

        def turn(number: str, texts: Sequence[str]) -> list[str]:
            first = writer.let(f"mul i64 {number}, {size}")
            return [_operand(block(first, size, *_terms(columns, texts)))[1]]

        total = start
        if whole:
            total, = _terms(columns, writer.repeat(whole, [_operand(start)], turn))
        return block(str(whole * size), rest, total) if rest else total


def _operand(term: Term) -> Operand:
    columns = term.emitter
    return columns.vector(DOUBLE), columns.lanes(term.number)


def _terms(columns: NumberWriter, texts: Sequence[str]) -> list[Term]:
    return [Term(columns, Number(DOUBLE, lanes=text)) for text in texts]


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------


def pitch_of(columns: int, llvm: str = DOUBLE) -> int:
    """The bytes from one row of numbers to the next: LLVM counts in vectors of a power of two."""
    return bits_of(llvm) // 8 << (columns - 1).bit_length()


def alignment_of(pitch: int) -> int:
    """The alignment of rows, and of their parts that are computed together."""
    return min(ALIGNMENT, pitch)


def stored(rows: Sequence[Term]) -> str:
    """Memory with rows of doubles."""
    columns, pitch = rows[0].emitter, pitch_of(rows[0].emitter.size)
    writer, vector = columns.writer, columns.vector(DOUBLE)
    slot = writer.slot(f"[{len(rows)} x {vector}]", align=ALIGNMENT)
    for number, row in enumerate(rows):
        address = writer.line(slot, number, pitch)
        writer.do(f"store {vector} {columns.lanes(row.number)}, ptr {address}, align {alignment_of(pitch)}")
    return slot


def stored_forms(rule: Rule, rows: Sequence[Term]) -> list[str]:
    """Memory with rows of A or B, once for each of the rule's forms."""
    return [stored(form) for form in zip(*map(rule.forms, rows), strict=True)]
