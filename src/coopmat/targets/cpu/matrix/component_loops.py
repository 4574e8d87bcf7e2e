"""Loops over the components of matrices, put into a kernel's optimised IR: such a matrix lies in memory meanwhile.

In registers a component whose number is known at run time only costs a copy of the whole matrix, each time. So what a
loop reads or changes in that way moves to memory where the loop begins, and what it changed comes back where it ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.body import is_large
from coopmat.targets.cpu.matrix.operations import Operation, component_bytes, matrix_type
from coopmat.targets.cpu.matrix.text import CALL, operands_of

_LABEL = re.compile(r"([\w.$-]+):")
_SUCCESSOR = re.compile(r"label %([\w.$-]+)")
_TERMINATOR = re.compile(r"  (?:br|switch|ret|unreachable)\b")
_RESULT = re.compile(r"  (%[\w.$-]+) = ")
_PHI = re.compile(r"  (%[\w.$-]+) = phi (.*?) (\[ .*)")
_INCOMING = re.compile(r"\[ ([^,]+), %([^ ]+) \]")
_NAME = re.compile(r"%[\w.$-]+")
_NUMBERED = re.compile(r"(%|^(?=\d+:))(\d+)\b")
"""Values and labels without names, whose numbers LLVM expects in their order."""
_NO_VALUE = ("undef", "poison")


@dataclass
class _Block:
    """The lines of a block, and the labels of those that come next and before."""

    lines: list[str] = field(default_factory=list)
    next: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The number of the terminator's first line."""
        return next(number for number, line in enumerate(self.lines) if _TERMINATOR.match(line))


@dataclass(frozen=True)
class _Access:
    """A call that reads or changes a component; ``others``: the operands behind the matrix."""

    operation: Operation
    result: str
    matrix: str
    others: tuple[str, ...]

    @property
    def kind(self) -> MatrixType:
        """The type of the matrix."""
        return self.operation.operands[0]

    @property
    def is_change(self) -> bool:
        """Whether it changes the component."""
        return self.operation.result is not None

    @property
    def is_varying(self) -> bool:
        """Whether the number of the component is known at run time only."""
        return "%" in self.others[0]


_Accesses = Mapping[tuple[str, int], _Access]  # by the label of the block and the number of the line


@dataclass
class _Loop:
    """A loop: the labels of its head and of all of its blocks."""

    head: str
    blocks: set[str]


@dataclass
class _Carried:
    """A matrix of which a loop changes components: the phi at the head, all names that it has in the loop, and the one
    at the end of each block."""

    phi: str
    kind: MatrixType
    names: set[str]
    at_end: dict[str, str]


