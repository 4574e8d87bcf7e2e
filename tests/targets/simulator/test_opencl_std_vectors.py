"""Every function of values in OpenCL.std: on vectors it computes what it computes on each component."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.spirv.grammar import OPENCL_STD, extended_operands
from coopmat.targets.simulator import opencl_integer, opencl_math
from tests.kit.targets.short_kernels import UNCHECKED, evaluate
from tests.kit.targets.values import floats, integers

COUNT = 48
OF_WHOLE_VECTORS = {"cross", "distance", "length", "normalize", "fast_distance", "fast_length", "fast_normalize"}
INTEGER_EXPONENTS = {"pown", "rootn", "ldexp"}
RESULTS = {"ilogb": "i32", "s_upsample": "i64", "u_upsample": "i64"}
FUNCTIONS = [(name, "f32") for name in opencl_math.FUNCTIONS if name not in OF_WHOLE_VECTORS] + [
    (name, "i32") for name in opencl_integer.FUNCTIONS]


@pytest.mark.parametrize("width", [3, 16])
@pytest.mark.parametrize(("name", "kind"), FUNCTIONS)
def test_vectors(name: str, kind: str, width: int) -> None:
    rng = np.random.default_rng(width)
    count = len(extended_operands("OpenCL.std", OPENCL_STD[name]) or ())
    result = RESULTS.get(name, kind)
    operands = [integers(rng, 32, COUNT * width) if kind == "i32" or name == "nan" else
                floats(rng, "f32", COUNT * width) for _ in range(count)]
    if name in INTEGER_EXPONENTS:
        operands[-1] = rng.integers(1, 8, COUNT * width).astype(np.int32)
    call = f"%std {name} " + " ".join(f"{{{i}}}" for i in range(count))
    single = evaluate(f"OpExtInst %{result} {call}", result, *operands, options=UNCHECKED)
    vectors = evaluate(f"OpExtInst %v{width}_{result} {call}", f"v{width}_{result}",
                       *(operand.reshape(-1, width) for operand in operands), options=UNCHECKED)
    np.testing.assert_array_equal(vectors, single.reshape(-1, width))
