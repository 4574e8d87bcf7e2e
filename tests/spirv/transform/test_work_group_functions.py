"""Functions of work-groups by way of local memory: what those of the simulator give."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.transform.work_group_functions import WORK_GROUP_FUNCTIONS, without_work_group_functions

TYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "half": np.float16,
         "float": np.float32, "double": np.float64}
KINDS = [f"{kind}_{operation}" for kind in ("reduce", "scan_inclusive", "scan_exclusive")
         for operation in ("add", "min", "max")]
SIZES = (((8, 6), (4, 3)), ((10, 6), (5, 6)))


def test_each_type_and_operation() -> None:
    body = "".join(f"y[{place} * n + i] = work_group_{kind}(v);" for place, kind in enumerate(KINDS))
    source = "".join(f"""kernel void k_{name}(global const {name} *x, global {name} *y, int n) {{
        size_t i = get_global_linear_id(); {name} v = x[i]; {body}
        y[{len(KINDS)} * n + i] = work_group_broadcast(v, 1, 1) + work_group_broadcast(v, 0, 1)
            + ({name})work_group_any(v == 8) + ({name})work_group_all(v < 8); }}""" for name in TYPES)
    program = cm.build(source)
    own = without_work_group_functions(program.module, 32)
    assert not any(True for _ in own.of_opcode(*WORK_GROUP_FUNCTIONS))
    arrays = [row.type_id for row in own.of_opcode(Op.Variable) if row.words[0] == StorageClass.Workgroup]
    assert len(set(arrays)) == len(arrays)
    changed = cm.build(own.to_bytes())
    rng = np.random.default_rng(3)
    for name, dtype in TYPES.items():
        for global_size, local_size in SIZES:
            x = rng.integers(0 if name[0] == "u" else -9, 10, np.prod(global_size)).astype(dtype)
            found = [np.zeros((len(KINDS) + 1, x.size), dtype) for _ in range(2)]
            for one, result in zip((program, changed), found, strict=True):
                cm.Queue("sim:generic").enqueue(one.kernel(f"k_{name}"), global_size, local_size, x, result,
                                                x.size).wait()
            np.testing.assert_array_equal(found[0], found[1], err_msg=name)
