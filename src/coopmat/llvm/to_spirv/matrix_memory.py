"""Cooperative matrices in memory, hidden from LLVM's optimiser.

To LLVM a matrix is as large as a pointer. Its optimiser therefore makes bytes of indices into an array of matrices,
copies matrices as bytes, and joins accesses to different ones: forms that have no meaning in SPIR-V, where a matrix has
no size. So each instruction that reads, writes or points to a part of a variable with matrices becomes a call of a
function of which LLVM knows only what memory it touches (:func:`hide`), and after the optimiser what it was before
(:func:`reveal`). A variable of which only certain parts are left in use falls into these on the way; a second round of
the optimiser makes values of them.

All of it expects IR as LLVM prints it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from coopmat.llvm.to_spirv.ir_text import (
    POINTER,
    SYMBOL,
    VALUE,
    Types,
    functions,
    is_matrix,
    operands,
    split_operand,
    split_type,
    values_in,
)
from coopmat.llvm.to_spirv.matrix_accesses import (
    Access,
    AccessCall,
    Hidden,
    PointerPlace,
    Step,
    instructions,
    is_declaration,
)
from coopmat.llvm.to_spirv.matrix_parts import Parts, variable_type
from coopmat.llvm.to_spirv.names import parse

_ADDRESS = re.compile(rf"  ({VALUE}) = (getelementptr (?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )*)(.*)")
_CHAIN = re.compile(rf"  ({VALUE}) = (?:tail |notail )?(call (?:\w+ )*?{POINTER} ({SYMBOL})\()(.*)")
_DECLARED = re.compile(rf"declare [^@]*({SYMBOL})\(")
_GROUP = re.compile(r" #\d+\Z")  # of attributes, which the optimiser numbers anew
_LOAD = re.compile(rf"  ({VALUE}) = (load (?:volatile )?)(?!atomic)(.*)")
_STORE = re.compile(r"  (store (?:volatile )?)(?!atomic)(.*)")


def hide(ir: str) -> tuple[str, Hidden]:
    """The IR with calls in the place of accesses to matrices in memory, and what they stand for."""
    hidden, types = Hidden(), Types(ir)
    lines = [line for part in functions(ir) for line in _without_accesses(part, types, hidden)]
    hidden.chains = {name: _GROUP.sub("", line) for line in lines if (name := _declared_chain(line)) is not None}
    return "\n".join([*lines, *hidden.declarations, ""]), hidden


def reveal(ir: str, hidden: Hidden) -> tuple[str, bool]:
    """The IR with its accesses again, and whether the optimiser can now make values of more variables."""
    types, names = Types(ir), (f"%coopmat.place.{number}" for number in count())
    lines: list[str] = []
    is_simpler = False
    for part in functions(ir):
        calls = {number: call for number, line in enumerate(part) if (call := hidden.call(line)) is not None}
        parts = Parts(part, calls, types)
        is_simpler |= parts.any or any(map(parts.is_direct, calls.values()))
        for number, line in enumerate(part):
            lines += instructions(parts.moved(calls[number]), names) if number in calls else parts.lines(line)
    return "\n".join([*_redeclared(lines, hidden), ""]), is_simpler


def _redeclared(lines: Sequence[str], hidden: Hidden) -> Iterator[str]:
    """The lines without declarations of what stood for accesses, with those of the access chains in them, which the
    optimiser has not seen called."""
    missing = dict(hidden.chains)
    is_blank = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if is_declaration(line) or (line.startswith("; Function Attrs") and is_declaration(following)):
            continue
        missing.pop(_declared_chain(line) or "", None)
        if line or not is_blank:
            yield line
        is_blank = not line
    for name, declaration in missing.items():
        if any(f" {name}(" in line for line in lines):
            yield declaration


def _declared_chain(line: str) -> str | None:
    """The name of the access chain that a line declares."""
    found = _DECLARED.match(line)
    return found.group(1) if found is not None and _is_access_chain(found.group(1)) else None


def _without_accesses(lines: Sequence[str], types: Types, hidden: Hidden) -> Iterator[str]:
    """The lines of a function with its accesses hidden, and without the steps to pointers of which nothing else is
    left."""
    places = _Places(lines, types)
    changed = [places.hidden(line, hidden) for line in lines]
    used = {name for line in changed if line is not None for name in values_in(line)}
    for line, new in zip(lines, changed, strict=True):
        if new is not None:
            yield new
        elif (name := _result(line)) in used:
            yield hidden.line(places.address(name))


def _result(line: str) -> str:
    """The name of what a line computes."""
    return line.split(" = ", 1)[0].strip()


class _Places:
    """The pointers of a function that lead to matrices, or to what lies beside them."""

    def __init__(self, lines: Iterable[str], types: Types) -> None:
        self._types = types
        self._steps: dict[str, tuple[str, Step, tuple[str, ...]]] = {}  # pointer -> from where, how, computed indices
        self._matrices: set[str] = set()  # variables that are one matrix each
        for line in lines:
            variable = variable_type(line)
            if variable is not None and is_matrix(variable[1]):
                self._matrices.add(variable[0])
            elif (address := _ADDRESS.match(line)) is not None:
                self._note_address(*address.groups())
            elif (chain := _CHAIN.match(line)) is not None and _is_access_chain(chain.group(3)):
                self._note_chain(chain.group(1), chain.group(2), chain.group(4))

    def _note_address(self, name: str, head: str, text: str) -> None:
        type_, pointer, *indices = (part for part in operands(text) if not part.startswith("!"))
        if pointer.startswith("ptr"):
            static, computed = _by_kind(indices)
            self._steps[name] = pointer, Step(f"{head}{type_}, ", static, "", type_), computed

    def _note_chain(self, name: str, head: str, text: str) -> None:
        pointer, *indices = (" ".join(split_operand(argument)) for argument in operands(text))
        static, computed = _by_kind(indices)
        self._steps[name] = pointer, Step(head, static, ")"), computed

    def _place(self, name: str) -> PointerPlace | None:
        """Where a pointer leads; None if that has nothing to do with matrices."""
        root, steps, computed = "", list[Step](), list[str]()
        seen: set[str] = set()  # in code that is never reached a pointer may come from itself
        while name in self._steps and name not in seen:
            seen.add(name)
            root, step, indices = self._steps[name]
            steps.insert(0, step)
            computed[:0] = indices
            name = split_type(root)[1]
        if not any(step.indexed is None or self._types.holds_matrix(step.indexed) for step in steps):
            return None
        return PointerPlace(root, tuple(steps), tuple(computed))

    def hidden(self, line: str, hidden: Hidden) -> str | None:
        """The line, with a call for an access; None for a step to a pointer, which accesses do not need any more."""
        if (load := _LOAD.match(line)) is not None:
            name, head, text = load.groups()
            type_, pointer, *rest = operands(text)
            place = self._accessed(type_, pointer)
            access = Access("load", head, type_, _tail(rest), place.steps if place is not None else ())
            return line if place is None else hidden.line(AccessCall(name, access, place))
        if (store := _STORE.match(line)) is not None:
            head, text = store.groups()
            value, pointer, *rest = operands(text)
            place = self._accessed(split_type(value)[0], pointer)
            access = Access("store", head, "void", _tail(rest), place.steps if place is not None else ())
            return line if place is None else hidden.line(AccessCall(None, access, place, value))
        return line if self._place(_result(line)) is None else None

    def _accessed(self, type_: str, pointer: str) -> PointerPlace | None:
        """Where an access leads that is to be hidden: any to matrices but those to a variable that is just one."""
        name = split_type(pointer)[1]
        if self._types.holds_matrix(type_) and name not in self._matrices:
            return self._place(name) or PointerPlace(pointer)
        return self._place(name)

    def address(self, name: str) -> AccessCall:
        """The call for a pointer."""
        place = self._place(name)
        assert place is not None
        return AccessCall(name, Access("address", "", split_type(place.root)[0], "", place.steps), place)


def _is_access_chain(symbol: str) -> bool:
    return parse(symbol[1:].strip('"')).name.endswith("AccessChain")


def _tail(rest: Iterable[str]) -> str:
    """What stands behind an access's pointer, but for metadata."""
    return "".join(f", {part}" for part in rest if not part.startswith("!"))


def _by_kind(indices: Iterable[str]) -> tuple[tuple[str | None, ...], tuple[str, ...]]:
    """The indices with None in the place of those that are computed, and these."""
    static: list[str | None] = []
    computed: list[str] = []
    for index in indices:
        if split_type(index)[1].startswith("%"):
            static.append(None)
            computed.append(index)
        else:
            static.append(index)
    return tuple(static), tuple(computed)
