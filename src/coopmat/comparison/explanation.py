"""Where two simulated devices part: the first instruction whose value differs, or the first store, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.comparison.differences import bits_text, value_text
from coopmat.comparison.product import Arithmetic, Product, product_of
from coopmat.comparison.steps import Apart, Event, Launch, OutOfStep, first_apart
from coopmat.comparison.stores import Target, Write, first_write_apart
from coopmat.comparison.values import element_of, first_difference
from coopmat.devices import USES
from coopmat.numerics import EXACT
from coopmat.spirv.analysis.matrix_uses import multiply_accumulate_of
from coopmat.spirv.analysis.sub_group_uses import multiply_of
from coopmat.spirv.analysis.types import MatrixType, Type
from coopmat.spirv.grammar import CHAINS, CooperativeMatrixOperands, Op
from coopmat.spirv.module import Module
from coopmat.targets.base.wording import AUTHORS_WORDS
from coopmat.targets.simulator.matrix import to_storage
from coopmat.targets.simulator.matrix_groups import matrix_in, whole
from coopmat.targets.simulator.state import Site
from coopmat.targets.simulator.sub_group_matrix import gather
from coopmat.targets.simulator.unsupported import SimulatedTypes

ASK_FOR_COMPONENTS = frozenset({
    Op.CooperativeMatrixLengthKHR, Op.CooperativeMatrixGetElementCoordINTEL, Op.CooperativeMatrixGetCoordinateEXT,
    Op.CooperativeMatrixPerElementOpEXT})
TAKE_COMPONENTS: dict[int, int] = {
    Op.CompositeExtract: 0, Op.CompositeInsert: 1, Op.VectorExtractDynamic: 0, Op.VectorInsertDynamic: 0}
"""What takes or replaces a component, and which of its operands has it."""


@dataclass(frozen=True)
class Explanation:
    """The first instruction, in the order of execution, whose value differs between two simulated devices in an active
    lane, or, where instructions do not correspond (``reason`` says why), the first store of one element of a result.

    location: ``file:line:column`` as the module has it, None if it has no lines. instruction: in the words of the
    kernel's author. execution: how often its work-groups had come there. work_group, sub_group, lane: who; element: row
    and column of a matrix, component of a vector, or the index of the element that is stored. values, bits: on each
    device. is_origin: all operands are equal, so that it is this instruction that makes the difference.
    product: of a matrix multiply-accumulate, why.
    """

    devices: tuple[str, str]
    kernel: str
    location: str | None
    instruction: str
    execution: int | None
    work_group: tuple[int, ...] | None
    sub_group: int | None
    lane: int | None
    element: tuple[int, ...] | None
    values: tuple[str, str]
    bits: tuple[str, str]
    is_origin: bool
    product: Product | None = None
    reason: str | None = None
    source_line: str | None = None

    def lines(self) -> list[str]:
        """The explanation as text."""
        what = "the first store that differs" if self.reason else "the first value that differs"
        place = f" at {self.location}" if self.location else ""
        lines = [f"{what} between {self.devices[0]} and {self.devices[1]}: {self.instruction}{place}"]
        if self.source_line is not None:
            lines.append(f"    {self.source_line.strip()}")
        lines.append(f"  in {self._where()}")
        width = max(map(len, self.devices))
        lines += [f"  {device:{width}}: {value}" + (f" (bits {bits})" if bits else "")
                  for device, value, bits in zip(self.devices, self.values, self.bits, strict=True)]
        if self.reason:
            lines.append(f"  stores were held against each other, as instructions do not correspond: {self.reason}")
            if "Matrix" in self.instruction:
                lines.append("  a comparison of each with exact:… instead of sim:… shows where its own products round")
        elif self.is_origin:
            lines.append("  all its operands are equal on both: the difference begins here")
        else:
            lines.append("  its operands differ already: the difference comes from earlier, from bits of zeros or NaNs")
        return lines + ([f"  {line}" for line in self.product.lines()] if self.product is not None else [])

    def _where(self) -> str:
        parts = [("work-group", self.work_group), ("sub-group", self.sub_group), ("lane", self.lane),
                 ("element", self.element[0] if self.element and len(self.element) == 1 else self.element)]
        words = [f"{name} {value}" for name, value in parts if value is not None]
        if self.execution is not None:
            words.append(f"execution {self.execution} of the instruction")
        return ", ".join([f"kernel {self.kernel}", *words])

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        plain = {name: getattr(self, name) for name in (
            "kernel", "location", "instruction", "execution", "sub_group", "lane", "is_origin", "reason")}
        return {"devices": list(self.devices), **plain, "values": list(self.values), "bits": list(self.bits),
                "work_group": None if self.work_group is None else list(self.work_group),
                "element": None if self.element is None else list(self.element),
                "product": None if self.product is None else self.product.as_dict()}

    def __str__(self) -> str:
        return "\n".join(self.lines())


def explain(first: Launch, second: Launch, target: Target) -> Explanation | None:
    """Why two simulated devices give other results; ``target`` is the first element in which they differ. None if
    nothing is found, as where it is written too late."""
    reason = why_not_in_step(first, second)
    if reason is None:
        layouts = _why_lanes_differ(first, second)
        try:
            apart = first_apart(first, second)
        except OutOfStep:
            reason = layouts or "the devices do not execute the same instructions"
        else:
            if apart is not None and (layouts is None or _is_whole_matrix(apart.place.kind)):
                return _of_instruction(first, second, apart)
            reason = layouts or "no instruction of the one gives another value on the other"
    writes = first_write_apart(first, second, target)
    return None if writes is None else _of_store(first, second, target, writes, reason)


# --------------------------------------------------------------------------------------
# Whether instructions correspond
# --------------------------------------------------------------------------------------


def why_not_in_step(first: Launch, second: Launch) -> str | None:
    """Why the instructions of two launches do not correspond one to one; None if they may."""
    one, other = first.program.module, second.program.module
    if one is not other and one.to_bytes() != other.to_bytes():
        return "the kernel was compiled to other instructions for each device"
    if first.sub_group_size != second.sub_group_size:
        return f"the sub-groups have {first.sub_group_size} and {second.sub_group_size} work-items"
    if (first.global_size, first.local_size) != (second.global_size, second.local_size):
        return f"the work-groups have {first.local_size} and {second.local_size} work-items"
    return None


def _why_lanes_differ(first: Launch, second: Launch) -> str | None:
    """Why what a lane takes from a matrix may be another element on each device; None if it is the same one."""
    if _uses_components(first.program.module) and _layouts(first) != _layouts(second):
        return "the kernel takes components of matrices, and lanes hold other elements on each device"
    return None


def _is_whole_matrix(kind: Type) -> bool:
    """Whether a value is held as rows and columns, whatever lanes hold of it."""
    return isinstance(kind, MatrixType) and not kind.is_of_work_group


def _uses_components(module: Module) -> bool:
    """Whether a kernel looks into matrices lane by lane; chains into variables that hold matrices are taken for it."""
    matrices = {row.result_id for row in module.of_opcode(Op.TypeCooperativeMatrixKHR)}
    if not matrices:
        return False
    types = SimulatedTypes(module, 1)
    for row in module.instructions:
        if row.opcode in ASK_FOR_COMPONENTS:
            return True
        if row.opcode in TAKE_COMPONENTS:
            composite = module.definition(row.words[TAKE_COMPONENTS[row.opcode]]).type_id
            if composite is not None and matrix_in(types[composite]) is not None:
                return True
        if row.opcode in CHAINS:
            base = module.definition(row.words[0]).type_id
            if base is not None and matrix_in(types.pointee(types[base])) is not None:
                return True
    return False


def _layouts(launch: Launch) -> list[Any]:
    """Which element each component of each lane holds, for all matrix types of the module."""
    module = launch.program.module
    types = SimulatedTypes(module, launch.sub_group_size, launch.program.description.name,
                           work_group_items=int(np.prod(launch.local_size)))
    found = []
    for row in module.of_opcode(Op.TypeCooperativeMatrixKHR):
        kind = types[row.result_id or 0]
        assert isinstance(kind, MatrixType)
        found.append([part.tolist() for part in kind.layout.held])
    return found


# --------------------------------------------------------------------------------------
# An instruction
# --------------------------------------------------------------------------------------


def words_of(site: Site, is_of_matrix: bool) -> str:
    """An instruction in the words of the kernel's author: those for matrices, or for numbers."""
    if is_of_matrix:
        return site.in_words
    opcode = Op.__members__.get(site.instruction.removeprefix("Op"))
    words = AUTHORS_WORDS.get(opcode, "").removeprefix("matrix ") if opcode is not None else ""
    return f"{words} ({site.instruction})" if words.startswith("'") else site.instruction


