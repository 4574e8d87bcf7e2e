"""Control flow of a sub-group that is a vector: masks where its work-items part, branches where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.control_flow import RETURNED
from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.lanes.masks import Assumptions, Variant
from coopmat.targets.cpu.lanes.rounds import for_all
from coopmat.targets.cpu.lanes.slots import Slots
from coopmat.targets.cpu.regions import lay_out
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Matrix, Number, literal

Edge = tuple[int, str | None]  # a label, and the work-items that go there; None: all that are here


class Blocks(Slots):
    """Begins and leaves blocks."""

    def __init__(self, emitter: Emitter, variant: Variant, known: Assumptions) -> None:
        super().__init__(emitter, variant, known)
        self.layout = lay_out(emitter.flat.flow, known.divergent)
        self._masks: dict[int, str] = {}  # of the partial blocks: slots

    @property
    def order(self) -> Sequence[int]:
        """The blocks and latches in the order of the code."""
        return self.layout.order

    def dominates(self, defining: int, using: int) -> bool:
        """Whether the code of one block always runs before that of another, so that its values are there."""
        return self.layout.dominates(defining, using)

    # --- entering ---------------------------------------------------------------------

    def begin(self) -> None:
        """Reserve the masks, and go to the first block."""
        for number in self.layout.partial:
            self._masks[number] = self.writer.slot(self.mask_type, initial="zeroinitializer")
        self.writer.do(f"br label %{self._entry(self.layout.order[0])}")

    def enter(self, block: int) -> None:
        """Begin a block; a partial one is skipped if nobody wants it."""
        writer = self.writer
        if block not in self.layout.partial:
            writer.label(f"b{block}")
            self.mask = self.whole_mask
            return
        writer.label(f"c{block}")
        mask = writer.let(f"load {self.mask_type}, ptr {self._masks[block]}")
        following = self._entry(self.layout.following[block])
        writer.do(f"br i1 {self.any_of(mask)}, label %b{block}, label %{following}")
        writer.label(f"b{block}")
        writer.do(f"store {self.mask_type} zeroinitializer, ptr {self._masks[block]}")
        self.mask = mask

    def finish(self) -> None:
        """The code leaves through the label ``done``."""
        self.mask = None
        self.writer.label("done")

    def _entry(self, block: int) -> str:
        """The label by which control comes to a block."""
        if block == RETURNED:
            return "done"
        return f"c{block}" if block in self.layout.partial else f"b{block}"

    # --- branches ---------------------------------------------------------------------

    def jump(self, label: int) -> None:
        """Go to a block, by its id."""
        self._leave([(label, None)])

    def end(self) -> None:
        """Return from the kernel."""
        self._leave([])

    def branch(self, condition: Number, then: int, otherwise: int) -> None:
        """Go to one of two blocks."""
        rest = self._rest()
        if rest is not None:
            condition = for_all(self, condition, negated=rest == then)
        targets = self._targets((then, otherwise))
        if len(targets) == 1:
            self._leave([(targets[0], None)])
        elif self._is_taken_by_all(condition):
            names = [self.writer.fresh("edge")[1:] for _ in targets]
            self.writer.do(f"br i1 {condition.base}, label %{names[0]}, label %{names[1]}")
            self._leave_from(dict(zip(targets, names, strict=True)))
        else:
            self.known.diverges(self.emitter.block)
            lanes = self.emitter.lanes(condition)
            self._leave([(then, lanes), (otherwise, self._not(lanes))])

    def switch(self, value: Number, default: int, cases: Mapping[int, int]) -> None:
        """Go to the block of the case that a value is, or to the default one."""
        targets = self._targets((default, *cases.values()))
        if default not in targets:
            default = targets[0]
        literals: dict[int, list[int]] = {}
        for found, label in cases.items():
            if label in targets and label != default:
                literals.setdefault(label, []).append(found)
        if not literals:
            self._leave([(default, None)])
        elif self._is_taken_by_all(value):
            names = {label: self.writer.fresh("edge")[1:] for label in (default, *literals)}
            table = " ".join(f"{value.type} {literal(value.type, found)}, label %{names[label]}"
                             for label, several in literals.items() for found in several)
            self.writer.do(f"switch {value.type} {value.base}, label %{names[default]} [ {table} ]")
            self._leave_from(names)
        else:
            self.known.diverges(self.emitter.block)
            self._leave(self._split(value, default, literals))

    def _split(self, value: Number, default: int, literals: Mapping[int, Sequence[int]]) -> list[Edge]:
        """The edges of a switch whose selector differs among the work-items."""
        emitter = self.emitter
        edges: list[Edge] = []
        others = "splat (i1 true)"
        for label, several in literals.items():
            chosen = "zeroinitializer"
            for found in several:
                equal = emitter.lanes(emitter.apply("icmp eq {t} {0}, {1}", "i1", value,
                                                    emitter.constant(value.type, found)))
                chosen = self.writer.let(f"or {self.mask_type} {chosen}, {equal}")
            edges.append((label, chosen))
            others = self._and(others, self._not(chosen))
        return [*edges, (default, others)]

    def _rest(self) -> int | None:
        """Of the head of a loop for all work-items (rounds.py) the block to which all go when one leaves it."""
        number, flat = self.emitter.block, self.emitter.flat
        return flat.full_rounds.get(flat.blocks[number].label)

    def _is_taken_by_all(self, condition: Number) -> bool:
        """Whether all work-items branch alike, and none of them waits elsewhere."""
        return condition.is_single and self.emitter.block not in self.layout.partial

    def _targets(self, labels: Iterable[int]) -> list[int]:
        """The blocks that a branch may go to, each once; not those that lead nowhere else than to OpUnreachable."""
        successors = self.layout.successors[self.emitter.block]
        return [label for label in dict.fromkeys(labels)
                if label not in self.emitter.block_numbers or self._way(label) in successors]

    def _way(self, label: int) -> int:
        """Where work-items go first that are sent to a label: to its block, or to the latch before it."""
        return self.layout.flow.way(self.emitter.block, self.emitter.block_numbers[label])

    def _not(self, mask: str) -> str:
        return self.writer.let(f"xor {self.mask_type} {mask}, splat (i1 true)")

    def _and(self, a: str, b: str) -> str:
        return self.writer.let(f"and {self.mask_type} {a}, {b}")

    # --- leaving ----------------------------------------------------------------------

    def _leave_from(self, names: Mapping[int, str]) -> None:
        """Send all work-items to one of several blocks, each from a label of its own."""
        for label, name in names.items():
            self.writer.label(name)
            self._leave([(label, None)])

    def _leave(self, edges: Sequence[Edge]) -> None:
        """Send the work-items that are here to other blocks: to each those for which its condition holds."""
        self._go_on([self._send(label, condition) for label, condition in edges])

    def leave_latch(self) -> None:
        """Send the work-items of an added latch to the head of its loop, whose phis have their values already."""
        (head,) = self.layout.successors[self.emitter.block]
        self._wait_at(head, self.mask)
        self._go_on([head])

    def _send(self, label: int, condition: str | None) -> int:
        """Give a block its phis, and let the work-items wait on the way to it; where that is."""
        emitter = self.emitter
        if label not in emitter.block_numbers:
            raise ValidationError("branch-target", f"%{label} is no block of this function",
                                  emitter.row.offset if emitter.row is not None else None)
        mask = self.mask
        if condition is not None:
            mask = condition if mask is None else self._and(mask, condition)
        is_split = emitter.block in self.layout.partial or condition is not None
        self._take_phis(emitter.block_numbers[label], mask if is_split else self.whole_mask)
        target = self._way(label)
        self._wait_at(target, mask)
        return target

    def _wait_at(self, target: int, mask: str | None) -> None:
        """Add work-items to the mask of a block, if it has one."""
        if target in self.layout.partial:
            old = self.writer.let(f"load {self.mask_type}, ptr {self._masks[target]}")
            new = self.writer.let(f"or {self.mask_type} {old}, {mask or 'splat (i1 true)'}")
            self.writer.do(f"store {self.mask_type} {new}, ptr {self._masks[target]}")

    def _go_on(self, targets: Sequence[int]) -> None:
        """From a block whose work-items were sent to these."""
        block, layout = self.emitter.block, self.layout
        if block in layout.partial:
            self._go_on_in_row(targets)
            return
        target = layout.first_of(block, targets) if targets else RETURNED
        if target != RETURNED and layout.place[target] <= layout.place[block]:
            self.leave_if_stopped()
        self.writer.do(f"br label %{self._entry(target)}")

    def _go_on_in_row(self, targets: Sequence[int]) -> None:
        """From a partial block: backwards if work-items went there, else to the next block of the row."""
        block, writer, layout = self.emitter.block, self.writer, self.layout
        backward = set(targets) & set(layout.backward(block))
        if backward:
            self.leave_if_stopped()
        for target in sorted(backward, key=layout.place.__getitem__):
            mask = writer.let(f"load {self.mask_type}, ptr {self._masks[target]}")
            name = writer.fresh("on")[1:]
            writer.do(f"br i1 {self.any_of(mask)}, label %{self._entry(target)}, label %{name}")
            writer.label(name)
        writer.do(f"br label %{self._entry(layout.following[block])}")

    def leave_if_stopped(self) -> None:
        """Before a jump backwards, where accesses are checked: end if the launch shall."""
        if not self.variant.bounds:
            return
        address = self.writer.let(f"getelementptr i64, ptr %launch, i64 {int(Field.STOP)}")
        stop = self.writer.let(f"load atomic i64, ptr {address} monotonic, align 8")
        on = self.writer.fresh("on")[1:]
        self.writer.do(f"br i1 {self.writer.let(f'icmp eq i64 {stop}, 0')}, label %{on}, label %done")
        self.writer.label(on)

    def _take_phis(self, target: int, mask: str | None) -> None:
        """Give the phis of a block their values from this one: all values are read before one is written."""
        for identifier, value in self.emitter.phi_values(target):
            for place, leaf in enumerate(value):
                key = (("value", identifier), place)
                if isinstance(leaf, Matrix):
                    self.emitter.matrices.store_slot(key, leaf)
                else:
                    self.keep(key, leaf, mask if self.is_part(mask) else None)
