"""Signed arithmetic that overflows is a warning, if the module says that it does not; Python's integers decide."""

from __future__ import annotations

import operator
import warnings
from functools import cache

import numpy as np
import pytest

import coopmat as cm

TYPES = {"short": np.int16, "int": np.int32, "long": np.int64}
OPERATIONS = {"a + b": operator.add, "a - b": operator.sub, "a * b": operator.mul, "-a": lambda a, b: -a}
OPTION = "-fsanitize=signed-integer-overflow"


@cache
def built(source: str, options: str) -> cm.Program:
    return cm.build(source, options)


def warned(source: str, *arguments: object, options: str = OPTION, overflow: bool = True) -> list[str]:
    """The warnings of a launch of one work-item."""
    program = built(source, options)
    device = cm.device("sim:generic", options=cm.SimulatorOptions(overflow=overflow))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        cm.Queue(device).enqueue(program.kernel("k"), 1, 1, *arguments).wait()
    assert all(warning.category is cm.SignedOverflowWarning for warning in found)
    return [str(warning.message) for warning in found]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", TYPES)
def test_every_operation(name: str, operation: str) -> None:
    """On vectors, as the arithmetic of a scalar short is that of int."""
    dtype = TYPES[name]
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    edges = [least, least + 1, -2, -1, 0, 1, 2, most - 1, most, 1 << 4 * dtype().itemsize, -(1 << 4 * dtype().itemsize)]
    source = (f"kernel void k(global {name} *in, global {name} *out) {{ {name}2 a = ({name}2)(in[0], 0), "
              f"b = ({name}2)(in[1], 0); vstore2({operation}, 0, out); }}")
    for a in edges:
        for b in edges:
            result = OPERATIONS[operation](a, b)
            found = warned(source, np.array([a, b], dtype), out := np.zeros(2, dtype))
            assert bool(found) != (least <= result <= most), (a, b)
            assert int(out[0]) == (result - least) % (most - least + 1) + least


def test_what_is_said_and_how_often() -> None:
    source = "kernel void k(global int *out, int n) {\n for (int i = 1; i < 9; ++i)\n  out[0] = n * i; }"
    (message,) = warned(source, np.zeros(1, np.int32), 1 << 29)
    assert message.startswith("536870912 * 4 does not fit a signed integer of 32 bits")
    assert "at <source>:3:" in message
    assert warned(source, np.zeros(1, np.int32), 1 << 29, overflow=False) == []
    assert warned(source, np.zeros(1, np.int32), 1 << 29, options="") == []
    assert warned(source.replace("int n", "uint n"), np.zeros(1, np.int32), 1 << 29) == []


def test_python_kernels() -> None:
    kernel = cm.sycl.kernel.from_source("@kernel\ndef k(item: nd_item[1], out: ptr[int32], n: int32):\n"
                                        "    out[0] = n + 1\n")
    assert len(warned(kernel, np.zeros(1, np.int32), 2**31 - 1)) == 1


def test_other_sanitizers_are_refused() -> None:
    with pytest.raises(cm.Error, match="it is signed-integer-overflow; what simulated devices check besides needs no"):
        cm.build("kernel void k(void) {}", "-fsanitize=address")
