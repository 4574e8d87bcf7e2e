"""A driver whose GPU is emulated."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import product
from typing import Any

import pytest

from coopmat.llvm.process import client
from coopmat.targets.cuda.chips import TRIPLE, chip_of
from coopmat.targets.cuda.program import PtxProgram
from tests.kit.targets.emulated_gpu.code import ENTRY, Code, Emulate, code_of
from tests.kit.targets.emulated_gpu.groups import HERE, Group, run_group
from tests.kit.targets.emulated_gpu.hopper import ELEMENT_BYTES, MAP, MARK, is_over
from tests.kit.targets.emulated_gpu.instructions import EMULATED, instruction, register
from tests.kit.targets.emulated_gpu.mathematics import result
from tests.kit.targets.fake_cuda import CUresult, FakeDriver, Function, Launch, Map, installed

LARGEST_GROUP = 1024
LIBRARY = "__nv_"


class EmulatedDriver(FakeDriver):
    """See above. What stands for PTX is the IR."""

    def __init__(self, capability: int) -> None:
        super().__init__()
        self.ATTRIBUTES = {**self.ATTRIBUTES, "COMPUTE_CAPABILITY_MAJOR": capability // 10,
                           "COMPUTE_CAPABILITY_MINOR": capability % 10}
        self.pool = ThreadPoolExecutor(LARGEST_GROUP)

    def cuModuleGetFunction(self, module: str, symbol: bytes) -> tuple:
        found = Function(module, symbol.decode())
        found.symbol = f"{found.symbol} {hash(module)}"  # modules may have kernels of one name
        self.kernels[found.symbol] = lambda launch: self._run(_code(module), launch)
        return CUresult.CUDA_SUCCESS, found

    def cuTensorMapEncodeTiled(self, kind: str, rank: int, address: int, sizes: list[int], strides: list[int],
                               box: list[int], steps: list[int], interleave: str, swizzle: str, *_: Any) -> tuple:
        size = ELEMENT_BYTES[kind.removeprefix("CU_TENSOR_MAP_DATA_TYPE_")]
        line = int(swizzle.removeprefix("CU_TENSOR_MAP_SWIZZLE_").removesuffix("B"))
        return CUresult.CUDA_SUCCESS, Map(MAP.pack(MARK, address, *sizes, *strides, *box, size, line))

    def _run(self, code: Code, launch: Launch) -> None:
        for z, y, x in product(*map(range, reversed(launch.grid))):
            group = Group(launch.group, launch.grid, (x, y, z), range(code.local, code.local + launch.shared))
            run_group(self.pool, group, code.run, launch.block)


@lru_cache(maxsize=64)
def _code(module: str) -> Code:
    operations: list[Any] = []

    def emulate(number: int, given: int, found: int) -> None:
        operation = operations[number]
        bits, HERE.stack = (0,) * len(operation.results), given
        try:
            if operation.name.startswith(LIBRARY):
                bits = result(operation.name.removeprefix(LIBRARY), operation.operands, operation.read(given),
                              operation.results[0]),
            else:
                match, function = instruction(operation.name)
                if HERE.group.failure is None or function in (register, is_over):
                    bits = function(match, operation.read(given))
        except Exception as error:  # (native code called: the launch raises it)
            HERE.group.fail(error)
        operation.write(found, bits)

    callback = Emulate(emulate)
    found = code_of(module[module.index("\n;\n") + 3:], callback)
    operations += found.operations
    return Code(found.run, found.operations, found.local, (found.engine, callback))


def _as_ptx(ir: str, *given: Any, **options: Any) -> bytes:
    """The IR, with the entry as PTX has it in front."""
    match = ENTRY.search(ir)
    assert match is not None
    nbytes = int(match[2]) * int(match[3]) // 8
    return f".entry {match[1]}(\n.param .align 64 .b8 given[{nbytes}]\n;\n{ir}".encode()


@contextmanager
def emulated(capability: int) -> Iterator[EmulatedDriver]:
    """A GPU of a compute capability, as ``cuda:0``."""
    compiled = client.compile

    def compile_(ir: str, triple: str = "", *given: Any, **options: Any) -> bytes:
        return _as_ptx(ir) if triple == TRIPLE else compiled(ir, triple, *given, **options)

    driver = _driver(capability)  # the same one: programs may live from one test to the next
    EMULATED[0] = chip_of(capability).table
    with pytest.MonkeyPatch.context() as patch, installed(driver=driver):
        patch.setattr(client, "compile", compile_)
        patch.setattr(PtxProgram, "pipelines", _without_clusters(PtxProgram.pipelines))
        yield driver


def _without_clusters(pipelines: Any) -> Any:
    """Work-groups run one after the other."""
    return lambda *given: (one for one in pipelines(*given) if one.cluster is None)


_driver = cache(EmulatedDriver)
