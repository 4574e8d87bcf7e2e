"""Rewrites one kernel: products of work-items' vectors as products of cooperative matrices.

From each group of stores of components of a product, all that leads there is followed back: through loops, sums and
functions of the components to products, and from their operands to what was loaded. What work-items load or store
together is a matrix in memory where it lies like one (tiles.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from coopmat.devices import Use, intel_xmx
from coopmat.devices.lane_layout import LaneLayout
from coopmat.devices.subgroup_layout import SubGroupMatrixRow
from coopmat.formats import format_of
from coopmat.spirv.analysis.sub_group_uses import multiply_of
from coopmat.spirv.analysis.types import BFLOAT16_ENCODING, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor, uses_of
from coopmat.spirv.grammar import CONVERSIONS, Op, Scope
from coopmat.spirv.grammar import CooperativeMatrixOperands as Operands
from coopmat.spirv.grammar import CooperativeMatrixUse as MatrixUse
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.facts import PURE, Facts
from coopmat.spirv.transform.fold import remove_unused
from coopmat.spirv.transform.raising.accesses import HINTS, Accesses
from coopmat.spirv.transform.raising.elements import Expression, copy_decorations, is_elementwise, operands_of
from coopmat.spirv.transform.raising.numbers import Numbers
from coopmat.spirv.transform.raising.spots import BLOCK_LOADS, PRODUCT, NotKnown, Spot, Spots
from coopmat.spirv.transform.raising.terms import BYTE, Term
from coopmat.spirv.transform.raising.tiles import Tile, tile_of

_USES: dict[Use, MatrixUse] = {"a": MatrixUse.MatrixAKHR, "b": MatrixUse.MatrixBKHR,
                               "accumulator": MatrixUse.MatrixAccumulatorKHR}
_SIGNED = (Operands.MatrixASignedComponentsKHR, Operands.MatrixBSignedComponentsKHR,
           Operands.MatrixCSignedComponentsKHR, Operands.MatrixResultSignedComponentsKHR)
_FACTORS: tuple[Use, Use] = ("a", "b")
_CONSTANTS = frozenset({Op.Constant, Op.ConstantNull})


AsItIs = Literal["same", "fp32", "no"]
"""A and B stay what they are, become floats before they are multiplied, or are not multiplied as matrices."""
Form = Callable[[SubGroupMatrixRow], AsItIs]


@dataclass(frozen=True)
class Role:
    """What numbers make up: a matrix of a use and format, with the layout of its elements over work-items."""

    use: Use
    fmt: str
    layout: LaneLayout

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What tells it from others."""
        return self.use, self.fmt, self.layout.rows, self.layout.columns


