"""Branches: where the work-items of a sub-group go from the end of a block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.control_flow import RETURNED, switch_cases
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.values import Number, literal

Edge = tuple[int, str | None]  # a label, and the work-items that go there; None: all that are here


def _branch(emitter: Emitter, row: Instruction) -> None:
    _leave(emitter, [(row.words[0], None)])


def _return(emitter: Emitter, row: Instruction) -> None:
    _leave(emitter, [])


def _branch_conditional(emitter: Emitter, row: Instruction) -> None:
    condition = emitter.number(row.words[0])
    then, otherwise = row.words[1:3]
    targets = _targets(emitter, (then, otherwise))
    if len(targets) == 1:
        _leave(emitter, [(targets[0], None)])
    elif _is_joint(emitter, condition):
        names = [emitter.writer.fresh("edge")[1:] for _ in targets]
        emitter.writer.do(f"br i1 {condition.base}, label %{names[0]}, label %{names[1]}")
        _leave_from(emitter, dict(zip(targets, names, strict=True)))
    else:
        emitter.known.diverges(emitter.block)
        lanes = emitter.lanes(condition)
        _leave(emitter, [(then, lanes), (otherwise, _not(emitter, lanes))])


def _switch(emitter: Emitter, row: Instruction) -> None:
    value = emitter.number(row.words[0])
    default, cases = switch_cases(row, emitter.type_of(row.words[0]).size)
    targets = _targets(emitter, (default, *cases.values()))
    if default not in targets:
        default = targets[0]
    literals: dict[int, list[int]] = {}
    for found, label in cases.items():
        if label in targets and label != default:
            literals.setdefault(label, []).append(found)
    if not literals:
        _leave(emitter, [(default, None)])
    elif _is_joint(emitter, value):
        names = {label: emitter.writer.fresh("edge")[1:] for label in (default, *literals)}
        table = " ".join(f"{value.type} {literal(value.type, found)}, label %{names[label]}"
                         for label, several in literals.items() for found in several)
        emitter.writer.do(f"switch {value.type} {value.base}, label %{names[default]} [ {table} ]")
        _leave_from(emitter, names)
    else:
        emitter.known.diverges(emitter.block)
        _leave(emitter, _split(emitter, value, default, literals))


def _split(emitter: Emitter, value: Number, default: int, literals: Mapping[int, Sequence[int]]) -> list[Edge]:
    """The edges of a switch whose selector differs among the work-items."""
    edges: list[Edge] = []
    others = "splat (i1 true)"
    for label, several in literals.items():
        chosen = "zeroinitializer"
        for found in several:
            equal = emitter.lanes(emitter.apply("icmp eq {t} {0}, {1}", "i1", value,
                                                emitter.constant(value.type, found)))
            chosen = emitter.writer.let(f"or {emitter.mask_type} {chosen}, {equal}")
        edges.append((label, chosen))
        others = _and(emitter, others, _not(emitter, chosen))
    return [*edges, (default, others)]


def _is_joint(emitter: Emitter, condition: Number) -> bool:
    """Whether all work-items branch alike, and none of them waits elsewhere."""
    return condition.is_uniform and emitter.block not in emitter.layout.partial


def _targets(emitter: Emitter, labels: Iterable[int]) -> list[int]:
    """The blocks that a branch may go to, each once; not those that lead nowhere else than to OpUnreachable."""
    successors = emitter.layout.successors[emitter.block]
    return [label for label in dict.fromkeys(labels)
            if label not in emitter.block_numbers or _way(emitter, label) in successors]


def _way(emitter: Emitter, label: int) -> int:
    """Where work-items go first that are sent to a label: to its block, or to the latch before it."""
    return emitter.layout.flow.way(emitter.block, emitter.block_numbers[label])


def _not(emitter: Emitter, mask: str) -> str:
    return emitter.writer.let(f"xor {emitter.mask_type} {mask}, splat (i1 true)")


def _and(emitter: Emitter, a: str, b: str) -> str:
    return emitter.writer.let(f"and {emitter.mask_type} {a}, {b}")


# --------------------------------------------------------------------------------------
# Leaving a block
# --------------------------------------------------------------------------------------


def _leave_from(emitter: Emitter, names: Mapping[int, str]) -> None:
    """Send all work-items to one of several blocks, each from a label of its own."""
    for label, name in names.items():
        emitter.writer.label(name)
        _leave(emitter, [(label, None)])


def _leave(emitter: Emitter, edges: Sequence[Edge]) -> None:
    """Send the work-items that are here to other blocks: to each those for which its condition holds."""
    _go_on(emitter, [_send(emitter, label, condition) for label, condition in edges])


def leave_latch(emitter: Emitter) -> None:
    """Send the work-items of an added latch to the head of its loop, whose phis have their values already."""
    (head,) = emitter.layout.successors[emitter.block]
    _wait_at(emitter, head, emitter.mask)
    _go_on(emitter, [head])


def _send(emitter: Emitter, label: int, condition: str | None) -> int:
    """Give a block its phis, and let the work-items wait on the way to it; where that is."""
    if label not in emitter.block_numbers:
        raise ValidationError("branch-target", f"%{label} is no block of this function",
                              emitter.row.offset if emitter.row is not None else None)
    mask = emitter.mask
    if condition is not None:
        mask = condition if mask is None else _and(emitter, mask, condition)
    is_split = emitter.block in emitter.layout.partial or condition is not None
    _take_phis(emitter, emitter.block_numbers[label], mask if is_split else emitter.whole_mask)
    target = _way(emitter, label)
    _wait_at(emitter, target, mask)
    return target


def _wait_at(emitter: Emitter, target: int, mask: str | None) -> None:
    """Add work-items to the mask of a block, if it has one."""
    if target in emitter.layout.partial:
        old = emitter.writer.let(f"load {emitter.mask_type}, ptr {emitter.masks[target]}")
        new = emitter.writer.let(f"or {emitter.mask_type} {old}, {mask or 'splat (i1 true)'}")
        emitter.writer.do(f"store {emitter.mask_type} {new}, ptr {emitter.masks[target]}")


def _go_on(emitter: Emitter, targets: Sequence[int]) -> None:
    """From a block whose work-items were sent to these."""
    if emitter.block in emitter.layout.partial:
        _go_on_in_row(emitter, targets)
        return
    layout = emitter.layout
    target = layout.first_of(emitter.block, targets) if targets else RETURNED
    if target != RETURNED and layout.place[target] <= layout.place[emitter.block]:
        _jump_backwards(emitter)
    emitter.writer.do(f"br label %{emitter.entry(target)}")


def _go_on_in_row(emitter: Emitter, targets: Sequence[int]) -> None:
    """From a partial block: backwards if work-items went there, else to the next block of the row."""
    writer, layout = emitter.writer, emitter.layout
    backward = set(targets) & set(layout.backward(emitter.block))
    if backward:
        _jump_backwards(emitter)
    for target in sorted(backward, key=layout.place.__getitem__):
        mask = writer.let(f"load {emitter.mask_type}, ptr {emitter.masks[target]}")
        name = writer.fresh("on")[1:]
        writer.do(f"br i1 {emitter.any_of(mask)}, label %{emitter.entry(target)}, label %{name}")
        writer.label(name)
    writer.do(f"br label %{emitter.entry(layout.following[emitter.block])}")


def _jump_backwards(emitter: Emitter) -> None:
    """Where accesses are checked, loops end when the launch shall."""
    if "bounds" in emitter.extra:
        emitter.extra["bounds"].leave_if_stopped()


def _take_phis(emitter: Emitter, target: int, mask: str | None) -> None:
    """Give the phis of a block their values from this one: all values are read before one is written."""
    label = emitter.flat.blocks[emitter.block].label
    found = []
    for row in emitter.flat.blocks[target].instructions:
        if row.opcode == Op.Phi:
            sources = dict(zip(row.words[1::2], row.words[::2], strict=True))
            if label not in sources:
                raise ValidationError("phi-parents", f"OpPhi %{row.result_id} has no value for its predecessor "
                                      f"%{label}", row.offset)
            found.append((row.result_id, emitter.value(sources[label])))
    for identifier, value in found:
        is_split = mask is not None and mask != emitter.whole_mask
        emitter.store_slots(("value", identifier), value, mask if is_split else None)


OPERATIONS: dict[int, Handler] = {
    Op.Branch: _branch,
    Op.BranchConditional: _branch_conditional,
    Op.Return: _return,
    Op.Switch: _switch,
    Op.Unreachable: _return,
}
