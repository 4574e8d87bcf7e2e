"""A seeded generator of kernels that keep matrices in arrays and structures, and a model of each in numpy.

``generate(seed)`` gives a kernel ``k(out, in, n, m)`` of one sub-group, and what it writes to ``out``. All numbers but
the components of matrices, and the indices by which work-items choose matrices for components of their own, are the
same in all work-items, so that a model carries the kernel out statement by statement; integers wrap, so that results
are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

SHAPES = ((8, 8, 16), (4, 8, 8), (8, 16, 32), (16, 16, 16), (2, 4, 4))  # rows, columns, work-items of a sub-group
DEPTH = 8  # of the products
INPUTS = 12  # matrices
ROW_MAJOR = "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR"
SIGNED = " | ".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_{which}_SIGNED" for which in ("A", "B", "C", "RESULT"))

Env = dict[str, Any]
"""The variables of a running model: integers, matrices, lists for arrays, dictionaries for structures."""


@dataclass(frozen=True)
class Array:
    element: Any  # a type: "tile", "int", an Array or a Struct
    count: int


@dataclass(frozen=True)
class Struct:
    name: str
    members: tuple[tuple[str, Any], ...]


INNER = Struct("inner", (("x", "tile"), ("k", "int"), ("y", Array("tile", 3)), ("z", Array("int", 4))))
OUTER = Struct("outer", (("c", "int"), ("q", Array(Array("tile", 2), 2)), ("s", INNER), ("t", "tile")))
TYPES = ("tile", "tile", Array("tile", 2), Array("tile", 4), Array(Array("tile", 2), 2), Array(Array("tile", 3), 2),
         Array(Array(Array("tile", 2), 3), 2), INNER, OUTER, Array(INNER, 2), Array(INNER, 3),
         Array(Array(INNER, 2), 2), Array(OUTER, 2))
COPIED = (Array("tile", 2), Array("tile", 3), Array("tile", 4), Array(INNER, 2), Array(Array("tile", 2), 2))
ALWAYS = (("t", "tile"), ("a", Array("tile", 4)), ("i", Array("int", 4)))

PROLOGUE = """\
#define MATRIX(m, n, use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, m, n, use)))
typedef int tile MATRIX({m}, {n}, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
typedef char left MATRIX({m}, {k}, CLK_COOPERATIVE_MATRIX_A);
typedef char right MATRIX({k}, {n}, CLK_COOPERATIVE_MATRIX_B);
{structs}
tile pick(tile a, tile b, int k) {{ if (k & 1) return a - b; return k & 2 ? b : a + b; }}
tile middle(inner s, int i) {{ return s.y[(uint)i % 3u] + s.x; }}
inner made(tile t, int k) {{ inner s; s.x = t; s.k = k; for (int i = 0; i < 3; ++i) s.y[i] = t * (i + k);
    for (int i = 0; i < 4; ++i) s.z[i] = k - i; return s; }}
void bump(tile *p, int k) {{ for (uint e = 0; e < coop_mat_length(*p); ++e) (*p)[e] = (*p)[e] * k + 1; *p = *p + *p; }}
void swap(inner *a, inner *b) {{ inner s = *a; *a = *b; *b = s; }}
void turn(tile *p, int count) {{ tile first = p[0]; for (int i = 0; i + 1 < count; ++i) p[i] = p[i + 1];
    p[count - 1] = first; }}
"""


def _function(name: str, arguments: Sequence[Any]) -> Any:
    """What the functions of the prologue that return something do."""
    if name == "pick":
        a, b, k = arguments
        return a - b if k & 1 else b if k & 2 else a + b
    if name == "middle":
        s, i = arguments
        return s["y"][i % 2**32 % 3] + s["x"]
    t, k = arguments
    return {"x": t, "k": k, "y": [t * wrapped(i + k) for i in range(3)], "z": [wrapped(k - i) for i in range(4)]}


def wrapped(value: int) -> int:
    """A C int."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def declared(type_: Any, name: str) -> str:
    """A declaration."""
    sizes = ""
    while isinstance(type_, Array):
        sizes += f"[{type_.count}]"
        type_ = type_.element
    return f"{type_.name if isinstance(type_, Struct) else type_} {name}{sizes};"


def copied(value: Any) -> Any:
    """A value that nothing else is a part of."""
    if isinstance(value, list):
        return [copied(one) for one in value]
    return {name: copied(one) for name, one in value.items()} if isinstance(value, dict) else value


# --------------------------------------------------------------------------------------
# What a kernel is made of
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Expression:
    """How it is written, and its value."""

    text: str
    value: Callable[[Env], Any]


@dataclass(frozen=True)
class Place:
    """A variable or a part of one: how it is written, and the name or index of each step."""

    text: str
    steps: tuple[str | Expression, ...]

    def value(self, env: Env) -> Any:
        found: Any = env
        for key in self._keys(env):
            found = found[key]
        return copied(found)

    def store(self, env: Env, value: Any) -> None:
        *outer, last = self._keys(env)
        found: Any = env
        for key in outer:
            found = found[key]
        found[last] = copied(value)

    def pointer(self, env: Env) -> Place:
        """The place with the indices that it has now."""
        return Place(self.text, tuple(key if isinstance(key, str) else Expression("", lambda env, key=key: key)
                                      for key in self._keys(env)))

    def _keys(self, env: Env) -> list[Any]:
        return [step if isinstance(step, str) else step.value(env) for step in self.steps]


@dataclass(frozen=True)
class Statement:
    """How it is written, and what it does; the result is "break", "continue" or None."""

    text: str
    run: Callable[[Env], str | None]


@dataclass(frozen=True)
class Modelled:
    """A kernel, its arguments, and what it computes."""

    seed: int
    source: str
    sub_group_size: int
    inputs: np.ndarray
    bounds: tuple[int, int]
    expected: np.ndarray

    def arguments(self) -> list[Any]:
        """Fresh arguments."""
        return [np.zeros_like(self.expected), self.inputs.copy(), *map(np.int32, self.bounds)]


def block(statements: Sequence[Statement]) -> Statement:
    """Statements in braces."""
    def run(env: Env) -> str | None:
        for one in statements:
            left = one.run(env)
            if left is not None:
                return left
        return None

    return Statement("{\n" + "\n".join(one.text for one in statements) + "\n}", run)


def assign(place: Place, value: Expression | Place) -> Statement:
    return Statement(f"{place.text} = {value.text};", lambda env: place.store(env, value.value(env)))


# --------------------------------------------------------------------------------------
# The generator
# --------------------------------------------------------------------------------------


def generate(seed: int) -> Modelled:
    """The kernel of this seed."""
    return _Generator(Random(seed)).kernel(seed)


class _Generator:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.rows, self.columns, self.lanes = random.choice(SHAPES)
        self.variables: list[tuple[str, Any]] = list(ALWAYS) + [
            (f"v{number}", random.choice(TYPES)) for number in range(random.randint(2, 4))]
        self.counters: list[str] = []  # of the loops around
        self.names = 0

    # -- Numbers ---------------------------------------------------------------------

    def small(self) -> Expression:
        """A number that is not negative and not large."""
        match self.random.randrange(4):
            case 0:
                number = self.random.randrange(4)
                return Expression(str(number), lambda env: number)
            case 1 if self.counters:
                name = self.random.choice(self.counters)
                return Expression(name, lambda env: env[name])
            case 2:
                name = self.random.choice("nm")
                return Expression(name, lambda env: env[name])
        a, b = self.random.choice([*self.counters, "n", "m"]), self.random.randrange(1, 4)
        return Expression(f"({a} * {b} + 1)", lambda env: env[a] * b + 1)

    def index(self, count: int) -> Expression:
        """An index into ``count`` elements."""
        match self.random.randrange(6):
            case 0 | 1:
                number = self.random.randrange(count)
                return Expression(str(number), lambda env: number)
            case 2:
                place = self.place("int")
                return Expression(f"(uint){place.text} % {count}u", lambda env: place.value(env) % 2**32 % count)
        number = self.small()
        return Expression(f"{number.text} % {count}", lambda env: number.value(env) % count)

    def number(self) -> Expression:
        """Any number."""
        if self.random.random() < 0.5:
            return self.small()
        place, other = self.place("int"), self.small()
        return Expression(f"({place.text} + {other.text})", lambda env: wrapped(place.value(env) + other.value(env)))

    def condition(self) -> Expression:
        number, mask = self.number(), self.random.choice((1, 2, 3))
        return Expression(f"({number.text} & {mask})", lambda env: number.value(env) & mask)

    # -- Places ----------------------------------------------------------------------

    def paths(self, type_: Any, wanted: Any) -> Iterator[tuple[str | int, ...]]:
        """The ways to parts of one type in another; a number is that of an array's elements."""
        if type_ == wanted:
            yield ()
        if isinstance(type_, Array):
            yield from ((type_.count, *rest) for rest in self.paths(type_.element, wanted))
        if isinstance(type_, Struct):
            yield from ((name, *rest) for name, member in type_.members for rest in self.paths(member, wanted))

    def own_index(self, count: int) -> Expression:
        """An index into ``count`` elements that differs between work-items."""
        factor, number = self.random.randrange(1, 6), self.small()
        return Expression(f"(own * {factor} + {number.text}) % {count}",
                          lambda env: (env["own"] * factor + number.value(env)) % count)

    def place(self, wanted: Any, depth: int = 0, *, own: bool = False) -> Place:
        """A place of one type; there must be a variable with one. ``own``: one of each work-item's own, in an array."""
        found = [(name, path) for name, type_ in self.variables for path in self.paths(type_, wanted)
                 if not own or any(isinstance(step, int) for step in path)]
        name, path = self.random.choice(found)
        text, steps = name, list[str | Expression]([name])
        varying = self.random.choice([at for at, step in enumerate(path) if isinstance(step, int)]) if own else None
        for at, step in enumerate(path):
            if isinstance(step, str):
                text, part = f"{text}.{step}", step
            elif at == varying:
                part = self.own_index(step)
                text = f"{text}[{part.text}]"
            else:
                part = self.index(step) if depth < 2 else Expression("0", lambda env: 0)
                text = f"{text}[{part.text}]"
            steps.append(part)
        return Place(text, tuple(steps))

    def has(self, wanted: Any) -> bool:
        return any(True for _, type_ in self.variables for _ in self.paths(type_, wanted))

    # -- Matrices --------------------------------------------------------------------

    def loaded(self) -> Expression:
        """A matrix of the input."""
        which, size = self.small(), self.rows * self.columns
        return Expression(f"coop_mat_load(in + {which.text} % {INPUTS} * {size}, {ROW_MAJOR}, {self.columns})",
                          lambda env: env["in"][which.value(env) % INPUTS])

    def matrix(self) -> Expression:
        """What can be assigned to a matrix."""
        a, b, k = self.place("tile"), self.place("tile"), self.number()
        match self.random.randrange(9):
            case 0:
                return self.loaded()
            case 1:
                return Expression(f"coop_mat_init({k.text})", lambda env: np.full(
                    (self.rows, self.columns), k.value(env), np.int32))
            case 2 | 3:
                return Expression(a.text, a.value)
            case 4:
                operator = self.random.choice("+-*")
                apply = {"+": np.add, "-": np.subtract, "*": np.multiply}[operator]
                return Expression(f"{a.text} {operator} {b.text}", lambda env: apply(a.value(env), b.value(env)))
            case 5:
                return Expression(f"{a.text} * {k.text}", lambda env: a.value(env) * np.int32(k.value(env)))
            case 6:
                chosen = self.condition()
                return Expression(f"{chosen.text} ? {a.text} : {b.text}",
                                  lambda env: (a if chosen.value(env) else b).value(env))
            case 7:
                return self.call("pick", a, b, k)
        if self.has(INNER) and self.random.random() < 0.5:
            return self.call("middle", self.place(INNER), k)
        x, y = self.random.randrange(2), self.random.randrange(2)
        return Expression(f"coop_mat_mulAdd(l[{x}], r[{y}], {a.text}, {SIGNED})",
                          lambda env: env["l"][x].astype(np.int32) @ env["r"][y].astype(np.int32) + a.value(env))

    def call(self, name: str, *arguments: Expression | Place) -> Expression:
        return Expression(f"{name}({', '.join(one.text for one in arguments)})",
                          lambda env: _function(name, [one.value(env) for one in arguments]))

    # -- Statements ------------------------------------------------------------------

    def statement(self, depth: int) -> Statement:
        makers = [self.assignment, self.assignment, self.assignment, self.components, self.components,
                  self.own_components, self.of_numbers, self.of_structures, self.through_pointer, self.copy_loop]
        if depth:
            makers += [lambda: self.loop(depth), lambda: self.loop(depth), lambda: self.branch(depth),
                       lambda: self.switch(depth), lambda: self.inner_block(depth)]
        return self.random.choice(makers)()

    def body(self, depth: int) -> Statement:
        return block([self.statement(depth - 1) for _ in range(self.random.randint(1, 3))])

    def assignment(self) -> Statement:
        return assign(self.place("tile"), self.matrix())

    def of_numbers(self) -> Statement:
        return assign(self.place("int"), self.number())

    def of_structures(self) -> Statement:
        kinds = [kind for kind in (INNER, OUTER) if self.has(kind)]
        if not kinds:
            return self.assignment()
        kind = self.random.choice(kinds)
        value: Expression | Place = self.place(kind)
        if kind is INNER and self.random.random() < 0.5:
            value = self.call("made", self.place("tile"), self.number())
        return assign(self.place(kind), value)

    def components(self) -> Statement:
        """A loop over the components of a matrix, some of which a condition on their coordinates leaves out."""
        p, q, k = self.place("tile"), self.place("tile"), self.number()
        guarded = self.random.random() < 0.4
        x, y = np.indices((self.rows, self.columns), np.int32)

        def run(env: Env) -> None:
            old, factor = p.value(env), np.int32(k.value(env))
            new = old * factor + q.value(env) + x * 2 - y
            p.store(env, np.where(x & 1, new, old ^ q.value(env)) if guarded else new)

        change = f"{p.text}[e] = {p.text}[e] * {k.text} + {q.text}[e] + at.x * 2 - at.y;"
        if guarded:
            change = f"if (at.x & 1) {change} else {p.text}[e] ^= {q.text}[e];"
        return Statement(f"for (uint e = 0; e < coop_mat_length({p.text}); ++e) "
                         f"{{ int2 at = coop_mat_get_coord({p.text}, e); {change} }}", run)

    def own_components(self) -> Statement:
        """Components of matrices that each work-item chooses on its own."""
        p, q, k, turn = self.place("tile", own=True), self.place("tile", own=True), self.number(), self.small()
        guard = self.random.choice(("", "if (own & 1) ", "if (own > 2) "))
        length = self.rows * self.columns // self.lanes

        def run(env: Env) -> None:
            factor = np.int32(k.value(env))
            for own in range(self.lanes):
                env["own"] = own
                if guard and not (own & 1 if "&" in guard else own > 2):
                    continue
                for e in range(length):
                    new = p.value(env).copy()
                    other = q.value(env).flat[(e + own * turn.value(env)) % length * self.lanes + own]
                    new.flat[e * self.lanes + own] = new.flat[e * self.lanes + own] * factor + other
                    p.store(env, new)

        change = f"{p.text}[e] = {p.text}[e] * {k.text} + {q.text}[(e + own * {turn.text}) % {length}];"
        return Statement(f"{{ uint own = get_sub_group_local_id(); "
                         f"{guard}for (uint e = 0; e < {length}; ++e) {change} }}", run)

    def through_pointer(self) -> Statement:
        """A function that changes what pointers lead to."""
        if self.has(INNER) and self.random.random() < 0.4:
            a, b = self.place(INNER), self.place(INNER)

            def swap(env: Env) -> None:
                one, other = a.pointer(env), b.pointer(env)
                first, second = one.value(env), other.value(env)
                one.store(env, second)
                other.store(env, first)

            return Statement(f"swap(&{a.text}, &{b.text});", swap)
        arrays = [array for array in (Array("tile", count) for count in (2, 3, 4)) if self.has(array)]
        if self.random.random() < 0.2:
            return self.chosen_pointer()
        if self.random.random() < 0.5:
            array = self.random.choice(arrays)
            p = self.place(array)
            return Statement(f"turn({p.text}, {array.count});",
                             lambda env: p.store(env, [*p.value(env)[1:], p.value(env)[0]]))
        p, k = self.place("tile"), self.number()
        return Statement(f"bump(&{p.text}, {k.text});",
                         lambda env: p.store(env, 2 * (p.value(env) * np.int32(k.value(env)) + 1)))

    def chosen_pointer(self) -> Statement:
        """A pointer to one of two matrices, in a variable or passed on."""
        chosen, a, b, c, k = self.condition(), self.place("tile"), self.place("tile"), self.place("tile"), self.number()
        which = f"{chosen.text} ? &{a.text} : &{b.text}"

        def add(env: Env) -> None:
            target = (a if chosen.value(env) else b).pointer(env)
            target.store(env, target.value(env) + c.value(env))

        def bump(env: Env) -> None:
            target = (a if chosen.value(env) else b).pointer(env)
            target.store(env, 2 * (target.value(env) * np.int32(k.value(env)) + 1))

        if self.random.random() < 0.5:
            return Statement(f"bump({which}, {k.text});", bump)
        return Statement(f"{{ tile *p = {which}; *p = *p + {c.text}; }}", add)

    def copy_loop(self) -> Statement:
        """What LLVM may take for a copy of bytes, or for setting them."""
        array = self.random.choice([array for array in COPIED if self.has(array)])
        target, source = self.place(array), self.place(array)
        bound, count = self.random.choice(((str(array.count), lambda env: array.count), ("n", lambda env: env["n"])))
        zero = array.element == "tile" and self.random.random() < 0.3
        text = f"{target.text}[x] = {'coop_mat_init(0)' if zero else f'{source.text}[x]'};"
        if isinstance(array.element, Array):
            text = f"for (int y = 0; y < 2; ++y) {target.text}[x][y] = {source.text}[x][y];"

        def run(env: Env) -> None:
            for x in range(count(env)):
                value = np.zeros((self.rows, self.columns), np.int32) if zero else source.value(env)[x]
                target.store(env, [value if place == x else old for place, old in enumerate(target.value(env))])

        return Statement(f"for (int x = 0; x < {bound}; ++x) {text}", run)

    def loop(self, depth: int) -> Statement:
        self.names += 1
        name, bound = f"c{self.names}", self.random.choice(("2", "3", "n", "m"))
        self.counters.append(name)
        statements = [self.statement(depth - 1) for _ in range(self.random.randint(1, 3))]
        if self.random.random() < 0.3:
            chosen, way = self.condition(), self.random.choice(("break", "continue"))
            statements.insert(self.random.randrange(len(statements) + 1), Statement(
                f"if {chosen.text} {way};", lambda env: way if chosen.value(env) else None))
        self.counters.pop()
        inside = block(statements)

        def run(env: Env) -> None:
            for number in range(int(bound) if bound.isdigit() else env[bound]):
                env[name] = number
                if inside.run(env) == "break":
                    break

        return Statement(f"for (int {name} = 0; {name} < {bound}; ++{name}) {inside.text}", run)

    def branch(self, depth: int) -> Statement:
        chosen, yes, no = self.condition(), self.body(depth), self.body(depth)
        return Statement(f"if {chosen.text} {yes.text} else {no.text}",
                         lambda env: (yes if chosen.value(env) else no).run(env))

    def switch(self, depth: int) -> Statement:
        """One whose cases all end with a break: none of a loop around it."""
        chosen, bodies = self.condition(), [self.body(depth) for _ in range(3)]
        labels = ("case 0", "case 1", "default")
        cases = "\n".join(f"{label}: {body.text} break;" for label, body in zip(labels, bodies, strict=True))
        return Statement(f"switch {chosen.text} {{\n{cases}\n}}",
                         lambda env: bodies[min(chosen.value(env), 2)].run(env))

    def inner_block(self, depth: int) -> Statement:
        """Variables of a block."""
        self.names += 1
        name, type_ = f"u{self.names}", self.random.choice((Array("tile", 2), Array("tile", 3), INNER))
        before = list(self.variables)
        first = self.initial(name, type_)
        self.variables.append((name, type_))
        inside = block([first, *(self.statement(depth - 1) for _ in range(2)), self.assignment()])
        self.variables = before
        return inside

    def initial(self, name: str, type_: Any) -> Statement:
        """A declaration, and a loop for each array in it."""
        shift = self.random.randrange(INPUTS)
        statements: list[str] = []

        def write(place: str, kind: Any, depth: int) -> None:
            if isinstance(kind, Array):
                counter = f"w{depth}"
                statements.append(f"for (int {counter} = 0; {counter} < {kind.count}; ++{counter}) {{")
                write(f"{place}[{counter}]", kind.element, depth + 1)
                statements.append("}")
            elif isinstance(kind, Struct):
                for member, part in kind.members:
                    write(f"{place}.{member}", part, depth)
            else:
                value = " + ".join([str(shift), *(f"w{number}" for number in range(depth))])
                if kind == "tile":
                    start = f"in + ({value}) % {INPUTS} * {self.rows * self.columns}"
                    value = f"coop_mat_load({start}, {ROW_MAJOR}, {self.columns})"
                statements.append(f"{place} = {value};")

        def value(kind: Any, sum_: int, env: Env) -> Any:
            if isinstance(kind, Array):
                return [value(kind.element, sum_ + place, env) for place in range(kind.count)]
            if isinstance(kind, Struct):
                return {member: value(part, sum_, env) for member, part in kind.members}
            return sum_ if kind == "int" else env["in"][sum_ % INPUTS]

        write(name, type_, 0)
        return Statement("\n".join([declared(type_, name), *statements]),
                         lambda env: env.__setitem__(name, value(type_, shift, env)))

    # -- The kernel ------------------------------------------------------------------

    def kernel(self, seed: int) -> Modelled:
        """The whole program."""
        structs = "\n".join(f"typedef struct {{ {' '.join(declared(kind, name) for name, kind in one.members)} }} "
                            f"{one.name};" for one in (INNER, OUTER))
        size = self.rows * self.columns
        first = INPUTS * size * 4
        products = Statement(
            f"left l[2]; right r[2];\nfor (int x = 0; x < 2; ++x) {{\n"
            f"l[x] = coop_mat_load((global const char *)in + {first} + x * 8, {ROW_MAJOR}, {DEPTH});\n"
            f"r[x] = coop_mat_load((global const char *)in + {first} + x * 8, {ROW_MAJOR}, {self.columns});\n}}",
            lambda env: None)
        initial = [self.initial(name, type_) for name, type_ in self.variables]
        body = block([products, *initial, *(self.statement(2) for _ in range(self.random.randint(3, 8)))])
        leaves = [(name, path) for name, type_ in self.variables for path in self._leaves(type_)]
        stores, numbers = [], []
        for name, path in leaves:
            text = name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[:-1])
            if path[-1] == "tile":
                stores.append(f"coop_mat_store(out + {len(stores) * size}, {text}, {ROW_MAJOR}, {self.columns});")
            else:
                numbers.append(text)
        results = [*stores, *(f"out[{len(stores) * size + place}] = {text};" for place, text in enumerate(numbers))]
        source = (PROLOGUE.format(m=self.rows, n=self.columns, k=DEPTH, structs=structs)
                  + f"kernel __attribute__((intel_reqd_sub_group_size({self.lanes})))\n"
                  f"void k(global int *out, global const int *in, int n, int m)\n{body.text[:-2]}\n"
                  + "\n".join(results) + "\n}\n")
        rng = np.random.default_rng(seed)
        inputs = rng.integers(-100, 100, first // 4 + 64, np.int32)
        bounds = self.random.randrange(1, 3), self.random.randrange(1, 4)
        return Modelled(seed, source, self.lanes, inputs, bounds, self._expected(body, leaves, inputs, bounds))

    def _leaves(self, type_: Any) -> Iterator[tuple[str | int, ...]]:
        """The way to each number and matrix, and which of them it is."""
        if isinstance(type_, Array):
            yield from ((place, *rest) for place in range(type_.count) for rest in self._leaves(type_.element))
        elif isinstance(type_, Struct):
            yield from ((name, *rest) for name, member in type_.members for rest in self._leaves(member))
        else:
            yield (type_,)

    def _expected(self, body: Statement, leaves: Sequence[tuple[str, tuple[str | int, ...]]], inputs: np.ndarray,
                  bounds: tuple[int, int]) -> np.ndarray:
        size = self.rows * self.columns
        small = inputs[INPUTS * size:].view(np.int8)
        env: Env = {"in": list(inputs[:INPUTS * size].reshape(INPUTS, self.rows, self.columns)),
                    "n": bounds[0], "m": bounds[1],
                    "l": [small[x * 8:][:self.rows * DEPTH].reshape(self.rows, DEPTH) for x in range(2)],
                    "r": [small[x * 8:][:DEPTH * self.columns].reshape(DEPTH, self.columns) for x in range(2)]}
        with np.errstate(over="ignore"):
            body.run(env)
        found: dict[str, list[np.ndarray]] = {"tile": [], "int": []}
        for name, path in leaves:
            value = env[name]
            for step in path[:-1]:
                value = value[step]
            found[str(path[-1])].append(np.ravel(value).astype(np.int32))
        return np.concatenate([*found["tile"], *found["int"]])
