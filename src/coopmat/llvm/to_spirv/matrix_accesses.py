"""Accesses to cooperative matrices in memory, as text of LLVM IR, and the calls that stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coopmat.llvm.to_spirv.ir_text import VALUE, operands, split_operand, split_type

_PREFIX = "coopmat.matrix.memory."
_CALL = re.compile(rf"  (?:({VALUE}) = )?(?:tail |notail )?call .*?@{re.escape(_PREFIX)}(\d+)\((.*)")
_DECLARATION = re.compile(rf"declare .*@{re.escape(_PREFIX)}\d+\(")

# Of two accesses made one, the pointer would be chosen at run time. A pointer itself is therefore never the same twice.
_ATTRIBUTES = "nomerge nounwind willreturn"
_MEMORY = {"load": "memory(argmem: read)", "store": "memory(argmem: write)",
           "address": "memory(inaccessiblemem: readwrite)"}


@dataclass(frozen=True)
class Step:
    """An instruction from one pointer to another: what stands before the pointer, the indices with their types (None:
    one that the function computes), what stands behind them, and the type that a getelementptr steps into."""

    head: str
    indices: tuple[str | None, ...]
    tail: str = ""
    indexed: str | None = None


@dataclass(frozen=True)
class Access:
    """A load, a store, or the wish for a pointer (``kind`` "address"), where some steps lead: what stands before and
    behind its operands, and the type of its result."""

    kind: str
    head: str
    result: str
    tail: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class PointerPlace:
    """Where a pointer leads: some steps on from ``root``, a pointer with its type, by the indices ``computed``."""

    root: str
    steps: tuple[Step, ...] = ()
    computed: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """The root without its type."""
        return split_type(self.root)[1]


@dataclass(frozen=True)
class AccessCall:
    """A call that stands for an access at a place: the name of its result, and the value to be stored."""

    name: str | None
    access: Access
    place: PointerPlace
    value: str | None = None


@dataclass
class Hidden:
    """The accesses that calls stand for; a function's number is that of its access. ``chains`` are the declarations of
    the access chains in them, by name."""

    accesses: list[Access] = field(default_factory=list)
    chains: dict[str, str] = field(default_factory=dict)
    declarations: list[str] = field(default_factory=list)
    _numbers: dict[tuple[object, ...], int] = field(default_factory=dict)

    def line(self, call: AccessCall) -> str:
        """A call's text."""
        place = call.place
        given = [*([] if call.value is None else [call.value]), place.root, *place.computed]
        types = [split_type(operand)[0] for operand in given]
        number = self._numbers.setdefault((call.access, *types), len(self.accesses))
        if number == len(self.accesses):
            self.accesses.append(call.access)
            self.declarations.append(_declaration(call.access, number, types))
        result = f"{call.name} = " if call.name is not None else ""
        return f"  {result}call {call.access.result} @{_PREFIX}{number}({', '.join(given)})"

    def call(self, line: str) -> AccessCall | None:
        """What a line stands for; None of one that is no such call."""
        found = _CALL.match(line)
        if found is None:
            return None
        access = self.accesses[int(found.group(2))]
        given = [" ".join(split_operand(argument)) for argument in operands(found.group(3))]
        value = given.pop(0) if access.kind == "store" else None
        root, *computed = given
        return AccessCall(found.group(1), access, PointerPlace(root, access.steps, tuple(computed)), value)


def is_declaration(line: str) -> bool:
    """Whether a line declares a function that stands for accesses."""
    return _DECLARATION.match(line) is not None


def _declaration(access: Access, number: int, types: list[str]) -> str:
    memory = f" {_MEMORY[access.kind]}" if "volatile" not in access.head else ""
    if access.kind != "address":
        types[access.kind == "store"] += " captures(none)"
    return f"declare {access.result} @{_PREFIX}{number}({', '.join(types)}) {_ATTRIBUTES}{memory}"


def instructions(call: AccessCall, new_name: Iterator[str]) -> Iterator[str]:
    """The instructions that a call stands for."""
    access, place = call.access, call.place
    pointer, computed = place.root, iter(place.computed)
    for left, step in enumerate(place.steps, 1 - len(place.steps)):
        name = call.name if left == 0 and access.kind == "address" else next(new_name)
        indices = [next(computed) if index is None else index for index in step.indices]
        yield f"  {name} = {step.head}{', '.join([pointer, *indices])}{step.tail}"
        pointer = f"{split_type(place.root)[0]} {name}"
    if access.kind == "load":
        yield f"  {call.name} = {access.head}{access.result}, {pointer}{access.tail}"
    elif access.kind == "store":
        yield f"  {access.head}{call.value}, {pointer}{access.tail}"