def _of_instruction(first: Launch, second: Launch, apart: Apart) -> Explanation:
    one, other = apart.events
    place, batch, site = apart.place, one.frame.batch, one.watched.site
    lane, element = element_of(batch, place)
    values = place.number_in(one.value), place.number_in(other.value)
    product = _product(first, second, apart)
    if _is_whole_matrix(place.kind):
        lane = None  # an element is the sub-group's
    takes_matrices = any(isinstance(kind, MatrixType) for _, kind in one.watched.operands)
    return Explanation(
        (first.label, second.label), first.kernel, site.location,
        words_of(site, takes_matrices or isinstance(place.kind, MatrixType)), one.times,
        batch.work_group(place.sub_group), place.sub_group % batch.sub_groups_per_group, lane, element,
        (value_text(values[0]), value_text(values[1])), (bits_text(values[0]), bits_text(values[1])),
        _has_equal_operands(one, other), product)


def _has_equal_operands(one: Event, other: Event) -> bool:
    """Whether active lanes have operands that are equal, to the bit but for NaNs."""
    return all(first_difference(kind, left, right, one.mask) is None
               for (_, kind), left, right in zip(one.watched.operands, one.operands, other.operands, strict=True))


def _product(first: Launch, second: Launch, apart: Apart) -> Product | None:
    """Why a multiply-accumulate differs; None for other instructions."""
    taken = _OPERANDS.get(apart.events[0].watched.row.opcode)
    return None if taken is None else taken((first, second), apart)


