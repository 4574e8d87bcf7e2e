"""The matrices of a driver that may be used: those of its table whose products were right.

A small product of every row is computed in a child process when the row is first of use, and the verdict is kept for
the driver, its version and the device.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coopmat.devices import Combination
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.matrix_uses import possible_formats, required_matrix_uses
from coopmat.spirv.grammar import Capability, CooperativeMatrixUse, Scope
from coopmat.spirv.module import Module
from coopmat.support.cache import find_cache, key
from coopmat.targets.base.children import Ending, answers
from coopmat.targets.base.matrix_probe import KERNEL, MatrixProbe
from coopmat.targets.vulkan.host.enumeration import FAILURE_LIFE
from coopmat.targets.vulkan.host.facts import DeviceFacts, MatrixRow

SECONDS = 60.0  # for one product, the start of the process included
RIGHT = "ok"
WRONG = "its products are wrong"
LAYOUTS = ((0, 0, 0, 0), (1, 1, 1, 1))  # by rows, by columns
USERS = frozenset({Capability.CooperativeMatrixKHR, Capability.SubgroupMatrixMultiplyAccumulateINTEL})
"""The capabilities of modules to which matrices are of use."""


@dataclass(frozen=True)
class Verdict:
    """What came of trying a row: "ok", or what is wrong with it."""

    row: MatrixRow
    text: str

    @property
    def is_right(self) -> bool:
        """Whether it may be used."""
        return self.text == RIGHT


@dataclass(frozen=True)
class Job:
    """A product for a child process to compute on the device of a number."""

    number: int
    probe: MatrixProbe
    combination: Combination
    work_items: int


class Matrices:
    """Of a device. probes: whether rows are tried out before they are used."""

    def __init__(self, number: int, facts: DeviceFacts, probes: bool) -> None:
        self.number, self.facts, self.probes = number, facts, probes
        self._known: dict[tuple[MatrixRow, int], Verdict] = {}

    @property
    def rows(self) -> list[MatrixRow]:
        """The rows of the driver's table that kernels of ours can use, each once."""
        return [row for row in dict.fromkeys(self.facts.matrices)
                if row.scope == "sub-group" and not row.saturating and row.combination() is not None]

    def usable(self, module: Module, sub_group_size: int) -> tuple[Combination, ...]:
        """The combinations that a module may be translated to."""
        if not USERS.intersection(module.capabilities):
            return ()
        rows = list(dict.fromkeys([*self.rows, *self._flexible(module)]))
        if self.probes:
            rows = [one.row for one in self.verdicts(rows, sub_group_size) if one.is_right]
        return tuple(combination for row in rows if (combination := row.combination()) is not None)

    def usable_by_work_groups(self, module: Module, work_items: int, sub_group_size: int) -> tuple[Combination, ...]:
        """Those of work-groups of so many work-items; kernels have their own sizes, of which the driver takes multiples
        of something."""
        rows = list(dict.fromkeys(self._of_work_groups(module, work_items)))
        if self.probes:
            rows = [one.row for one in self.verdicts(rows, sub_group_size) if one.is_right]
        return tuple(combination for row in rows if (combination := row.combination()) is not None)

    def _flexible(self, module: Module) -> Iterator[MatrixRow]:
        """Rows with the sizes of a module's matrices, where the driver takes multiples of something."""
        uses = required_matrix_uses(module).operations if self.facts.flexible else ()
        sizes = [(use.m, use.n, use.k) for use in uses if use.scope == Scope.Subgroup]
        for row in self._rows_of("sub-group"):
            for size in sizes:
                if self._takes(row, size):
                    yield MatrixRow(row.types, size)

    def _of_work_groups(self, module: Module, work_items: int) -> Iterator[MatrixRow]:
        """The rows for a module's products of work-groups, and for its matrices that are in none."""
        rows = [row for row in self._rows_of("work-group") if row.invocations == work_items]
        if not rows:
            return
        uses = required_matrix_uses(module)
        products = [use for use in uses.operations if use.scope == Scope.Workgroup]
        others = [kind for kind in uses.matrices
                  if kind.is_of_work_group and kind.use == CooperativeMatrixUse.MatrixAccumulatorKHR]
        for row in rows:
            sizes = [(use.m, use.n, use.k) for use in products if row.types in set(use.choices())]
            sizes += [(kind.rows, kind.columns, row.sizes[2]) for kind in others
                      if row.types[3] in possible_formats(kind)]
            for size in sizes:
                if self._takes(row, size):
                    yield replace(row, sizes=size)

    def _rows_of(self, scope: str) -> Iterator[MatrixRow]:
        return (row for row in self.facts.flexible
                if row.scope == scope and not row.saturating and row.combination() is not None)

    def _takes(self, row: MatrixRow, sizes: tuple[int, int, int]) -> bool:
        """Whether sizes are multiples of those of a flexible row."""
        most = self.facts.limits.get("cooperativeMatrixFlexibleDimensionsMaxDimension", 0)
        return all(one % step == 0 and one <= most for one, step in zip(sizes, row.sizes, strict=True))

    def verdicts(self, rows: Sequence[MatrixRow], sub_group_size: int) -> list[Verdict]:
        """What came of trying rows: what is not known yet is tried now."""
        unknown = [row for row in rows if (row, sub_group_size) not in self._known]
        for row in unknown:
            text = _kept(find_cache().get(self._key(row, sub_group_size)))
            if text is not None:
                self._known[row, sub_group_size] = Verdict(row, text)
        self._try([row for row in unknown if (row, sub_group_size) not in self._known], sub_group_size)
        return [self._known[row, sub_group_size] for row in rows]

    def _key(self, row: MatrixRow, sub_group_size: int) -> str:
        return key("verdict on a matrix of Vulkan", self.facts.identity, repr(row), str(sub_group_size))

    def _try(self, rows: Sequence[MatrixRow], sub_group_size: int) -> None:
        jobs = [self.job(row, layouts, sub_group_size) for row in rows for layouts in LAYOUTS]
        found = answers(f"{__name__}:computed", jobs, seconds=SECONDS) if jobs else []
        for place, row in enumerate(rows):
            texts = [_text(one) for one in found[place * len(LAYOUTS):(place + 1) * len(LAYOUTS)]]
            text = next((one for one in texts if one != RIGHT), RIGHT)
            self._known[row, sub_group_size] = Verdict(row, text)
            find_cache().put(self._key(row, sub_group_size), f"{time.time():.0f} {text}".encode())

    def job(self, row: MatrixRow, layouts: tuple[int, int, int, int], sub_group_size: int) -> Job:
        """The product that shows whether a row works."""
        combination = row.combination()
        assert combination is not None
        scope = Scope.Workgroup if row.scope == "work-group" else Scope.Subgroup
        probe = MatrixProbe(row.types, row.sizes, layouts, sub_group_size, scope=scope)
        return Job(self.number, probe, combination, row.invocations or sub_group_size)


