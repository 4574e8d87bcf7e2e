"""A seeded generator of well-defined OpenCL C kernels.

``generate(seed)`` gives a kernel ``k(global ulong *out, global uint *memory, global const uint *in)``. Each
work-item mixes its part of ``in`` into variables of many types by random statements, and at the end writes every
variable of the kernel's outermost block to its part of ``out``. There is no undefined, unspecified or
implementation-defined behaviour beyond what OpenCL C fixes (two's complement, little-endian), no NaN's bits are
looked at, and float operations are exact or correctly rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from tests.kit.fuzz.expressions import HEXADECIMAL, Expressions, binary, integer_literal, spell_components
from tests.kit.fuzz.nodes import (
    INT,
    INTEGERS,
    LONG,
    SCALARS,
    UINT,
    ULONG,
    Array,
    Block,
    Expression,
    Node,
    Place,
    Statement,
    Type,
    common,
    promoted,
)

INPUTS = 8  # words of ``in`` that each work-item reads
MEMORY = 16  # words of ``memory`` that each work-item owns
LAUNCHES = ((32, 16), (48, 24), (40, 20), (33, 11), (32, 32), (36, 12))
DEPTH = 3
LOOPS = 3

HEADER = """\
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
ulong bits_float(float x) { return isnan(x) ? 0x7fc00000u : as_uint(x); }
ulong bits_double(double x) { return isnan(x) ? 0x7ff8000000000000UL : as_ulong(x); }
"""


@dataclass(frozen=True)
class Field:
    """A member of a structure."""

    name: str
    type: Type | Struct
    length: int = 0
    """Of an array; 0 for a single value."""


@dataclass(frozen=True)
class Struct:
    """A structure or union type that the kernel declares."""

    name: str
    fields: tuple[Field, ...]
    keyword: str = "struct"

    def declaration(self) -> str:
        members = " ".join(f"{getattr(f.type, 'name', '') if isinstance(f.type, Struct) else f.type} {f.name}"
                           f"{f'[{f.length}]' if f.length else ''};" for f in self.fields)
        return f"typedef {self.keyword} {{ {members} }} {self.name};\n"


@dataclass(frozen=True)
class Helper:
    """A function that the kernel can call. ``parameters`` are types, or a pointer's target in a tuple."""

    name: str
    result: Type
    parameters: tuple[Type | Struct | tuple[Type], ...]


@dataclass
class Kernel:
    """A generated program and its launch."""

    seed: int
    root: Node
    global_size: int
    local_size: int
    slots: int
    """Words of ``out`` that each work-item writes."""

    @property
    def source(self) -> str:
        return str(self.root)

    def arguments(self) -> list[np.ndarray]:
        """out, memory and in; the same for each call."""
        rng = np.random.default_rng(self.seed)
        words = rng.integers(0, 2**32, self.global_size * INPUTS, np.uint32)
        small = rng.integers(0, 2, words.size, bool)
        words[small] %= 24
        return [np.zeros(self.global_size * self.slots, np.uint64),
                rng.integers(0, 2**32, self.global_size * MEMORY, np.uint32), words]


def generate(seed: int) -> Kernel:
    """The kernel of this seed."""
    return Generator(Random(seed)).kernel(seed)


