"""Every built-in function, with every value of its flags and enumerators: what the front end makes of it is valid, and
the simulator and the CPU run it with the same results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from tests.kit import every_builtin
from tests.kit.opencl.builtin_calls import ENUMERATED, FENCES, PLACED, WORK_ITEMS, Probe, every_call

DTYPES: dict[str, np.dtype] = {
    name: np.dtype(type_) for name, type_ in {
        "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
        "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32,
        "double": np.float64, "__bf16": ml_dtypes.bfloat16}.items()}
REGION, STEP = 1 << 13, 256
"""Bytes of random values of one scalar type, and from one index of them to the next."""
PARTS, EVERY = 3, 3  # the short form takes one in EVERY of the functions


def prelude() -> str:
    """What the statements of calls use."""
    regions = "".join(f"#define AT_{name}{count} {number * REGION}\n" for number, name in enumerate(DTYPES)
                      for count in ("", 2, 3, 4, 8, 16))
    numbers = ", ".join(str(0x0102030405060708 * (index % 13)) for index in range(512))
    overloadable = "__attribute__((overloadable))"
    placed = "".join(f"{overloadable} {name} {PLACED}(uint row, uint column, {name} x, int step, {name} y) "
                     f"{{ return x + y * step - row * 16 - column; }}\n" for name in DTYPES)
    return f"{regions}#define IN(T, index) (((global const T *)(in + AT_##T + (index) * {STEP}))[id])\n" \
           f"constant ulong numbers[] = {{ {numbers} }};\n{placed}"


def random_values() -> np.ndarray:
    """The values that ``IN`` reads."""
    rng = np.random.default_rng(20)
    parts = [every_builtin.random_values(dtype, REGION // dtype.itemsize, rng) for dtype in DTYPES.values()]
    return aligned(np.concatenate([part.view(np.uint8) for part in parts]))


def aligned(octets: np.ndarray) -> np.ndarray:
    """The same on a cache line's boundary, as 2D blocks want their surfaces."""
    space = np.zeros(octets.size + 64, np.uint8)
    found = space[-space.ctypes.data % 64:][:octets.size]
    found[:] = octets
    return found


@dataclass(frozen=True)
class Result:
    """Where a call leaves one of its results."""

    probe: Probe
    type: str
    offset: int
    count: int

    @property
    def size(self) -> int:
        """In bytes, of all work-items."""
        element, count = split(self.type)
        return WORK_ITEMS * self.count * element.itemsize * (4 if count == 3 else count)

    def values(self, out: np.ndarray) -> np.ndarray:
        """What is there; the fourth component of a vector of three is nobody's."""
        element, count = split(self.type)
        found = out[self.offset:self.offset + self.size].view(element)
        return found.reshape(-1, 4)[:, :3] if count == 3 else found


def split(type_: str) -> tuple[np.dtype, int]:
    """The element type and number of a vector's, or scalar's, components."""
    name = type_.rstrip("0123456789") if type_ != "__bf16" else type_
    return DTYPES[name], int(type_[len(name):] or 1)


def kernel(probes: Sequence[Probe]) -> tuple[str, list[Result], int]:
    """A program with the calls, one after the other; their results, and how many bytes these take."""
    blocks, results, end = [], [], 0
    for probe in probes:
        declared = ""
        for name, type_, count in probe.results:
            result = Result(probe, type_, end, count)
            results.append(result)
            end += -(-result.size // 256) * 256
            declared += f"global {type_} *{name} = (global {type_} *)(out + {result.offset}) + id * {count}; "
            if f"{name}_group" in probe.statements:
                declared += f"global {type_} *{name}_group = {name} - get_sub_group_local_id() * {count}; "
        blocks.append(f"{{ {declared}{probe.statements} }}\n")
    size = probes[0].sub_group_size
    return (f"{prelude()}__attribute__((intel_reqd_sub_group_size({size}), reqd_work_group_size({WORK_ITEMS}, 1, 1))) "
            f"kernel void k(global const uchar *in, global uchar *out) {{ int id = get_local_id(0); "
            f"local ulong shared[{WORK_ITEMS * 64}];\n"
            f"{''.join(blocks)}}}", results, end)


def outcomes(probes: Sequence[Probe]) -> Iterator[str]:
    """What is wrong with the calls of one kernel."""
    source, results, size = kernel(probes)
    program = cm.build(source)
    yield from (str(violation) for violation in program.module.validate())
    values, outputs = random_values(), []
    for name, options in every_builtin.TARGETS.items():
        output = aligned(np.zeros(max(size, 1), np.uint8))
        device = cm.device(name, options=options)
        cm.Queue(device).enqueue(program.kernel("k"), (WORK_ITEMS,), (WORK_ITEMS,), values.copy(), output).wait()
        outputs.append(output)
    for result in results:
        simulated, compiled = (result.values(output) for output in outputs)
        if not every_builtin.agree(simulated, compiled):
            yield f"{result.probe.shown}: simulator {simulated.ravel()[:8]}, CPU {compiled.ravel()[:8]}"


def check(probes: Iterable[Probe]) -> None:
    """Run calls, those for one sub-group size together."""
    by_size = groupby(sorted(probes, key=lambda probe: probe.sub_group_size), lambda probe: probe.sub_group_size)
    wrong = [line for _, group in by_size for line in every_builtin.failures(group, outcomes)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", range(PARTS))
def test_valid_and_the_same_on_both_targets(part: int) -> None:
    check(every_call(complete=False)[::EVERY][part::PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10 * PARTS))
def test_all_overloads(part: int) -> None:
    check(every_call(complete=True)[part::10 * PARTS])


def test_every_value_is_used() -> None:
    text = " ".join(probe.statements for probe in every_call(complete=False))
    missing = {name for name in (*FENCES, *ENUMERATED["memory_order"], *ENUMERATED["memory_scope"])
               if name not in text}
    assert not missing
