"""Large matrices, put into a function's text: each value becomes an address, of memory that only its definition writes.

What moves values without an operation, a phi for instance, copies them. A phi's value comes in two steps, so that phis
of one block can exchange theirs. Values that are not needed at the same time share memory.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.llvm.ir_text import (
    TERMINATORS,
    UNDEFINED,
    Block,
    CallLine,
    Freeze,
    Function,
    Line,
    Load,
    Phi,
    Select,
    Store,
    is_name,
)

ZEROS = "@matrix.zeros"
COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


@dataclass
class _Step:
    """A line, and the values whose memory it reads and writes. updates: of those that it reads, the one that may lie
    where it writes. is_copy: what it writes is what it reads, both may be needed later."""

    line: Line
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    updates: str = ""
    is_copy: bool = False


@dataclass
class _Steps:
    """The steps of a block: phis and what leads to them, all others, copies for the phis of the next block, and the
    terminator."""

    phis: list[_Step] = field(default_factory=list)
    others: list[_Step] = field(default_factory=list)
    copies: list[_Step] = field(default_factory=list)
    end: list[_Step] = field(default_factory=list)

    @property
    def all(self) -> list[_Step]:
        """In their order."""
        return [*self.phis, *self.others, *self.copies, *self.end]


class LargeValues:
    """Rewrites functions. types: the large types, by their text. updates: the functions whose last operand may lie
    where their result does. ``bytes``: the memory that the functions' values need.
    """

    def __init__(self, types: Mapping[str, MatrixType], updates: Container[str] = ()) -> None:
        self._updates = updates
        self.sizes = {name: kind.rows * kind.columns * kind.component.size for name, kind in types.items()}
        self.bytes = 0
        self._has_zeros = False
        self._values: dict[str, int] = {}  # of the function at hand: name → bytes
        self._steps: dict[str, _Steps] = {}  # by label
        self._next: dict[str, set[str]] = {}
        self._block = _Steps()  # that is being written

    @property
    def definitions(self) -> list[str]:
        """What the rewritten functions refer to: the zeros that stand for every constant."""
        most = max(self.sizes.values(), default=0)
        return [f"{ZEROS} = internal constant [{most} x i8] zeroinitializer, align 64"] if self._has_zeros else []

    def rewrite(self, function: Function) -> None:
        """Put a function's values of large types into memory."""
        if not any(name in self.sizes for line in function.lines for name in line.opaque_types):
            return
        function.name_all()
        self._values = {}
        self._steps = {label: _Steps() for label in function.blocks}
        self._next = {label: set(block.successors) for label, block in function.blocks.items()}
        for label, block in function.blocks.items():
            self._add_block(self._steps[label], block)
        slots = self._in_slots()
        for label, block in function.blocks.items():
            block.lines = [step.line for step in self._steps[label].all]
        function.entry.lines[:0] = map(Line.of, slots)

    # --- lines ------------------------------------------------------------------------

    def _add_block(self, steps: _Steps, block: Block) -> None:
        self._block = steps
        for line in block.lines:
            name = next((name for name in line.opaque_types if name in self.sizes), None)
            if name is not None:
                self._add_large(line, self.sizes[name])
            elif steps.end or line.opcode in TERMINATORS:
                steps.end.append(_Step(line))
            elif line.opcode == "phi":
                steps.phis.insert(sum(not one.writes for one in steps.phis), _Step(line))
            else:
                steps.others.append(_Step(line))

    def _add_large(self, line: Line, nbytes: int) -> None:
        if line.call:
            self._block.others.append(self._call(line.call))
            return
        match line.move:
            case Phi() as phi:
                self._phi(nbytes, phi)
            case Load(result, _, address):
                self._define(nbytes, result, address)
            case Store(_, value, address):
                if value not in UNDEFINED:
                    self._block.others.append(self._copy(nbytes, address, value))
            case Select() as select:
                self._select(nbytes, select)
            case Freeze(result, _, value):
                self._define(nbytes, result, self._memory_of(value))

    def _call(self, call: CallLine) -> _Step:
        """A call that gets the addresses of large operands, and that of its large result."""
        operands, reads = [], []
        for operand in call.operands:
            if operand.type in self.sizes:
                reads += [operand.value] if is_name(operand.value) else []
                operands.append(f"ptr {self._memory_of(operand.value)}")
            else:
                operands.append(str(operand))
        if call.result and call.returned in self.sizes:
            self._values[call.result] = self.sizes[call.returned]
            text = f"  call void @{call.function}({', '.join([f'ptr {call.result}', *operands])})"
            updated = call.operands[-1].value if call.function in self._updates else ""
            return _Step(Line.of(text), tuple(reads), (call.result,), updated)
        start = f"{call.result} = " if call.result else ""
        text = f"  {start}call {call.returned} @{call.function}({', '.join(operands)})"
        return _Step(Line.of(text), tuple(reads))

    def _phi(self, nbytes: int, phi: Phi) -> None:
        incoming = f"{phi.result}.in"
        self._values |= {phi.result: nbytes, incoming: nbytes}
        self._block.phis.append(self._copy(nbytes, phi.result, incoming))
        for value, label in phi.incoming:
            self._steps[label].copies.append(
                _Step(Line.of(f"  ; {incoming}: any value"), (), (incoming,)) if value in UNDEFINED
                else self._copy(nbytes, incoming, value))

    def _define(self, nbytes: int, result: str, source: str) -> None:
        self._values[result] = nbytes
        self._block.others.append(self._copy(nbytes, result, source))

    def _select(self, nbytes: int, select: Select) -> None:
        chosen = f"{select.result}.chosen"
        known = self._memory_of(select.first), self._memory_of(select.second)
        self._values[select.result] = nbytes
        self._block.others.append(_Step(Line.of(
            f"  {chosen} = select i1 {select.condition}, ptr {known[0]}, ptr {known[1]}")))
        copy = self._copy(nbytes, select.result, chosen)
        self._block.others.append(_Step(copy.line, known, copy.writes))

    def _copy(self, nbytes: int, target: str, source: str) -> _Step:
        source = self._memory_of(source) if source == "zeroinitializer" else source
        text = (f"  call void @llvm.memcpy.p0.p0.i64(ptr align 64 {target}, ptr align 64 {source}, i64 {nbytes}, "
                "i1 false)")
        return _Step(Line.of(text), (source,), (target,), source, is_copy=True)

    def _memory_of(self, value: str) -> str:
        """The address of a value; of a constant, zeros; of what is not defined, any."""
        if value in UNDEFINED:
            return "poison"
        self._has_zeros |= not is_name(value)
        return value if is_name(value) else ZEROS

    # --- memory -----------------------------------------------------------------------

    def _in_slots(self) -> list[str]:
        """Lines that reserve memory, and give each value its place there."""
        neighbours = self._neighbours()
        slots: list[int] = []  # bytes of each
        chosen: dict[str, int] = {}
        for group in self._groups(neighbours):
            taken = {chosen[other] for name in group for other in neighbours[name] if other in chosen}
            nbytes = max(self._values[name] for name in group)
            number = next((one for one in range(len(slots)) if one not in taken), len(slots))
            slots[number:number + 1] = [max([nbytes, *slots[number:number + 1]])]
            chosen |= dict.fromkeys(group, number)
        self.bytes += sum(slots)
        return [*(f"  %large.{number} = alloca [{nbytes} x i8], align 64" for number, nbytes in enumerate(slots)),
                *(f"  {name} = getelementptr i8, ptr %large.{number}, i64 0" for name, number in chosen.items())]

    def _groups(self, neighbours: Mapping[str, set[str]]) -> list[list[str]]:
        """The values in groups that share memory: what is copied, or updated in its place, with what it becomes, where
        both are not needed at once."""
        groups = {name: [name] for name in self._values}
        for steps in self._steps.values():
            for step in steps.all:
                for name in self._own(step.writes) if step.updates in self._values else ():
                    one, other = groups[name], groups[step.updates]
                    if one is not other and not any(neighbours[member] & set(other) for member in one):
                        one += other
                        groups |= dict.fromkeys(other, one)
        return list({id(group): group for group in groups.values()}.values())

    def _neighbours(self) -> dict[str, set[str]]:
        """The values that must not share each one's memory: those that are still needed where it is written, and what
        an operation makes it of."""
        found: dict[str, set[str]] = {name: set() for name in self._values}
        needed = self._needed()
        for label, steps in self._steps.items():
            live = set().union(*(needed[follower] for follower in self._next[label]))
            for step in reversed(steps.all):
                needed_too = live - {step.updates} if step.is_copy else live
                for name in self._own(step.writes):
                    found[name] |= (needed_too | self._own(step.reads) - {step.updates}) - {name}
                live = live - self._own(step.writes) | self._own(step.reads)
        for name, others in found.items():
            for other in others:
                found[other].add(name)
        return found

    def _needed(self) -> dict[str, set[str]]:
        """The values that are read in each block, or later, before they are written."""
        read: dict[str, set[str]] = {}
        written: dict[str, set[str]] = {}
        for label, steps in self._steps.items():
            read[label], written[label] = set(), set()
            for step in steps.all:
                read[label] |= self._own(step.reads) - written[label]
                written[label] |= self._own(step.writes)
        needed, changed = read, True
        while changed:
            changed = False
            for label in reversed(self._steps):
                later = set().union(*(needed[follower] for follower in self._next[label]))
                if not later - written[label] <= needed[label]:
                    needed[label] |= later - written[label]
                    changed = True
        return needed

    def _own(self, names: tuple[str, ...]) -> set[str]:
        return {name for name in names if name in self._values}