class ComponentLoops:
    """Rewrites functions. ``operations``: what calls stand for, by name, with those that it writes. ``bytes``: the
    memory that it needs."""

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        self.operations = dict(operations)
        self.bytes = 0
        self._names = {operation: name for name, operation in operations.items()}
        self._blocks: dict[str, _Block] = {}  # of the function at hand
        self._slots: list[str] = []
        self._count = 0

    def rewritten(self, lines: list[str]) -> list[str]:
        """The lines of a function."""
        if not any(access and access.is_varying for access in map(self._access, lines)):
            return lines
        self._blocks, self._slots = _blocks([_NUMBERED.sub(r"\1unnamed.\2", line) for line in lines[1:]]), []
        loops = sorted(self._loops(), key=lambda loop: len(loop.blocks))
        for loop in loops:
            for label in self._move(loop):
                for outer in loops:
                    if outer is not loop and loop.head in outer.blocks:
                        outer.blocks.add(label)
        text = [line for block in self._blocks.values() for line in block.lines]
        start = 1 if _LABEL.match(text[0]) else 0
        return [lines[0], *text[:start], *self._slots, *text[start:], "}"]

    # --- loops ------------------------------------------------------------------------

    def _loops(self) -> list[_Loop]:
        """The loops of the function at hand."""
        found = []
        first = next(iter(self._blocks))
        for head, block in self._blocks.items():
            others = self._reachable([first], head)
            latches = [label for label in block.before if label not in others]
            if latches and head != first:
                found.append(_Loop(head, {head, *self._reachable(latches, head, backwards=True)}))
        return found

    def _reachable(self, starts: Sequence[str], barred: str, *, backwards: bool = False) -> set[str]:
        """The blocks that control gets to from some, or comes from, without a certain one."""
        found: set[str] = set()
        waiting = list(starts)
        while waiting:
            label = waiting.pop()
            if label not in found and label != barred:
                found.add(label)
                block = self._blocks[label]
                waiting += block.before if backwards else block.next
        return found

    def _access(self, line: str) -> _Access | None:
        """The access to a component in a line."""
        call = CALL.match(line) if "@matrix." in line else None
        operation = self.operations.get(call[3]) if call else None
        if call is None or operation is None or operation.name not in ("extract", "insert"):
            return None
        matrix, *others = operands_of(call[4])
        return _Access(operation, call[1], matrix.split()[-1], tuple(others))

    def _accesses(self, loop: _Loop) -> _Accesses:
        """The accesses to components in a loop."""
        return {(label, number): access for label in loop.blocks
                for number, line in enumerate(self._blocks[label].lines) if (access := self._access(line))}

    # --- what can move ----------------------------------------------------------------

    def _read(self, loop: _Loop, accesses: _Accesses) -> dict[str, MatrixType]:
        """The matrices from before a loop of which it reads components. Large ones lie in memory anyway."""
        own = {found[1] for label in loop.blocks for found in map(_RESULT.match, self._blocks[label].lines) if found}
        return {one.matrix: one.kind for one in accesses.values()
                if one.is_varying and not one.is_change and one.matrix.startswith("%") and one.matrix not in own
                and not is_large(one.kind)}

    def _carried(self, loop: _Loop, accesses: _Accesses) -> Iterator[_Carried]:
        """The matrices of which a loop changes components, and that it needs for nothing else."""
        kinds = {matrix_type(one.kind): one.kind for one in accesses.values() if one.is_varying}
        for phi in filter(None, map(_PHI.match, self._blocks[loop.head].lines)):
            if phi[2] in kinds:
                names = self._names_of(phi[1], loop, accesses)
                if any(one.is_varying and one.matrix in names for one in accesses.values()):
                    at_end = self._followed(phi, names, loop, accesses)
                    if at_end and self._comes_back(names, at_end, loop):
                        yield _Carried(phi[1], kinds[phi[2]], names, at_end)

    def _names_of(self, phi: str, loop: _Loop, accesses: _Accesses) -> set[str]:
        """The names that the matrix of a phi gets in a loop."""
        names, count = {phi}, 0
        while count < len(names):
            count = len(names)
            names |= {one.result for one in accesses.values() if one.is_change and one.matrix in names}
            for label in loop.blocks - {loop.head}:
                for found in filter(None, map(_PHI.match, self._blocks[label].lines)):
                    if {value for value, _ in _INCOMING.findall(found[3])} <= names:
                        names.add(found[1])
        return names

    def _followed(self, phi: re.Match[str], names: set[str], loop: _Loop, accesses: _Accesses) -> dict[str, str]:
        """By block, the name that the matrix has at its end; none if anything needs the matrix under a former name, or
        needs all of it."""
        at_start, at_end, waiting = {loop.head: phi[1]}, {}, [loop.head]
        while waiting:
            label = waiting.pop()
            name = at_start[label]
            for number, line in enumerate(self._blocks[label].lines):
                access, joined = accesses.get((label, number)), _PHI.match(line)
                if not names & set(_NAME.findall(line)) or (joined and joined[1] in names):
                    continue
                if access is None or access.matrix != name:
                    return {}
                name = access.result if access.is_change else name
            at_end[label] = name
            for following in loop.blocks & set(self._blocks[label].next) - set(at_start):
                at_start[following] = next(iter(self._joins(following, names)), name)
                waiting.append(following)
        arriving = {label: self._joins(label, names) for label in loop.blocks}
        arriving[loop.head] = {phi[1]: {label: value for value, label in _INCOMING.findall(phi[3])}}
        fits = all(name == at_start[label] and sources.get(before, "") == at_end[before]
                   for label in loop.blocks for before in loop.blocks & set(self._blocks[label].before)
                   for name, sources in (arriving[label] or {at_start[label]: {before: at_start[label]}}).items())
        return at_end if fits else {}

    def _joins(self, label: str, names: set[str]) -> dict[str, dict[str, str]]:
        """The phis of a block that have some of the names, with their values by block."""
        return {phi[1]: {before: value for value, before in _INCOMING.findall(phi[3])}
                for phi in filter(None, map(_PHI.match, self._blocks[label].lines)) if phi[1] in names}

    def _comes_back(self, names: set[str], at_end: dict[str, str], loop: _Loop) -> bool:
        """Whether what is needed behind a loop is the matrix that there is at its only end."""
        exits = self._exits(loop)
        needed = {name for label, block in self._blocks.items() if label not in loop.blocks
                  for line in block.lines for name in names & set(_NAME.findall(line))}
        return len(exits) == 1 and needed <= {at_end[exits[0][0]]}

    def _exits(self, loop: _Loop) -> list[tuple[str, str]]:
        """The ways out of a loop."""
        return [(label, one) for label in loop.blocks for one in self._blocks[label].next if one not in loop.blocks]

    # --- moving -----------------------------------------------------------------------

    def _move(self, loop: _Loop) -> list[str]:
        """Put matrices into memory as long as a loop runs. Gives the labels of new blocks behind it."""
        accesses = self._accesses(loop)
        if not any(access.is_varying for access in accesses.values()):
            return []
        carried, read = list(self._carried(loop, accesses)), self._read(loop, accesses)
        slots = {name: self._slot(kind) for name, kind in read.items()}
        outside = [label for label in self._blocks[loop.head].before if label not in loop.blocks]
        for name, kind in read.items():
            self._enter(dict.fromkeys(outside, name), kind, slots[name])
        changed = [(one, self._slot(one.kind)) for one in carried]
        for one, slot in changed:
            slots |= dict.fromkeys(one.names, slot)
            sources = self._joins(loop.head, {one.phi})[one.phi]
            self._enter({label: sources[label] for label in outside}, one.kind, slot)
        for (label, number), access in accesses.items():
            if access.matrix in slots and (access.is_varying or access.matrix not in read):
                self._blocks[label].lines[number] = self._in_memory(access, slots[access.matrix])
        for label in loop.blocks:
            block = self._blocks[label]
            block.lines = [line for line in block.lines if not ((phi := _PHI.match(line)) and phi[1] in slots)]
        return [self._leave(loop, changed)] if changed else []

    def _slot(self, kind: MatrixType) -> str:
        """Memory for the components of a matrix."""
        self._count += 1
        nbytes = component_bytes(kind)
        self.bytes += nbytes
        self._slots.append(f"  %components.{self._count} = alloca [{nbytes} x i8], align 64")
        return f"%components.{self._count}"

    def _call(self, operation: Operation, operands: str) -> str:
        """The call of the function that stands for an operation."""
        name = self._names.setdefault(operation, f"matrix.{operation.name}.{len(self._names)}")
        self.operations[name] = operation
        return f"@{name}({operands})"

    def _enter(self, sources: Mapping[str, str], kind: MatrixType, slot: str) -> None:
        """Move a matrix to memory: by block, the one that is there at its end."""
        for label, value in sources.items():
            if value not in _NO_VALUE:
                block = self._blocks[label]
                call = self._call(Operation("to_memory", None, (kind,)), f"{matrix_type(kind)} {value}, ptr {slot}")
                block.lines.insert(block.end, f"  call void {call}")

    def _in_memory(self, access: _Access, slot: str) -> str:
        """An access to a component of a matrix in memory."""
        given = access.operation
        operation = Operation(f"{given.name}_in_memory", None, (), (*given.detail, access.kind), given.sub_group_size)
        call = self._call(operation, ", ".join([f"ptr {slot}", *access.others]))
        if access.is_change:
            return f"  call void {call}"
        return f"  {access.result} = call {given.vector} {call}"

    def _leave(self, loop: _Loop, changed: Sequence[tuple[_Carried, str]]) -> str:
        """Take matrices back from memory, in a new block behind a loop; its label."""
        [(last, following)] = self._exits(loop)
        label = f"{last}.left"
        lines = [f"{label}:"]
        for one, slot in changed:
            name = one.at_end[last]
            call = self._call(Operation("from_memory", one.kind, ()), f"ptr {slot}")
            lines.append(f"  {name}.left = call {matrix_type(one.kind)} {call}")
            pattern = re.compile(rf"{re.escape(name)}(?![\w.$-])")
            for outside in self._blocks.keys() - loop.blocks:
                block = self._blocks[outside]
                block.lines = [pattern.sub(f"{name}.left", line) for line in block.lines]
        self._split(last, following, label, lines)
        return label

    def _split(self, last: str, following: str, label: str, lines: list[str]) -> None:
        """Put a block between two others."""
        before, behind = self._blocks[last], self._blocks[following]
        end = before.end
        before.lines[end:] = [re.sub(rf"label %{re.escape(following)}(?![\w.$-])", f"label %{label}", line)
                              for line in before.lines[end:]]
        behind.lines = [line.replace(f", %{last} ]", f", %{label} ]") if _PHI.match(line) else line
                        for line in behind.lines]
        before.next = [label if one == following else one for one in before.next]
        behind.before = [label if one == last else one for one in behind.before]
        self._blocks[label] = _Block([*lines, f"  br label %{following}"], [following], [last])


def _blocks(lines: Sequence[str]) -> dict[str, _Block]:
    """The blocks of a function, by their labels."""
    block = _Block()
    found = {"": block}
    for line in lines:
        named = _LABEL.match(line)
        if named:
            block = found[named[1]] = _Block()
        if line.strip() and line != "}":
            block.lines.append(line)
    found = {label: block for label, block in found.items() if block.lines}
    for label, block in found.items():
        block.next = [name for line in block.lines[block.end:] for name in _SUCCESSOR.findall(line)]
        for name in block.next:
            found[name].before.append(label)
    return found
