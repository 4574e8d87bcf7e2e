"""What the work-items of a sub-group or work-group do together, as parts of generated kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.kit.fuzz.generator import Generator
from tests.kit.fuzz.nodes import (
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    UINT,
    WIDE_INTEGERS,
    Block,
    Expression,
    Node,
    Statement,
    Type,
)

WAYS = ("reduce", "scan_inclusive", "scan_exclusive")
BIT_OPERATIONS = ("and", "or", "xor")
OPERATIONS = ("add", "mul", "min", "max", *BIT_OPERATIONS)
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


class GroupStatements(Generator):
    """Expressions over the work-items that are here, and statements for places where all are."""

    sub_group_size: int
    local: tuple[int, ...]
    is_whole: bool
    locals: list[str]

    # ------------------------------------------------------------------ in divergent code

    def _productions(self, type_: Type) -> Sequence[Callable[[Type, int], Expression | None]]:
        found = tuple(super()._productions(type_))
        return (*found, self._over_lanes) if type_.count == 1 else found

    def _over_lanes(self, type_: Type, depth: int) -> Expression:
        """A function of the work-items that are here; floats only move."""
        makers = [self._from_lane]
        if not type_.is_float:
            makers += [self._combined, self._combined]
        if type_ in (INT, UINT):
            makers += [self._vote]
        return self.pick(makers)(type_, self.expression(type_, depth - 1), depth)

    def _from_lane(self, type_: Type, value: Expression, depth: int) -> Expression:
        """The value of one of the work-items that are here."""
        match self.random.randrange(3):
            case 0:
                return Expression(type_, "sub_group_broadcast_first(", value, ")")
            case 1:
                end = self.pick(("lsb", "msb"))
                return Expression(type_, "sub_group_non_uniform_broadcast(", value,
                                  f", sub_group_ballot_find_{end}(sub_group_ballot(1)))")
        return Expression(type_, "sub_group_shuffle(", value, ", present(", self.expression(UINT, depth - 1), "))")

    def _combined(self, type_: Type, value: Expression, depth: int) -> Expression:
        name = self.pick(OPERATIONS)
        if self.chance(0.25):
            size = self.pick([n for n in (1, 2, 4, 8, 16, 32, 64) if n <= (self.sub_group_size or 4)])
            return Expression(type_, f"sub_group_clustered_reduce_{name}(", value, f", {size})")
        return Expression(type_, f"sub_group_non_uniform_{self.pick(WAYS)}_{name}(", value, ")")

    def _vote(self, type_: Type, value: Expression, depth: int) -> Expression:
        """What a ballot or a vote says, as an int or uint."""
        condition = self.condition(depth - 1, INTEGERS)  # a float may be too large for an int
        ballot = Node("sub_group_ballot(", condition, ")")
        if type_ == UINT:
            match self.random.randrange(3):
                case 0:
                    return Expression(type_, ballot, f".{self.pick('xyzw')}")
                case 1:
                    name = self.pick(("bit_count", "inclusive_scan", "exclusive_scan"))
                    return Expression(type_, f"sub_group_ballot_{name}(", ballot, ")")
            name, mask = self.pick(("find_lsb", "find_msb")), self.pick(("eq", "ge", "le"))
            return Expression(type_, f"sub_group_ballot_{name}(", ballot, f" | get_sub_group_{mask}_mask())")
        match self.random.randrange(5):
            case 0:
                return Expression(type_, "sub_group_elect()", low=0, high=1)
            case 1:
                return Expression(type_, f"(sub_group_non_uniform_{self.pick(('all', 'any'))}(", condition, ") != 0)",
                                  low=0, high=1)
            case 2:
                return Expression(type_, "sub_group_non_uniform_all_equal(", value, ")")
            case 3:
                return Expression(type_, "sub_group_inverse_ballot(", ballot, ")")
        return Expression(type_, f"(sub_group_non_uniform_{self.pick(WAYS)}_logical_{self.pick(BIT_OPERATIONS)}(",
                          condition, ") != 0)", low=0, high=1)

    # ------------------------------------------------------------------ where all work-items are

    def converged(self, depth: int, in_work_group: bool = True) -> Statement:
        """A statement that all work-items of a sub-group reach together; if ``in_work_group``, all of a work-group."""
        makers = [self.uniform_sub_group, self.uniform_sub_group]
        if self.matrices:  # type: ignore[attr-defined]
            makers += 2 * [self.matrix_statement]  # type: ignore[attr-defined]
        if self.is_whole:
            makers.append(self.shifted)
        if in_work_group:
            makers += [self.uniform_work_group, self.through_local_memory]
        if depth > 0 and self.chance(0.4):
            return self.pick((self.uniform_branch, self.uniform_loop_))(depth - 1, in_work_group)
        return self.pick(makers)()

    def _target_of(self, types: tuple[Type, ...]) -> tuple[Type, Node]:
        places = [place for place in self.scope.places if place.writable and place.type in types]
        place = self.pick(places)
        return place.type, self.read(place)

    def uniform_sub_group(self) -> Statement:
        """Functions that the whole sub-group must call."""
        type_, target = self._target_of(INTEGERS)
        value = self.expression(type_, 2)
        match self.random.randrange(4):
            case 0:
                return Statement(target, f" = sub_group_{self.pick(WAYS)}_{self.pick(('add', 'min', 'max'))}(",
                                 value, ");")
            case 1:
                lane = self.random.randrange(self.sub_group_size or 4)
                return Statement(target, " = sub_group_broadcast(", value, f", {lane}u % get_sub_group_size());")
            case 2:
                return Statement(target, f" = sub_group_{self.pick(('any', 'all'))}(", self.condition(2, INTEGERS),
                                 ") ? 3 : 5;")
        return Statement(target, " = sub_group_non_uniform_broadcast(", value, ", 0);")

    def shifted(self) -> Statement:
        """Values of neighbours in whole sub-groups."""
        type_, target = self._target_of((*INTEGERS, FLOAT, DOUBLE))
        value, distance = self.expression(type_, 2), self.random.randrange(self.sub_group_size)
        match self.random.randrange(5):
            case 0:
                return Statement("{ ", f"{type_} t = sub_group_shuffle_up(", value, f", {distance}u); "
                                 f"if (lane >= {distance}u) ", target, " = t; }")
            case 1:
                return Statement("{ ", f"{type_} t = sub_group_shuffle_down(", value, f", {distance}u); "
                                 f"if (lane + {distance}u < {self.sub_group_size}u) ", target, " = t; }")
            case 2:
                return Statement(target, " = sub_group_shuffle_xor(", value, f", {distance}u);")
            case 3:
                return Statement(target, " = sub_group_rotate(", value, f", {distance});")
        name = self.pick(("shuffle_up", "shuffle_down"))
        if type_.bits != 32:
            return Statement(target, " = sub_group_clustered_rotate(", value, f", {distance}, 4);")
        return Statement(target, f" = intel_sub_group_{name}(", value, ", ", self.expression(type_, 1),
                         f", {distance}u);")

    def uniform_work_group(self) -> Statement:
        """Functions that the whole work-group must call."""
        type_, target = self._target_of(INTEGERS)
        wide = type_ if type_ in WIDE_INTEGERS else INT
        value = self.expression(wide, 2)
        match self.random.randrange(3):
            case 0:
                return Statement(target, f" = work_group_{self.pick(WAYS)}_{self.pick(('add', 'min', 'max'))}(",
                                 value, ");")
            case 1:
                at = ", ".join(str(self.random.randrange(n)) for n in self.local)
                return Statement(target, " = work_group_broadcast(", value, f", {at});")
        return Statement(target, f" = work_group_{self.pick(('any', 'all'))}(", self.condition(2, INTEGERS),
                         ") ? 7 : 11;")

    def through_local_memory(self) -> Statement:
        """An exchange or counters, as :mod:`tests.kit.fuzz.generator` has them."""
        size = 1
        for n in self.local:
            size *= n
        makers = [self.exchange, self.counters] if size >= 4 else [self.exchange]
        statement, declaration = self.pick(makers)(size)
        self.locals.append(declaration)
        return statement

    def uniform_condition(self, in_work_group: bool) -> Node:
        """Something that is the same for the work-group, or for the sub-group."""
        scope = "work" if in_work_group else "sub"
        return self.pick((
            Node(f"in[{self.random.randrange(64)}] & 1"), Node("group & 1"), Node("group == 0"),
            Node(f"{scope}_group_{self.pick(('any', 'all'))}(", self.condition(1, INTEGERS), ")")))

    def uniform_branch(self, depth: int, in_work_group: bool) -> Statement:
        """A branch that all take the same way."""
        parts: list[str | Node] = []
        if in_work_group and self.chance(0.3):
            in_work_group = False
            parts += ["if (", self.pick((Node("get_sub_group_id() & 1"), self.uniform_condition(False))), ") "]
        else:
            parts += ["if (", self.uniform_condition(in_work_group), ") "]
        parts.append(self._converged_block(depth, in_work_group))
        if self.chance(0.5):
            parts += [" else ", self._converged_block(depth, in_work_group)]
        return Statement(*parts)

    def uniform_loop_(self, depth: int, in_work_group: bool) -> Statement:
        """A loop that all leave together."""
        name = self.name("u")
        count = self.pick(("2", "3", f"(in[{self.random.randrange(64)}] & 3)", "(group & 1) + 1"))
        ends = ([Statement("if (", self.uniform_condition(in_work_group), f") {self.pick(('break', 'continue'))};")]
                if self.chance(0.4) else [])
        return Statement(f"for (uint {name} = 0; {name} < {count}; ++{name}) ",
                         self._converged_block(depth, in_work_group, *ends))

    def _converged_block(self, depth: int, in_work_group: bool, *middle: Statement) -> Block:
        outer, structures = self.scope, list(self.structures)
        self.scope = outer.inner()
        statements = [self.converged(depth, in_work_group), *middle]
        if self.chance(0.6):
            statements.append(self.statement(1))
        if self.chance(0.4):
            statements.append(self.converged(0, in_work_group))
        self.scope, self.structures = outer, structures
        return Block(*statements)
