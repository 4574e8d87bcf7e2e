"""Loops over the components of matrices, put into a kernel's optimised IR: such a matrix lies in memory meanwhile.

In registers a component whose number is known at run time only costs a copy of the whole matrix, each time. So what a
loop reads or changes in that way moves to memory where the loop begins, and what it changed comes back where it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.body import is_large
from coopmat.targets.cpu.matrix.operation import (
    Extract,
    ExtractInMemory,
    FromMemory,
    Insert,
    InsertInMemory,
    Operation,
    ToMemory,
)
from coopmat.targets.cpu.matrix.types import component_bytes, matrix_type
from coopmat.targets.llvm.ir_text import UNDEFINED, Block, Function, Line, Operand, Phi, is_name


@dataclass(frozen=True)
class _Access:
    """A call that reads or changes a component; ``others``: the operands behind the matrix."""

    operation: Extract | Insert
    result: str
    matrix: str
    others: tuple[Operand, ...]

    @property
    def kind(self) -> MatrixType:
        """The type of the matrix."""
        return self.operation.operands[0]

    @property
    def is_change(self) -> bool:
        """Whether it changes the component."""
        return isinstance(self.operation, Insert)

    @property
    def is_varying(self) -> bool:
        """Whether the number of the component is known at run time only."""
        return is_name(self.others[0].value)


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

    phi: Phi
    kind: MatrixType
    names: set[str]
    at_end: dict[str, str]


class ComponentLoops:
    """Rewrites functions. ``operations``: what calls stand for, by name, with those that it writes. ``bytes``: the
    memory that it needs."""

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        self.operations = dict(operations)
        self.bytes = 0
        self._size = max(operation.sub_group_size for operation in operations.values())  # all have the same
        self._names = {operation: name for name, operation in operations.items()}
        self._blocks: dict[str, Block] = {}  # of the function at hand
        self._next: dict[str, list[str]] = {}  # the labels of the blocks that come next, and before
        self._before: dict[str, list[str]] = {}
        self._slots: list[Line] = []
        self._count = 0

    def rewrite(self, function: Function) -> None:
        """Put the matrices of a function's loops into memory."""
        if not any(access and access.is_varying for access in map(self._access, function.lines)):
            return
        function.name_all()
        self._blocks, self._slots = function.blocks, []
        for block in self._blocks.values():
            block.lines = [line for line in block.lines if line.text]
        self._connect()
        loops = sorted(self._loops(), key=lambda loop: len(loop.blocks))
        for loop in loops:
            for label in self._move(loop):
                for outer in loops:
                    if outer is not loop and loop.head in outer.blocks:
                        outer.blocks.add(label)
        function.entry.lines[:0] = self._slots

    def _connect(self) -> None:
        """Find out which blocks follow each other."""
        self._next = {label: block.successors for label, block in self._blocks.items()}
        self._before = {label: [] for label in self._blocks}
        for label, following in self._next.items():
            for one in following:
                self._before[one].append(label)

    # --- loops ------------------------------------------------------------------------

    def _loops(self) -> list[_Loop]:
        """The loops of the function at hand."""
        found = []
        first = next(iter(self._blocks))
        for head, before in self._before.items():
            others = self._reachable([first], head)
            latches = [label for label in before if label not in others]
            if latches and head != first:
                found.append(_Loop(head, {head, *self._reachable(latches, head, backwards=True)}))
        return found

    def _reachable(self, starts: Sequence[str], barred: str, *, backwards: bool = False) -> set[str]:
        """The blocks that control gets to from some, or comes from, without a certain one."""
        neighbours = self._before if backwards else self._next
        found: set[str] = set()
        waiting = list(starts)
        while waiting:
            label = waiting.pop()
            if label not in found and label != barred:
                found.add(label)
                waiting += neighbours[label]
        return found

    def _access(self, line: Line) -> _Access | None:
        """The access to a component in a line."""
        operation = self.operations.get(line.call.function) if line.call else None
        if line.call is None or not isinstance(operation, Extract | Insert):
            return None
        matrix, *others = line.call.operands
        return _Access(operation, line.result, matrix.value, tuple(others))

    def _accesses(self, loop: _Loop) -> _Accesses:
        """The accesses to components in a loop."""
        return {(label, number): access for label, block in self._blocks.items() if label in loop.blocks
                for number, line in enumerate(block.lines) if (access := self._access(line))}

    # --- what can move ----------------------------------------------------------------

    def _read(self, loop: _Loop, accesses: _Accesses) -> dict[str, MatrixType]:
        """The matrices from before a loop of which it reads components. Large ones lie in memory anyway."""
        own = {line.result for label in loop.blocks for line in self._blocks[label].lines}
        return {one.matrix: one.kind for one in accesses.values()
                if one.is_varying and not one.is_change and is_name(one.matrix) and one.matrix not in own
                and not is_large(one.kind)}

    def _carried(self, loop: _Loop, accesses: _Accesses) -> Iterator[_Carried]:
        """The matrices of which a loop changes components, and that it needs for nothing else."""
        kinds = {matrix_type(one.kind): one.kind for one in accesses.values() if one.is_varying}
        for phi in self._phis(loop.head):
            if phi.type in kinds:
                names = self._names_of(phi.result, loop, accesses)
                if any(one.is_varying and one.matrix in names for one in accesses.values()):
                    at_end = self._followed(phi, names, loop, accesses)
                    if at_end and self._comes_back(names, at_end, loop):
                        yield _Carried(phi, kinds[phi.type], names, at_end)

    def _names_of(self, phi: str, loop: _Loop, accesses: _Accesses) -> set[str]:
        """The names that the matrix of a phi gets in a loop."""
        names, count = {phi}, 0
        while count < len(names):
            count = len(names)
            names |= {one.result for one in accesses.values() if one.is_change and one.matrix in names}
            for label in loop.blocks - {loop.head}:
                names |= {one.result for one in self._phis(label) if {value for value, _ in one.incoming} <= names}
        return names

    def _phis(self, label: str) -> list[Phi]:
        """The phis of a block."""
        return [phi for line in self._blocks[label].lines if (phi := line.phi)]

    def _followed(self, phi: Phi, names: set[str], loop: _Loop, accesses: _Accesses) -> dict[str, str]:
        """By block, the name that the matrix has at its end; none if anything needs the matrix under a former name, or
        needs all of it."""
        at_start, at_end, waiting = {loop.head: phi.result}, {}, [loop.head]
        while waiting:
            label = waiting.pop()
            name = at_start[label]
            for number, line in enumerate(self._blocks[label].lines):
                access = accesses.get((label, number))
                if not names & line.names or (line.phi and line.result in names):
                    continue
                if access is None or access.matrix != name:
                    return {}
                name = access.result if access.is_change else name
            at_end[label] = name
            for following in loop.blocks & set(self._next[label]) - set(at_start):
                at_start[following] = next(iter(self._joins(following, names)), name)
                waiting.append(following)
        arriving = {label: self._joins(label, names) for label in loop.blocks}
        arriving[loop.head] = {phi.result: phi.sources}
        fits = all(name == at_start[label] and sources.get(before, "") == at_end[before]
                   for label in loop.blocks for before in loop.blocks & set(self._before[label])
                   for name, sources in (arriving[label] or {at_start[label]: {before: at_start[label]}}).items())
        return at_end if fits else {}

    def _joins(self, label: str, names: set[str]) -> dict[str, dict[str, str]]:
        """The phis of a block that have some of the names, with their values by block."""
        return {phi.result: phi.sources for phi in self._phis(label) if phi.result in names}

    def _comes_back(self, names: set[str], at_end: dict[str, str], loop: _Loop) -> bool:
        """Whether what is needed behind a loop is the matrix that there is at its only end."""
        exits = self._exits(loop)
        needed = {name for label, block in self._blocks.items() if label not in loop.blocks
                  for line in block.lines for name in names & line.names}
        return len(exits) == 1 and needed <= {at_end[exits[0][0]]}

    def _exits(self, loop: _Loop) -> list[tuple[str, str]]:
        """The ways out of a loop."""
        return [(label, one) for label in loop.blocks for one in self._next[label] if one not in loop.blocks]

    # --- moving -----------------------------------------------------------------------

    def _move(self, loop: _Loop) -> list[str]:
        """Put matrices into memory as long as a loop runs. Gives the labels of new blocks behind it."""
        accesses = self._accesses(loop)
        if not any(access.is_varying for access in accesses.values()):
            return []
        carried, read = list(self._carried(loop, accesses)), self._read(loop, accesses)
        slots = {name: self._slot(kind) for name, kind in read.items()}
        outside = [label for label in self._before[loop.head] if label not in loop.blocks]
        for name, kind in read.items():
            self._enter(dict.fromkeys(outside, name), kind, slots[name])
        changed = [(one, self._slot(one.kind)) for one in carried]
        for one, slot in changed:
            slots |= dict.fromkeys(one.names, slot)
            self._enter({label: one.phi.sources[label] for label in outside}, one.kind, slot)
        for (label, number), access in accesses.items():
            if access.matrix in slots and (access.is_varying or access.matrix not in read):
                self._blocks[label].lines[number] = self._in_memory(access, slots[access.matrix])
        for label in loop.blocks:
            block = self._blocks[label]
            block.lines = [line for line in block.lines if not (line.phi and line.result in slots)]
        return [self._leave(loop, changed)] if changed else []

    def _slot(self, kind: MatrixType) -> str:
        """Memory for the components of a matrix."""
        self._count += 1
        nbytes = component_bytes(kind)
        self.bytes += nbytes
        self._slots.append(Line.of(f"  %components.{self._count} = alloca [{nbytes} x i8], align 64"))
        return f"%components.{self._count}"

    def _call(self, operation: Operation, operands: str) -> str:
        """The call of the function that stands for an operation."""
        name = self._names.setdefault(operation, f"matrix.{operation.name}.{len(self._names)}")
        self.operations[name] = operation
        return f"@{name}({operands})"

    def _enter(self, sources: Mapping[str, str], kind: MatrixType, slot: str) -> None:
        """Move a matrix to memory: by block, the one that is there at its end."""
        for label, value in sources.items():
            if value not in UNDEFINED:
                block = self._blocks[label]
                operation = ToMemory(operands=(kind,), sub_group_size=self._size)
                call = self._call(operation, f"{matrix_type(kind)} {value}, ptr {slot}")
                block.lines.insert(block.end, Line.of(f"  call void {call}"))

    def _in_memory(self, access: _Access, slot: str) -> Line:
        """An access to a component of a matrix in memory."""
        given = access.operation
        made = InsertInMemory if access.is_change else ExtractInMemory
        operation = made(kind=access.kind, is_uniform=given.is_uniform, sub_group_size=given.sub_group_size)
        call = self._call(operation, ", ".join([f"ptr {slot}", *map(str, access.others)]))
        start = "" if access.is_change else f"{access.result} = "
        return Line.of(f"  {start}call {operation.returned} {call}")

    def _leave(self, loop: _Loop, changed: Sequence[tuple[_Carried, str]]) -> str:
        """Take matrices back from memory, in a new block behind a loop; its label."""
        [(last, following)] = self._exits(loop)
        label = f"{last}.left"
        lines = []
        for one, slot in changed:
            name, left = one.at_end[last], f"{one.at_end[last]}.left"
            call = self._call(FromMemory(result=one.kind, sub_group_size=self._size), f"ptr {slot}")
            lines.append(Line.of(f"  {left} = call {matrix_type(one.kind)} {call}"))
            for outside in self._blocks.keys() - loop.blocks:
                block = self._blocks[outside]
                block.lines = _renamed(block.lines, name, left)
        self._split(last, following, label, lines)
        return label

    def _split(self, last: str, following: str, label: str, lines: list[Line]) -> None:
        """Put a block between two others."""
        before, behind = self._blocks[last], self._blocks[following]
        before.lines[before.end:] = _renamed(before.lines[before.end:], f"%{following}", f"%{label}")
        phis = sum(line.opcode == "phi" for line in behind.lines)
        behind.lines[:phis] = _renamed(behind.lines[:phis], f"%{last}", f"%{label}")
        self._blocks[label] = Block(f"{label}:", [*lines, Line.of(f"  br label %{following}")])
        self._connect()


def _renamed(lines: Sequence[Line], old: str, new: str) -> list[Line]:
    return [line.renamed(lambda name: new if name == old else name) if old in line.text else line for line in lines]