class Believed(Matrices):
    """One combination, whatever the driver says."""

    def __init__(self, number: int, facts: DeviceFacts, combination: Combination) -> None:
        super().__init__(number, facts, probes=False)
        self._combination = combination

    def usable(self, module: Module, sub_group_size: int) -> tuple[Combination, ...]:
        """The combination."""
        return (self._combination,)

    def usable_by_work_groups(self, module: Module, work_items: int, sub_group_size: int) -> tuple[Combination, ...]:
        """The combination."""
        return (self._combination,)


def computed(job: Job) -> bool:
    """In a child process: compute a product; whether it is right."""
    from coopmat.targets.vulkan.host.context import context
    from coopmat.targets.vulkan.options import VulkanOptions
    from coopmat.targets.vulkan.program import VulkanProgram

    if not job.probe.is_possible:
        raise Error("there is no product to try it with")
    facts = context(job.number).facts
    program = VulkanProgram(job.probe.module(), job.number, VulkanOptions(timeout=SECONDS),
                            matrices=Believed(job.number, facts, job.combination), validates=False)
    arguments: list[Any] = list(job.probe.arguments())
    size = (job.work_items,)
    program.launch(KERNEL, size, size, arguments)
    return job.probe.is_right(arguments)


def _kept(content: bytes | None) -> str | None:
    """The verdict of an entry of the cache; None if there is none, or an error that may have passed since."""
    if content is None:
        return None
    made_at, _, text = content.decode().partition(" ")
    is_certain = text in (RIGHT, WRONG)
    return text if is_certain or 0 <= time.time() - int(made_at) < FAILURE_LIFE else None


def _text(found: bool | Ending | Exception) -> str:
    if isinstance(found, Ending):
        return f"the process that tried it {found}"
    if isinstance(found, Exception):
        return str(found)
    return RIGHT if found else WRONG
