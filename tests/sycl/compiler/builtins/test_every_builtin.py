"""Everything that a Python kernel can call, with each type and each value of an enumerator: what the compiler makes of
it is valid, and the simulator and the CPU run it with the same results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import enumerations
from tests.kit import every_builtin
from tests.kit.sycl.builtin_calls import NUMBERS, SIZE, WORK_ITEMS, Probe, every_call
from tests.kit.sycl.refused import loaded

SLOT = WORK_ITEMS // 16 * SIZE * SIZE
"""Elements that a result has room for: a matrix of each sub-group."""
PARTS, EVERY = 2, 3  # the short form takes one in EVERY of the functions
DTYPES = {str(type_): type_.dtype for type_ in NUMBERS}


def kernel(probes: Sequence[Probe]) -> tuple[str, list[tuple[Probe, str, int]], dict[str, int]]:
    """A file with a kernel that makes the calls; where their results begin, and how many there are of each type."""
    lines, places, counts = [], [], dict.fromkeys(DTYPES, 0)
    for number, probe in enumerate(probes):
        pointers = []
        for type_ in probe.results:
            places.append((probe, type_, counts[type_] * SLOT))
            pointers.append(f"(o_{type_} + {counts[type_] * SLOT})")
            counts[type_] += 1
        lines += [f"    {line.format(*pointers, n=number)}\n" for line in probe.lines]
    parameters = "".join(f", i_{name}: ptr[{name}], o_{name}: ptr[{name}]" for name in DTYPES)
    return ("import dataclasses\nimport math\nimport numpy as np\nimport coopmat.sycl as sycl\n"
            "from coopmat.sycl import *\nfrom tests.kit.sycl.builtin_calls import Pair\n"
            f"@kernel(sub_group_size=16)\ndef k(item: nd_item[1]{parameters}):\n"
            "    lane = int32(item.get_local_id(0))\n    g = item.get_group()\n    sg = item.get_sub_group()\n"
            f"{''.join(lines)}", places, counts)


def outcomes(probes: Sequence[Probe]) -> Iterator[str]:
    """What is wrong with the calls of one kernel."""
    source, places, counts = kernel(probes)
    program = cm.build(loaded(source)[1]["k"])
    yield from (str(violation) for violation in program.module.validate())
    outputs = []
    for name, options in every_builtin.TARGETS.items():
        rng = np.random.default_rng(20)
        written = {type_: np.zeros(max(1, counts[type_]) * SLOT, dtype) for type_, dtype in DTYPES.items()}
        arrays = [array for type_, dtype in DTYPES.items()
                  for array in (every_builtin.random_values(dtype, 2 * SLOT, rng), written[type_])]
        queue = cm.Queue(cm.device(name, options=options))
        queue.enqueue(program.kernel("k"), (WORK_ITEMS,), (WORK_ITEMS,), *arrays).wait()
        outputs.append(written)
    for probe, type_, start in places:
        simulated, compiled = (written[type_][start:start + SLOT] for written in outputs)
        if not every_builtin.agree(simulated, compiled):
            yield f"{probe.shown}: simulator {simulated[:8]}, CPU {compiled[:8]}"


def check(probes: Sequence[Probe]) -> None:
    """Run calls."""
    wrong = every_builtin.failures(probes, outcomes)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", range(PARTS))
def test_valid_and_the_same_on_both_targets(part: int) -> None:
    check(every_call(complete=False)[::EVERY][part::PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8 * PARTS))
def test_all_combinations(part: int) -> None:
    check(every_call(complete=True)[part::8 * PARTS])


def test_every_value_is_used() -> None:
    text = " ".join(probe.shown for probe in every_call(complete=False))
    used = (enumerations.memory_order, enumerations.memory_scope, enumerations.fence_space, enumerations.cache_mode,
            enumerations.cache_level, enumerations.use, enumerations.decorated)
    members = {str(member) for enumeration in used for member in enumeration}
    members |= {f"layout.{member.name}" for member in enumerations.layout if member is not enumerations.layout.dynamic}
    assert {member for member in members if member not in text} == set()