class Generator(Expressions):
    """Makes statements, declarations and functions."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.names = 0
        self.structs: list[Struct] = []
        self.helpers: list[Helper] = []
        self.structures: list[tuple[str, Struct]] = []
        """Structure variables of the current function."""
        self.loops = 0
        """How many loops are around the current statement."""
        self.escapes: list[str] = []
        """What may stand in the current loop or switch: break, continue."""
        self.result: Type | None = None
        """What the current helper function returns."""

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def any_type(self) -> Type:
        type_ = self.pick(INTEGERS) if self.chance(0.85) else self.pick(SCALARS)
        return type_.of_count(self.pick(self.counts)) if self.chance(0.4) else type_

    # ------------------------------------------------------------------ declarations

    def structure(self) -> Struct:
        fields = []
        for index in range(self.random.randint(2, 4)):
            if self.structs and self.chance(0.2):
                fields.append(Field(f"f{index}", self.pick(self.structs)))
            else:
                fields.append(Field(f"f{index}", self.any_type(), self.pick((0, 0, 0, 2, 3))))
        return Struct(self.name("S"), tuple(fields))

    def union(self) -> Struct:
        """Its members all have 8 bytes."""
        fields = [Field("f0", ULONG)]
        for index in range(1, 4):
            type_ = self.pick(INTEGERS)
            count = 64 // type_.bits
            vector = count > 1 and self.chance(0.5)
            fields.append(Field(f"f{index}", type_.of_count(count if vector else 1), 0 if vector else count))
        return Struct(self.name("U"), tuple(fields), "union")

    def declare(self, type_: Type, prefix: str = "v") -> Statement:
        value = self.expression(type_, DEPTH)
        name = self.name(prefix)
        self.scope.places.append(Place(type_, name, (name,)))
        return Statement(f"{type_} {name} = ", value, ";")

    def declare_array(self) -> Statement:
        type_, length, name = self.any_type(), self.pick((2, 3, 4, 8, 16)), self.name("a")
        values = [part for _ in range(self.random.randint(1, min(length, 4)))
                  for part in (", ", self.expression(type_, 1))][1:]
        statement = Statement(f"{type_} {name}[{length}] = {{", *values, "};")
        self.add_array(type_, length, name, name)
        return statement

    def add_array(self, type_: Type, length: int, name: str, root: str) -> None:
        self.scope.places.append(Place(type_, root, (f"{name}[", length, "]")))
        self.scope.arrays.append(Array(type_, length, name, root))

    def declare_structure(self) -> Statement:
        struct, name = self.pick(self.structs), self.name("s")
        statement = Statement(f"{struct.name} {name} = ", self.initializer(struct), ";")
        self.add_structure(struct, name)
        return statement

    def add_structure(self, struct: Struct, name: str) -> None:
        self.structures.append((name, struct))
        self.scope.places += members(struct, name, (name,))

    def initializer(self, struct: Struct) -> Node:
        """Braces with a value for each member, or for a union's first."""
        parts: list[str | Node] = []
        for member in struct.fields[:1] if struct.keyword == "union" else struct.fields:
            if isinstance(member.type, Struct):
                value: list[str | Node] = [self.initializer(member.type)]
            elif member.length:
                value = ["{", self.expression(member.type, 1), "}"]
            else:
                value = [self.expression(member.type, 1)]
            parts += [", ", *value]
        return Node("{", *parts[1:], "}")

    def declare_pointer(self) -> Statement | None:
        """A pointer into an array, and what can be reached from it."""
        arrays = [array for array in self.scope.arrays if array.space == "private"]
        if not arrays:
            return None
        array, name = self.pick(arrays), self.name("p")
        start = self.index(array.length)
        offset = self.random.randrange(array.length)
        self.scope.places.append(Place(array.element, array.root, (f"(*{name})",)))
        if self.chance(0.5):
            return Statement(f"{array.element} *{name} = {array.name} + ", start, ";")
        self.scope.places.append(Place(array.element, array.root, (f"{name}[", array.length - offset, "]")))
        return Statement(f"{array.element} *{name} = &{array.name}[{offset}];")

    # ------------------------------------------------------------------ assignments

    def target(self) -> Place:
        return self.pick([place for place in self.scope.places if place.writable])

    def assignment(self) -> Statement:
        """An assignment of some kind to any place."""
        place = self.target()
        self.excluded = {place.root}
        kinds: tuple[Callable[[Place], Statement], ...] = (
            (self._plain, self._compound_vector, self._swizzle_assignment, self._increment)
            if place.type.count > 1 else (self._plain, self._compound, self._increment, self._chain))
        statement = self.pick(kinds)(place)
        self.excluded = ()
        return statement

    def _plain(self, place: Place) -> Statement:
        self.excluded = ()
        return Statement(self.read(place), " = ", self.expression(place.type, DEPTH), ";")

    def _increment(self, place: Place) -> Statement:
        """++ and --, where they cannot overflow; their value goes to another variable."""
        type_ = place.type
        if type_.is_float or (type_.count == 1 and type_.is_signed and type_.bits >= 32):
            return self._plain(place)
        lvalue, name = self.read(place), self.pick(("++", "--"))
        step = Node(lvalue, name) if self.chance(0.5) else Node(name, lvalue)
        others = [p for p in self.scope.places if p.writable and p.type == type_ and p.root != place.root]
        if others and self.chance(0.5):
            return Statement(self.read(self.pick(others)), " = ", step, ";")
        return Statement(step, ";")

    def _compound(self, place: Place) -> Statement:
        """A compound assignment to a scalar."""
        type_, lvalue = place.type, self.read(place)
        if type_.is_float:
            return Statement(lvalue, f" {self.pick('+-*')}= ", self.expression(self.pick(SCALARS), DEPTH), ";") \
                if type_.bits == 64 else \
                Statement(lvalue, f" {self.pick('+-*')}= ", self.expression(type_, DEPTH), ";")
        name = self.pick(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"))
        right = self.expression(self.pick(INTEGERS), DEPTH)
        done_in = promoted(type_) if name in ("<<", ">>") else common(type_, right.type)
        if name in "/%":
            divisor: list[str | Node] = [right, " | 1"] if not done_in.is_signed else ["(", right, " & 63) + 1"]
            return Statement(lvalue, f" {name}= (", *divisor, ");")
        if name == "<<" and type_.is_signed:
            name = ">>"
        if name in "+-*" and done_in.is_signed and binary(
                done_in, Expression(type_, ""), name, right).parts[0] != "(":
            right = Expression(done_in.unsigned(), f"(({done_in.unsigned()})", right, ")")
        return Statement(lvalue, f" {name}= ", right, ";")

    def _compound_vector(self, place: Place) -> Statement:
        type_, lvalue = place.type, self.read(place)
        return self._vector_step(type_, lvalue)

    def _vector_step(self, type_: Type, lvalue: Node) -> Statement:
        if type_.is_float:
            return Statement(lvalue, f" {self.pick('+-*')}= ", self.expression(type_, DEPTH), ";")
        name = self.pick(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"))
        right = self.expression(type_ if self.chance(0.7) else type_.element, DEPTH)
        element = type_.element
        if name in "/%":
            return Statement(lvalue, f" {name}= ((({type_})(", right,
                             f") & ({element})63) + ({element})1);")
        return Statement(lvalue, f" {name}= ", right, ";")

    def _swizzle_assignment(self, place: Place) -> Statement:
        """To some components, none twice."""
        count = place.type.count
        wanted = self.pick([n for n in (1, *self.counts) if n <= count])
        indices = self.random.sample(range(count), wanted)
        part = place.type.of_count(wanted)
        lvalue = Node(self.read(place), f".{spell_components(indices, count, self.chance(0.5))}")
        if wanted > 1 and self.chance(0.4):
            return self._vector_step(part, lvalue)
        self.excluded = ()
        return Statement(lvalue, " = ", self.expression(part, DEPTH), ";")

    def _chain(self, place: Place) -> Statement:
        """x = y = value, or a logical operator whose right side has a side effect."""
        others = [p for p in self.scope.places if p.writable and p.type == place.type and p.root != place.root]
        if not others:
            return self._plain(place)
        other = self.pick(others)
        self.excluded = {place.root, other.root}
        lvalue, inner = self.read(place), self.read(other)
        if place.type.is_float or self.chance(0.5):
            return Statement(lvalue, " = ", inner, " = ", self.expression(place.type, DEPTH), ";")
        return Statement(lvalue, " = ", self.condition(2), f" {self.pick(('&&', '||'))} (", inner, " ",
                         self.pick(("^=", "|=", "&=", "=")), " ", self.expression(place.type, 2), ") != 0;")

    def copy_structure(self) -> Statement | None:
        pairs = [(a, b) for a, s in self.structures for b, t in self.structures if s == t and a != b]
        if not pairs:
            return None
        left, right = self.pick(pairs)
        return Statement(f"{left} = {right};")

    def store_vector(self) -> Statement | None:
        """vstore into an array."""
        choices = [(array, n) for array in self.scope.arrays for n in self.counts
                   if array.element.count == 1 and array.length >= n and array.space != "constant"]
        if not choices:
            return None
        array, count = self.pick(choices)
        return Statement(f"vstore{count}(", self.expression(array.element.of_count(count), DEPTH), ", ",
                         self.index(array.length // count), f", {array.name});")

    def call(self) -> Statement | None:
        """A helper function; what its pointers point to is not otherwise read by the statement."""
        if not self.helpers:
            return None
        helper = self.pick(self.helpers)
        results = [place for place in self.scope.places if place.writable and place.type == helper.result]
        lvalue = self.pick(results) if results else None
        pointers: list[Place | None] = []
        excluded: set[str] = {lvalue.root} if lvalue else set()
        for parameter in helper.parameters:
            if not isinstance(parameter, tuple):
                pointers.append(None)
                continue
            targets = [place for place in self.scope.places if place.writable and place.type == parameter[0]
                       and place.root not in excluded]
            if not targets:
                return None
            pointee = self.pick(targets)
            pointers.append(pointee)
            excluded.add(pointee.root)
        self.excluded = excluded
        arguments: list[str | Node] = []
        for parameter, place in zip(helper.parameters, pointers, strict=True):
            value = self._argument(parameter, place)
            if value is None:
                self.excluded = ()
                return None
            arguments += [", ", value]
        target = Node(self.read(lvalue), " = ") if lvalue else Node("(void)")
        self.excluded = ()
        return Statement(target, f"{helper.name}(", *arguments[1:], ");")

    def _argument(self, parameter: Type | Struct | tuple[Type], place: Place | None) -> Node | None:
        if place is not None:
            return Node("&", self.read(place))
        if isinstance(parameter, Struct):
            variables = [name for name, struct in self.structures if struct == parameter]
            return Node(self.pick(variables)) if variables else None
        assert isinstance(parameter, Type)
        return self.expression(parameter, 2)

    # ------------------------------------------------------------------ control flow

    def block(self, count: int, depth: int, escapes: bool = True) -> Block:
        """Some statements in a scope of their own."""
        outer, structures = self.scope, list(self.structures)
        self.scope = outer.inner()
        statements = [self.statement(depth) for _ in range(count)]
        if escapes and self.escapes and self.chance(0.3):
            statements.append(Statement("if (", self.condition(2), f") {self.pick(self.escapes)};"))
            statements.append(self.statement(0))
        if self.result is not None and self.chance(0.15):
            statements.append(Statement("if (", self.condition(2), ") return ",
                                        self.expression(self.result, 2), ";"))
            statements.append(self.statement(0))
        self.scope, self.structures = outer, structures
        return Block(*statements)

    def statement(self, depth: int) -> Statement:
        simple = (self.assignment, self.assignment, self.assignment, self.assignment, self.store_vector, self.call,
                  self.copy_structure, self.declaration, self.side_effect)
        nested = (self.branch, self.branch, self.switch, self.for_loop, self.while_loop, self.do_loop)
        while True:
            if depth > 0 and self.chance(0.35):
                made = self.pick(nested)(depth - 1)
            else:
                made = self.pick(simple)()
            if made is not None:
                return made

    def declaration(self) -> Statement | None:
        kinds: list[Callable[[], Statement | None]] = [
            lambda: self.declare(self.any_type()), self.declare_array, self.declare_pointer]
        if self.structs:
            kinds.append(self.declare_structure)
        return self.pick(kinds)()

    def side_effect(self) -> Statement | None:
        """A condition whose right operand, evaluated or not, changes a variable."""
        places = [place for place in self.scope.places
                  if place.writable and place.type.count == 1 and not place.type.is_float
                  and not (place.type.is_signed and place.type.bits >= 32)]
        if not places:
            return None
        place = self.pick(places)
        self.excluded = {place.root}
        lvalue = self.read(place)
        effect = Node(lvalue, self.pick(("++", "--", " += 3", " ^= 5", " *= 2")))
        condition = Node(self.condition(2), f" {self.pick(('&&', '||'))} (", effect, ") > ", self.leaf(INT))
        self.excluded = ()
        return Statement("if (", condition, ") ", self.block(1, 0))

    def branch(self, depth: int) -> Statement:
        parts: list[str | Node] = ["if (", self.condition(DEPTH), ") ", self.block(self.random.randint(1, 3), depth)]
        if self.chance(0.5):
            parts += [" else ", self.block(self.random.randint(1, 3), depth)]
        return Statement(*parts)

    def _body(self, depth: int, escapes: list[str]) -> Block:
        saved, self.escapes = self.escapes, escapes
        self.loops += 1
        body = self.block(self.random.randint(1, 3), depth)
        self.loops -= 1
        self.escapes = saved
        return body

    def for_loop(self, depth: int) -> Statement | None:
        """The counter is read only inside."""
        if self.loops >= LOOPS:
            return None
        name, count = self.name("i"), self.random.randint(1, 5)
        type_ = self.pick((INT, UINT, LONG, Type("char"), Type("ushort")))
        outer = self.scope
        self.scope = outer.inner()
        self.scope.places.append(Place(type_, name, (name,), False, 0, count))
        head = (f"for ({type_} {name} = 0; {name} < {count}; ++{name}) " if self.chance(0.7)
                else f"for ({type_} {name} = {count}; {name} > 0; {name}--) ")
        body = self._body(depth, ["break", "continue"])
        self.scope = outer
        return Statement(head, body)

    def while_loop(self, depth: int) -> Statement | None:
        if self.loops >= LOOPS:
            return None
        name = self.name("n")
        condition = self.condition(DEPTH)
        return Statement(f"for (int {name} = {self.random.randint(1, 5)}; {name} > 0;) while (--{name} >= 0 && (",
                         condition, ")) ", self._body(depth, ["break", "continue"]))

    def do_loop(self, depth: int) -> Statement | None:
        if self.loops >= LOOPS:
            return None
        name = self.name("n")
        body = self._body(depth, ["break", "continue"])
        return Statement(f"{{ int {name} = {self.random.randint(1, 5)}; do ", body, f" while (--{name} > 0 && (",
                         self.condition(DEPTH), ")); }")

    def switch(self, depth: int) -> Statement:
        """With cases that fall through and a default anywhere."""
        labels = self.random.sample(range(-2, 9), self.random.randint(2, 5))
        inner = self.expression(self.pick(INTEGERS), 2)
        value: Node = Node("(", inner, ") % 8") if self.chance(0.8) else inner
        if value is not inner and inner.type.is_signed is False:
            labels = [label % 11 for label in labels]
        if inner.type == ULONG or inner.type == UINT or (inner.type.is_signed is False and value is inner):
            labels = [abs(label) for label in labels]
        labels = list(dict.fromkeys(labels))
        spelled = [f"case {label}:" for label in labels]
        spelled.insert(self.random.randint(0, len(labels)), "default:")
        if self.chance(0.2):
            spelled.remove("default:")
        saved, self.escapes = self.escapes, ["break", *(e for e in self.escapes if e == "continue")]
        cases = []
        for label in spelled:
            end = self.pick((" break;", " break;", ""))
            cases.append(Statement(f"{label} ", self.block(self.random.randint(0, 2), depth, False), end))
        self.escapes = saved
        return Statement("switch (", value, ") ", Block(*cases))

    # ------------------------------------------------------------------ work-groups

    def exchange(self, local_size: int) -> tuple[Statement, str]:
        """Through local memory: write the own element, read another's. Stands outside of divergent control."""
        type_ = self.any_type()
        array, target = self.name("l"), self.target()
        while target.type != type_:
            target = self.target()
            type_ = target.type
        distance = self.random.randrange(local_size)
        return Statement(f"{array}[lid] = ", self.expression(type_, DEPTH), ";\nbarrier(CLK_LOCAL_MEM_FENCE);\n",
                         self.read(target), f" = {array}[(lid + {distance}u) % {local_size}u];\n"
                         "barrier(CLK_LOCAL_MEM_FENCE);"), f"local {type_} {array}[{local_size}];"

    def uniform_loop(self, local_size: int) -> tuple[Statement, str]:
        """A loop around an exchange."""
        statement, declaration = self.exchange(local_size)
        name = self.name("i")
        outer, structures = self.scope, list(self.structures)
        self.scope = outer.inner()
        body = Block(self.statement(1), statement, self.statement(1))
        self.scope, self.structures = outer, structures
        return Statement(f"for (int {name} = 0; {name} < {self.random.randint(2, 3)}; ++{name}) ", body), declaration

    def counters(self, local_size: int) -> tuple[Statement, str]:
        """Atomic additions whose sum does not depend on their order."""
        array, function = self.name("c"), self.pick(("add", "xor", "or", "max", "min", "sub"))
        target = self.pick([place for place in self.scope.places if place.writable and place.type == UINT])
        return Statement(f"if (lid < 4) {array}[lid] = {self.random.randrange(1000)}u;\n"
                         f"barrier(CLK_LOCAL_MEM_FENCE);\natomic_{function}(&{array}[", self.index(4), "], ",
                         self.expression(UINT, 2), ");\nbarrier(CLK_LOCAL_MEM_FENCE);\n", self.read(target),
                         f" ^= {array}[lid & 3];\nbarrier(CLK_LOCAL_MEM_FENCE);"), f"local uint {array}[4];"

    # ------------------------------------------------------------------ functions

    def constant(self) -> Statement:
        type_, length, name = self.any_type(), self.pick((2, 4, 8)), self.name("K")
        values = ", ".join(str(self.literal(type_)) for _ in range(length))
        self.scope.places.append(Place(type_, name, (f"{name}[", length, "]"), False))
        self.scope.arrays.append(Array(type_, length, name, name, "constant"))
        return Statement(f"constant {type_} {name}[{length}] = {{{values}}};\n")

    def helper(self) -> Statement:
        outer, self.scope, self.structures = self.scope, self.scope.inner(), []
        name, result = self.name("h"), self.any_type()
        parameters: list[Type | Struct | tuple[Type]] = []
        spelled = []
        for index in range(self.random.randint(1, 4)):
            parameter = f"q{index}"
            kind = self.pick(("value", "value", "pointer", "structure"))
            if kind == "structure" and self.structs:
                struct = self.pick(self.structs)
                self.add_structure(struct, parameter)
                parameters.append(struct)
                spelled.append(f"{struct.name} {parameter}")
                continue
            type_ = self.any_type()
            pointer = kind == "pointer"
            parameters.append((type_,) if pointer else type_)
            spelled.append(f"{type_} {'*' if pointer else ''}{parameter}")
            self.scope.places.append(Place(type_, parameter, (f"(*{parameter})" if pointer else parameter,)))
        self.result, self.loops = result, LOOPS - 1
        first = self.declare(UINT)
        body = [first, *(self.statement(1) for _ in range(self.random.randint(1, 4)))]
        last = Node("return ", self.expression(result, DEPTH), ";")
        self.result, self.loops, self.scope, self.structures = None, 0, outer, []
        self.helpers.append(Helper(name, result, tuple(parameters)))
        return Statement(f"{result} {name}({', '.join(spelled)})\n", Block(*body, last), "\n")

    def kernel(self, seed: int) -> Kernel:
        """The whole program."""
        global_size, local_size = self.pick(LAUNCHES)
        self.structs = []
        for _ in range(self.random.randint(0, 2)):
            self.structs.append(self.structure())
        if self.chance(0.5):
            self.structs.append(self.union())
        types = "".join(struct.declaration() for struct in self.structs)
        constants = [self.constant() for _ in range(self.random.randint(0, 2))]
        helpers = [self.helper() for _ in range(self.random.randint(0, 3))]
        body, locals_ = self._kernel_body(local_size)
        writes = [f"out[gid * SLOTS + {slot}] = {text};" for slot, text in enumerate(self._results())]
        declarations = [Statement(text) for text in locals_]
        start = [Statement("size_t gid = get_global_id(0);"), Statement("uint lid = get_local_id(0);"),
                 Statement(f"global uint *m = memory + gid * {MEMORY};")]
        block = Block(*declarations, *start, *body, *map(Statement, writes))
        root = Node(f"{HEADER}#define SLOTS {len(writes)}\n{types}", Node(*constants),
                    Node(*helpers), "kernel void k(global ulong *out, global uint *memory, global const uint *in)\n",
                    block, "\n")
        return Kernel(seed, root, global_size, local_size, len(writes))

    def _kernel_body(self, local_size: int) -> tuple[list[Statement], list[str]]:
        """Statements, and the declarations of local memory."""
        self.scope.places += [
            Place(ULONG, "gid", ("gid",), False, 0, max(size for size, _ in LAUNCHES)),
            Place(UINT, "lid", ("lid",), False, 0, local_size - 1),
            Place(UINT, "in", (f"in[gid * {INPUTS} + ", INPUTS, "]"), False)]
        body = [Statement(f"uint w{n} = in[gid * {INPUTS} + {n}];") for n in range(3)]
        self.scope.places += [Place(UINT, f"w{n}", (f"w{n}",)) for n in range(3)]
        for make in self.random.sample([self.declare_array, self.declaration, self.declaration, self.declaration,
                                        *(lambda t=t: self.declare(t) for t in INTEGERS),
                                        *(lambda: self.declare(self.any_type()) for _ in range(4))], 9):
            made = make()
            body += [made] if made else []
        self.declared = list(self.scope.places)
        self.scope.places.append(Place(UINT, "memory", ("m[", MEMORY, "]")))
        self.scope.arrays.append(Array(UINT, MEMORY, "m", "memory", "global"))
        locals_: list[str] = []
        scope = self.scope
        for _ in range(self.random.randint(5, 12)):
            self.scope = scope
            if self.chance(0.15):
                statement, local = self.pick((self.exchange, self.uniform_loop, self.counters))(local_size)
                body.append(statement)
                locals_.append(local)
            else:
                body.append(self.statement(3))
        return body, locals_

    def _results(self) -> list[str]:
        """Every scalar that the declared variables consist of, as a ulong."""
        texts = []
        for place in self.declared:
            if not place.writable:
                continue
            for indexed in unrolled("", place.parts):
                components = [indexed] if place.type.count == 1 else [
                    f"{indexed}.s{HEXADECIMAL[i]}" for i in range(place.type.count)]
                for text in components:
                    name = place.type.element.name
                    texts.append(f"bits_{name}({text})" if place.type.is_float else f"(ulong){text}")
        return list(dict.fromkeys(texts))


def unrolled(prefix: str, parts: tuple[str | int, ...]) -> list[str]:
    """The texts of a place for all its indices."""
    if not parts:
        return [prefix]
    first, rest = parts[0], parts[1:]
    choices = [str(index) for index in range(first)] if isinstance(first, int) else [first]
    return [text for choice in choices for text in unrolled(prefix + choice, rest)]


def members(struct: Struct, root: str, parts: tuple[str | int, ...]) -> list[Place]:
    """The places inside a structure."""
    places: list[Place] = []
    for member in struct.fields:
        here = (*parts, f".{member.name}", *(("[", member.length, "]") if member.length else ()))
        if isinstance(member.type, Struct):
            places += members(member.type, root, here)
        else:
            places.append(Place(member.type, root, here))
    return places


__all__ = ["Kernel", "generate", "integer_literal"]
