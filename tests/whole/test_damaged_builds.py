"""Damaged modules that are built, specialised and linked: an error of the package or a result, and soon."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.edit.linker import link
from coopmat.spirv.edit.specialization import spec_constants, specialize
from tests.kit.clock import is_within
from tests.spirv.edit.test_linker import EXPORT, KERNEL
from tests.targets.simulator.test_foreign_modules import BUILTINS, IMAGE
from tests.whole.test_specialized_programs import ARRAY, EXAMPLE

SEEDS = [Module.from_text(text).to_bytes() for text in (
    KERNEL, EXPORT, ARRAY, EXAMPLE.read_text(encoding="utf-8"), BUILTINS.replace("{call}", ""), IMAGE)]
MOST_SECONDS = 10
WIDE = """
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpDecorate %a SpecId 1
%wide = OpTypeInt {width} 0
%a = OpSpecConstant %wide !1
%b = OpSpecConstantOp %wide Not %a
"""


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The module with one to three words changed."""
    words = np.frombuffer(data, np.uint32).copy()
    for _ in range(chance.randint(1, 3)):
        place, other = chance.randrange(5, len(words)), chance.randrange(5, len(words))
        flipped = int(words[place]) ^ 1 << chance.randrange(32)
        words[place] = chance.choice([chance.randrange(64), flipped, words[other]])
    return words.tobytes()


def specialise(data: bytes) -> None:
    module = Module.from_bytes(data)
    specialize(module, {constant.spec_id: 1 for constant in spec_constants(module)})


@pytest.mark.parametrize("seed", range(6))
def test_damaged_modules(seed: int, long_form: bool) -> None:
    chance = random.Random(seed)
    errors = 0
    for _ in range(4000 if long_form else 80):
        data, other = damaged(SEEDS[seed], chance), chance.choice(SEEDS)
        for action in (lambda d=data: cm.build(d, device="sim:generic"), lambda d=data: specialise(d),
                       lambda d=data, o=other: link([Module.from_bytes(d), Module.from_bytes(o)])):
            start = time.perf_counter()
            try:
                action()
            except cm.Error:
                errors += 1
            assert is_within(MOST_SECONDS, time.perf_counter() - start)
    assert errors


@pytest.mark.parametrize("width", [0, 65, 2**31])
def test_constants_of_impossible_widths(width: int) -> None:
    module = Module.from_text(WIDE.replace("{width}", "32"))
    words = np.frombuffer(module.to_bytes(), np.uint32).copy()
    words[np.flatnonzero(words == 4 << 16 | 21)[0] + 2] = width
    start = time.perf_counter()
    with pytest.raises(cm.Error):
        cm.build(words.tobytes(), spec_constants={1: 1})
    assert is_within(MOST_SECONDS, time.perf_counter() - start)