def _arithmetic(launch: Launch) -> Arithmetic:
    options = launch.program.options
    return Arithmetic(EXACT if options.numerics == "exact" else launch.program.description.name, options.xmx)


def _cooperative(launches: tuple[Launch, Launch], apart: Apart) -> Product | None:
    event, place = apart.events[0], apart.place
    row, compiler = event.watched.row, event.watched.compiler
    kinds = [compiler.type_of(word) for word in row.words[:3]]
    result = event.watched.kind
    assert isinstance(result, MatrixType)
    a, b, c = (kind for kind in kinds if isinstance(kind, MatrixType))
    use = multiply_accumulate_of(a, b, c, result, CooperativeMatrixOperands(
        row.words[3] if len(row.words) > 3 else 0), row)
    batch = event.frame.batch
    _, element = element_of(batch, place)
    assert element is not None
    matrix = place.sub_group // (batch.sub_groups_per_group if result.is_of_work_group else 1)

    def matrices() -> Any:
        values = [whole(event.frame, kind, value) for kind, value in zip((a, b, c), event.operands, strict=False)]
        return tuple(to_storage(value[min(matrix, len(value) - 1)], name)
                     for value, name in zip(values, use.formats, strict=False))

    return product_of((launches[0].label, launches[1].label), (_arithmetic(launches[0]), _arithmetic(launches[1])),
                      use.formats, matrices, (element[0], element[1]))


def _of_sub_group(launches: tuple[Launch, Launch], apart: Apart) -> Product | None:
    event, place = apart.events[0], apart.place
    instruction, compiler = event.watched.row, event.watched.compiler
    use = multiply_of(compiler.module, compiler.types, instruction)
    row = use.row_for(compiler.types.sub_group_size)
    if row is None:
        return None
    known = row
    layouts = [known.layout(one, use.result.count) for one in USES]
    lane, *component = place.index
    places = layouts[2].of_elements
    here = (places.lane == lane) & (places.register == (component[0] if component else 0))
    i, j = (int(axis[0]) for axis in np.nonzero(here))

    def matrices() -> Any:
        values = dict(zip((identifier for identifier, _ in event.watched.operands), event.operands, strict=True))
        names = known.a, known.b, known.accumulator
        found = [gather(values[word], layout, name) for word, layout, name in
                 zip(instruction.words[1:4], layouts, names, strict=True)]
        return tuple(value[min(place.sub_group, len(value) - 1)] for value in found)

    formats = known.a, known.b, known.accumulator, known.accumulator
    return product_of((launches[0].label, launches[1].label), (_arithmetic(launches[0]), _arithmetic(launches[1])),
                      formats, matrices, (i, j))


_OPERANDS: dict[int, Callable[[tuple[Launch, Launch], Apart], Product | None]] = {
    Op.CooperativeMatrixMulAddKHR: _cooperative,
    Op.SubgroupMatrixMultiplyAccumulateINTEL: _of_sub_group,
}
"""What explains an instruction's product."""


# --------------------------------------------------------------------------------------
# A store
# --------------------------------------------------------------------------------------


def _of_store(first: Launch, second: Launch, target: Target, writes: tuple[Write | None, Write | None],
              reason: str) -> Explanation:
    known = next(one for one in writes if one is not None)
    values = tuple(None if one is None else one.content.view(target.dtype)[0] for one in writes)
    return Explanation(
        (first.label, second.label), first.kernel, known.site.location, words_of(known.site, known.is_of_matrix), None,
        known.work_group, known.sub_group, known.lane, target.index,
        _texts(values, value_text, "not written any more"), _texts(values, bits_text, ""), False, None, reason)


def _texts(values: Sequence[Any], text: Any, nothing: str) -> tuple[str, str]:
    one, other = (nothing if value is None else text(value) for value in values)
    return one, other
