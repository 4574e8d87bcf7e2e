"""The control flow of a thread: branches are branches, and the hardware brings threads together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.dominators import immediate_dominators
from coopmat.support.cached import cached_property
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Number, literal


class Blocks:
    """Writes the blocks of a kernel."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter, self.writer = emitter, emitter.writer
        self.flow = emitter.flat.flow

    @property
    def order(self) -> Sequence[int]:
        """The blocks in the order of the code."""
        return self.flow.order

    @cached_property
    def _dominators(self) -> Mapping[int, int]:
        sources: dict[int, list[int]] = {block: [] for block in self.flow.order}
        for block in self.flow.order:
            for target in self.flow.successors[block]:
                sources[target].append(block)
        return immediate_dominators(self.flow.order[0], self.flow.successors.__getitem__, sources.__getitem__)

    def dominates(self, defining: int, using: int) -> bool:
        """Whether the code of one block always runs before that of another."""
        while using != defining:
            above = self._dominators[using]
            if above == using:
                return False
            using = above
        return True

    @cached_property
    def common(self) -> frozenset[int]:
        """The blocks that every work-item comes to just once: those that all ways through the kernel lead to, outside
        of loops."""
        found, block = set(), self.flow.order[0]
        while block < len(self.flow.successors):
            found.add(block)
            block = self.flow.meetings[block]
            if block < 0:
                break
        return frozenset(found - {member for loop in self.flow.loops for member in (loop.head, *loop.members)})

    def begin(self) -> None:
        """Write what comes before the first block."""
        self.writer.do(f"br label %b{self.flow.order[0]}")

    def enter(self, block: int) -> None:
        """Begin a block."""
        self.writer.label(f"b{block}")

    def leave_latch(self) -> None:
        """From an added latch to the head of its loop."""
        [head] = self.flow.successors[self.emitter.block]
        self.writer.do(f"br label %b{head}")

    def finish(self) -> None:
        """Behind the last block: where the kernel returns."""
        self.writer.label("done")

    def end(self) -> None:
        """Return from the kernel."""
        self.writer.do("br label %done")

    def jump(self, label: int) -> None:
        """Go to a block, by its id."""
        target = self._number_of(label)
        for identifier, value in self.emitter.phi_values(target):
            self.emitter.store_slots(("value", identifier), value)
        self.writer.do(f"br label %b{self.flow.way(self.emitter.block, target)}")

    def branch(self, condition: Number, then: int, otherwise: int) -> None:
        """Go to one of two blocks."""
        targets = self._possible((then, otherwise))
        if len(targets) == 1:
            self.jump(targets[0])
            return
        names = [self.writer.fresh("edge")[1:] for _ in targets]
        self.writer.do(f"br i1 {condition.base}, label %{names[0]}, label %{names[1]}")
        self._edges(dict(zip(targets, names, strict=True)))

    def switch(self, value: Number, default: int, cases: Mapping[int, int]) -> None:
        """Go to the block of the case (literal → block) that a value is, or to the default one."""
        targets = self._possible((default, *cases.values()))
        default = default if default in targets else targets[0]
        names = {label: self.writer.fresh("edge")[1:] for label in targets}
        table = " ".join(f"{value.type} {literal(value.type, found)}, label %{names[label]}"
                         for found, label in cases.items() if label in targets)
        self.writer.do(f"switch {value.type} {value.base}, label %{names[default]} [ {table} ]")
        self._edges(names)

    def _possible(self, labels: Sequence[int]) -> list[int]:
        """Those that are not known to lead nowhere."""
        successors = self.flow.successors[self.emitter.block]
        return [label for label in dict.fromkeys(labels)
                if self.flow.way(self.emitter.block, self._number_of(label)) in successors]

    def _number_of(self, label: int) -> int:
        """The number of a block. ValidationError for what is none."""
        if label not in self.emitter.block_numbers:
            row = self.emitter.row
            raise ValidationError("branch-target", f"%{label} is no block of this function",
                                  None if row is None else row.offset)
        return self.emitter.block_numbers[label]

    def _edges(self, names: Mapping[int, str]) -> None:
        for label, name in names.items():
            self.writer.label(name)
            self.jump(label)