class Raising:
    """One kernel with sub-groups of so many work-items (``lanes``). Changes the function; NotKnown where it cannot."""

    def __init__(self, editor: FunctionEditor, body: Body, indices: Indices, lanes: int, form: Form) -> None:
        """``form``: how a combination is multiplied."""
        self.editor, self.body, self.indices, self.lanes, self.form = editor, body, indices, lanes, form
        self.types = TypeTable(editor.module, lanes)
        self.spots = Spots(indices, self.types, lanes)
        self.terms, self.facts, self.numbers = self.spots.terms, Facts(editor), Numbers(indices)
        self.accesses = Accesses(self.spots, self.facts, self.numbers)
        self.labels = {id(row): block.label for block in body.blocks for row in block.instructions}
        self.products = {row.result_id or 0: row for row in body.rows() if row.opcode == PRODUCT}
        self.behind: dict[int, list[Instruction]] = {}  # by the row that it follows
        self.phis: dict[int, list[Instruction]] = {}  # by the block's label
        self.gone: set[int] = set()  # rows
        self._made: dict[tuple[object, ...], int] = {}
        self._functions: dict[tuple[object, ...], int] = {}

    def done(self) -> int:
        """Rewrite; how many products there were."""
        branch = self.spots.divergent_branch()
        if branch is not None:
            raise NotKnown("work-items of a sub-group may part at a branch", branch)
        for group in self._groups():
            self._store(group)
        self._write()
        return len(self.products)

    # --- stores -----------------------------------------------------------------------------

    def _groups(self) -> Iterator[list[tuple[Term, Spot]]]:
        """What is stored of each product, component by component."""
        found: dict[tuple[int, int, int, int], dict[int, tuple[Term, Spot]]] = {}
        for row in list(self.body.rows()):
            for term, spot in self.spots.stored(row):
                origin = self._origin(term)
                if origin is None:
                    continue
                product, component = origin
                key = self.accesses.block(row), product, spot.base, self.terms.type_id(term)
                if component in found.setdefault(key, {}):
                    raise NotKnown("a component of a product is stored twice", row)
                found[key][component] = term, spot
        for (_, product, *_), parts in found.items():
            count = self.terms.kind(product).count
            if sorted(parts) != list(range(count)):
                raise NotKnown("not all components of a product are stored together", parts[min(parts)][1].row)
            yield [parts[number] for number in range(count)]

    def _origin(self, term: Term) -> tuple[int, int] | None:
        """The product, and its component, that a number is computed from first."""
        waiting, seen = [term], set[Term]()
        while waiting:
            term = waiting.pop()
            if term in seen:
                continue
            seen.add(term)
            row = self.terms.row(term)
            if row.opcode == PRODUCT:
                return term.identifier, max(term.component, 0)
            if row.opcode == Op.Phi:
                waiting += [self.terms.normal(Term(word, term.component)) for word in row.words[::2]]
            elif row.opcode in CONVERSIONS or is_elementwise(self.facts, row):
                waiting += [one for _, one in operands_of(self.terms, row, term.component)]
        return None

    def _store(self, group: Sequence[tuple[Term, Spot]]) -> None:
        terms = tuple(term for term, _ in group)
        role = self._accumulator(terms, group[0][1].row)
        size = role.layout.element_bits // BYTE
        tile = tile_of([[(spot, byte) for byte in range(size)] for _, spot in group], role.layout, role.use,
                       is_loaded=False)
        place = self.accesses.together(tile, stores=True)
        matrix = self.matrix(terms, role)
        self._put(place, self.accesses.store(tile, role.layout.element_bits, self._component(role.fmt), matrix))
        self.gone |= {id(row) for row in tile.rows}

    def _accumulator(self, terms: tuple[Term, ...], row: Instruction) -> Role:
        """The role of numbers that products, or what is computed from them, are."""
        fmt = self._format(terms[0], set())
        if fmt is None:
            raise NotKnown("it is not seen what numbers are stored", row)
        return self._role("accumulator", fmt, len(terms), self.lanes)

    def _format(self, term: Term, seen: set[Term]) -> str | None:
        row = self.terms.row(term)
        if term in seen:
            return None
        seen.add(term)
        if row.opcode == PRODUCT:
            return self._known(row).accumulator
        if row.opcode == Op.Phi:
            found = (self._format(self.terms.normal(Term(word, term.component)), seen) for word in row.words[::2])
            return next((one for one in found if one is not None), None)
        if row.opcode == Op.Select:
            return self._format(operands_of(self.terms, row, term.component)[1][1], seen)
        kind = self.editor.definition(self.terms.type_id(term))
        if kind.opcode == Op.TypeInt:
            return f"sint{kind.words[0]}"
        return f"fp{kind.words[0]}" if kind.opcode == Op.TypeFloat else None

    # --- matrices ---------------------------------------------------------------------------

    def matrix(self, terms: tuple[Term, ...], role: Role) -> int:
        """The matrix that numbers make up."""
        key = terms, role.key
        if key not in self._made:
            self._made[key] = self._matrix(terms, role)
        return self._made[key]

    def _matrix(self, terms: tuple[Term, ...], role: Role) -> int:
        rows = [self.terms.row(term) for term in terms]
        first = rows[0]
        if first.opcode == PRODUCT and role.use == "accumulator" and terms == self.terms.of(first.result_id or 0):
            return self._product(first, role)
        if all(row.opcode == Op.Phi for row in rows) and len({self.labels.get(id(row)) for row in rows}) == 1:
            return self._phi(terms, rows, role)
        if role.use == "accumulator":
            if all(row.opcode in _CONSTANTS for row in rows) and len(set(terms)) == 1:
                return self.editor.unique(Op.ConstantComposite, self._constant(terms[0], role),
                                          type_id=self._type(role))
            if all(row.opcode == Op.Undef for row in rows):
                return self.editor.undefined(self._type(role))
        spots = self._loaded(terms)
        if spots is not None:
            return self._load(tile_of(spots, role.layout, role.use), role)
        if role.use == "accumulator":
            if all(row.opcode in CONVERSIONS for row in rows):
                return self._converted(terms, rows, role)
            if is_elementwise(self.facts, first):
                return self._computed(terms, role)
        other = next((row for term, row in zip(terms, rows, strict=True) if self._loaded([term]) is None), first)
        raise NotKnown(f"components of a product, or of its operands, are made by {other.name}", other)

    def _constant(self, term: Term, role: Role) -> int:
        """A constant as a number of a matrix's type."""
        component = self._component(role.fmt)
        if self.terms.type_id(term) == component:
            return term.identifier
        bits = self.facts.bits(term.identifier)
        if bits is None:
            raise NotKnown("a constant of another type", self.terms.row(term))
        return self.facts.constant(component, bits)

    def _loaded(self, terms: Sequence[Term]) -> list[list[tuple[Spot, int]]] | None:
        """Where the bytes of numbers were loaded from; None if they were not."""
        found = []
        for term in terms:
            pieces = self.terms.bytes(term)
            spots = [None if piece is None else self.spots.loaded(piece.term) for piece in pieces]
            if any(spot is None for spot in spots):
                return None
            found.append([(spot, piece.byte) for spot, piece in zip(spots, pieces, strict=True)
                          if spot is not None and piece is not None])
        return found

    def _phi(self, terms: Sequence[Term], rows: Sequence[Instruction], role: Role) -> int:
        """A matrix of which a loop's rounds, or arms of a selection, have their own."""
        result = self._made[tuple(terms), role.key] = self.editor.new_id()
        words: list[int] = []
        for place, parent in enumerate(rows[0].words[1::2]):
            if any(row.words[2 * place + 1] != parent for row in rows):
                raise NotKnown("values come from different blocks", rows[0])
            incoming = tuple(self.terms.normal(Term(row.words[2 * place], term.component))
                             for row, term in zip(rows, terms, strict=True))
            words += [self.matrix(incoming, role), parent]
        self.phis.setdefault(self.labels[id(rows[0])], []).append(
            self.editor.row(Op.Phi, self._type(role), *words, result=result))
        return result

    def _known(self, row: Instruction) -> SubGroupMatrixRow:
        """The combination of a product."""
        known = multiply_of(self.editor.module, self.types, row).row_for(self.lanes)
        if known is None:
            raise NotKnown("a product that its sub-groups do not have", row)
        return known

    def _product(self, row: Instruction, role: Role) -> int:
        known, m = self._known(row), role.layout.rows
        form = self.form(known)
        if form == "no" or format_of(known.a).bits < BYTE or known.a == "tf32" or known.accumulator == "bf16":
            raise NotKnown(f"a product of {known} is not the same as one of cooperative matrices", row)
        result = self._made[self.terms.of(row.result_id or 0), role.key] = self.editor.new_id()
        a, b = (self._factor(row, word, Role(use, fmt, known.layout(use, m)), form)
                for word, use, fmt in zip(row.words[1:3], _FACTORS, (known.a, known.b), strict=True))
        c = self.matrix(self.terms.of(row.words[3]), role)
        flags = Operands(0)
        for fmt, flag in zip(known.formats, _SIGNED, strict=True):
            flags |= flag if format_of(fmt).is_integer and format_of(fmt).is_signed else Operands(0)
        made = self.editor.row(Op.CooperativeMatrixMulAddKHR, self._type(role), a, b, c, *([flags] if flags else []),
                               result=result)
        self._put(row, [made])
        return result

    def _factor(self, row: Instruction, vector: int, role: Role, form: AsItIs) -> int:
        """A or B of a product."""
        terms = self.terms.of(vector)
        matrix, wide = self.matrix(terms, role), replace(role, fmt="fp32")
        if form == "same":
            return matrix
        if (terms, wide.key) not in self._made:
            made = self.editor.row(Op.FConvert, self._type(wide), matrix)
            self._put(row, [made])
            self._made[terms, wide.key] = made.result_id or 0
        return self._made[terms, wide.key]

    # --- what is computed -------------------------------------------------------------------

    def _converted(self, terms: Sequence[Term], rows: Sequence[Instruction], role: Role) -> int:
        """Numbers converted to another type."""
        ways = {(row.opcode, self.facts.decorated.get(row.result_id or 0, ())) for row in rows}
        if len(ways) != 1:
            raise NotKnown("components are converted in different ways", rows[0])
        inner = tuple(operands_of(self.terms, row, term.component)[0][1]
                      for row, term in zip(rows, terms, strict=True))
        matrix = self.matrix(inner, self._accumulator(inner, rows[0]))
        made = self.editor.row(Op(rows[0].opcode), self._type(role), matrix)
        copy_decorations(self.editor, rows[0], made)
        self._put(self.accesses.last(rows), [made])
        return made.result_id or 0

    def _computed(self, terms: tuple[Term, ...], role: Role) -> int:
        """Numbers computed by a function of each element."""
        expression = Expression(self.editor, self.types)
        result = self._expression(terms, expression)
        key = expression.key()
        if key not in self._functions:
            self._functions[key] = expression.made(result, self.body)
        type_id = self._type(role)
        matrices = sorted(expression.matrices, key=lambda one: self._types[one] != type_id)
        if not matrices or self._types[matrices[0]] != type_id or matrices != list(expression.matrices):
            raise NotKnown("what is computed of a product has another type than it", self.terms.row(terms[0]))
        row = self.editor.row(Op.CooperativeMatrixPerElementOpEXT, type_id, matrices[0], self._functions[key],
                              *matrices[1:], *expression.numbers)
        self._put(self.accesses.last([self.terms.row(term) for term in terms]), [row])
        return row.result_id or 0

    def _expression(self, terms: tuple[Term, ...], into: Expression) -> int:
        """Numbers as one of a function."""
        if terms not in into.known:
            into.known[terms] = self._inside(terms, into)
        return into.known[terms]

    def _inside(self, terms: tuple[Term, ...], into: Expression) -> int:
        rows = [self.terms.row(term) for term in terms]
        first = rows[0]
        if len(set(terms)) == 1 and terms[0].component < 0 and self.spots.is_same(terms[0].identifier):
            return into.number(terms[0].identifier)
        if not is_elementwise(self.facts, first):
            role = self._accumulator(terms, first)
            return into.matrix(self.matrix(terms, role))
        operands = [operands_of(self.terms, row, term.component) for row, term in zip(rows, terms, strict=True)]
        given = {place for place, _ in operands[0]}
        if any(row.opcode != first.opcode or [word for place, word in enumerate(row.words) if place not in given]
               != [word for place, word in enumerate(first.words) if place not in given] for row in rows):
            raise NotKnown("components of a product are computed in different ways", first)
        inner = [(place, self._expression(tuple(one[number][1] for one in operands), into))
                 for number, (place, _) in enumerate(operands[0])]
        return into.operation(first, self._scalar(first), inner)

    def _scalar(self, row: Instruction) -> int:
        return self.editor.component(self.editor.definition(row.type_id or 0)).result_id or 0

    def _load(self, tile: Tile, role: Role) -> int:
        place = self.accesses.together(tile, stores=False)
        rows = self.accesses.load(tile, role.layout.element_bits, self._component(role.fmt), self._type(role))
        self._put(place, rows)
        return rows[-1].result_id or 0

    # --- types ------------------------------------------------------------------------------

    def _role(self, use: Use, fmt: str, rows: int, columns: int) -> Role:
        return Role(use, fmt, intel_xmx.layout(use, format_of(fmt), rows, columns, self.lanes))

    def _component(self, fmt: str) -> int:
        """The type of an element."""
        described = format_of(fmt)
        if not described.is_float:
            return self.editor.unique(Op.TypeInt, described.bits, 0)
        encoding = (BFLOAT16_ENCODING,) if fmt == "bf16" else ()
        return self.editor.unique(Op.TypeFloat, described.bits, *encoding)

    def _type(self, role: Role) -> int:
        sizes = (self.editor.constant(one) for one in (Scope.Subgroup, role.layout.rows, role.layout.columns,
                                                       _USES[role.use]))
        return self.editor.unique(Op.TypeCooperativeMatrixKHR, self._component(role.fmt), *sizes)

    @property
    def _types(self) -> dict[int, int]:
        """The types of the matrices that were made."""
        rows = (row for found in (*self.behind.values(), *self.phis.values()) for row in found)
        return {row.result_id or 0: row.type_id or 0 for row in rows}

    # --- writing ----------------------------------------------------------------------------

    def _put(self, row: Instruction, made: Sequence[Instruction]) -> None:
        self.behind.setdefault(id(row), []).extend(made)

    def _write(self) -> None:
        variables = {self.spots.variable(row.words[4]) for row in self.body.rows()
                     if id(row) in self.gone and row.opcode == Op.Subgroup2DBlockStoreINTEL}
        for block in self.body.blocks:
            rows = list(self.phis.get(block.label, ()))
            for row in block.instructions:
                is_copy = row.opcode == Op.Store and self.spots.variable(row.words[0]) in variables
                if id(row) not in self.gone and row.opcode not in HINTS and not is_copy:
                    rows.append(row)
                rows += self.behind.get(id(row), ())
            block.instructions = rows
        self.numbers.written()
        self._remove_unused()
        left = [row for row in self.body.rows() if row.opcode == PRODUCT]
        if left:
            user = self._user(left)
            raise NotKnown(f"a product's components are used by {user.name}", user)

    def _user(self, left: Sequence[Instruction]) -> Instruction:
        """What else is done with products, or with what is computed from them."""
        uses = uses_of(self.body)
        waiting, seen = list(left), {id(row) for row in left}
        while waiting:
            for user in uses.get(waiting.pop().result_id or 0, ()):
                if user.opcode not in PURE | {PRODUCT, Op.Phi, Op.Select}:
                    return user
                if id(user) not in seen:
                    seen.add(id(user))
                    waiting.append(user)
        return left[0]

    def _remove_unused(self) -> None:
        """Take out what nobody needs any more: products, and loads of what they took."""
        remove_unused(self.facts, self.body, self.spots.only_reads)
        loaded = {self.spots.variable(row.words[0]) for row in self.body.rows() if row.opcode == Op.Load}
        for block in self.body.blocks:
            block.instructions = [row for row in block.instructions if row.opcode not in BLOCK_LOADS
                                  or self.spots.variable(row.words[9]) in loaded]
        remove_unused(self.facts, self.body)
