"""In a process that sees a driver for a GPU that is not here: every kernel of examples/ becomes machine code. What is
refused is printed, a line each."""

from __future__ import annotations

from typing import Any

import coopmat as cm
from coopmat.support.cache import Cache
from coopmat.targets.vulkan.host.pipelines import Pipeline
from tests.kit.paths import EXAMPLES

LOCAL_ELEMENTS = 256  # of each local argument
WITH_TILES = ("gemm", "gemm_blocked")


def main() -> None:
    device: Any = cm.device("vulkan:0", options=cm.VulkanOptions(probes=False))
    types = ("sint8", "sint8", "sint32", "sint32")
    tile = next(row.largest for row in device.own_matrices if row.types == types)
    options = tuple(f"-D{name}={size}" for name, size in zip(("TM", "TN", "TK"), tile, strict=True))
    for path in sorted(EXAMPLES.glob("*.cl")):
        program = cm.build(path, options if path.stem in WITH_TILES else (), device=device).load(device)
        for name in program.signatures:
            try:
                compile_kernel(program, name)
            except cm.Error as error:
                print(f"{path.name} {name}: {' '.join(str(error).split())}")


def compile_kernel(program: Any, name: str) -> None:
    signature, shader = program.signatures[name], program.shader(name)
    local_size = signature.work_group_size or (program.sub_group_size(signature), 1, 1)
    values = dict(zip(shader.local_size_spec_ids, local_size, strict=True))
    values |= {one.spec_id: LOCAL_ELEMENTS for one in shader.arguments if one.kind == "local"}
    pushed = 8 if shader.block_in_memory else -(-shader.block_size // 4) * 4
    Pipeline(program.context, name, shader.spirv, shader.entry_point, values, pushed, shader.sub_group_size, False,
             Cache(None))


if __name__ == "__main__":
    main()
