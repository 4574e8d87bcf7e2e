"""A module made ready for the CPU: native code per kernel and variant, and launches."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.llvm import client
from coopmat.spirv.grammar import ExecutionModel
from coopmat.spirv.kernels import DataType, KernelSignature
from coopmat.spirv.module import Module
from coopmat.targets.cpu.emitter import Variant
from coopmat.targets.cpu.families import HANDLERS
from coopmat.targets.cpu.features import OF_EMISSION, CpuFeatures, cpu_features
from coopmat.targets.cpu.frame import Field
from coopmat.targets.cpu.globals import GlobalMemory
from coopmat.targets.cpu.kernel import ALIGNMENT, KernelCode, kernel_code
from coopmat.targets.cpu.matrix.lowering import lower
from coopmat.targets.cpu.native import NativeCode
from coopmat.targets.cpu.printing import PrintBuffer
from coopmat.targets.output import DEFAULT_PRINTF_LIMIT

LEVEL = 3
DUMP_VARIABLE = "COOPMAT_DUMP"
SUB_GROUP_SIZES = (16, 4, 8, 32, 64)
SMALLEST_STACK = 1 << 18  # bytes


@dataclass
class CompiledKernel:
    """Native code of one variant of a kernel."""

    code: KernelCode
    native: NativeCode
    run: Any


class CpuProgram:
    """The kernels of a module on the CPU."""

    def __init__(self, module: Module, features: CpuFeatures | None = None,
                 printf_limit: int = DEFAULT_PRINTF_LIMIT) -> None:
        self.module = module
        self.features = features if features is not None else cpu_features()
        self.printf_limit = printf_limit
        self.signatures = module.kernel_signatures
        self.globals = GlobalMemory(module)
        self._compiled: dict[tuple[str, Variant], CompiledKernel] = {}
        self._lock = threading.Lock()

    def compile(self, name: str, variant: Variant) -> CompiledKernel:
        """Native code of a kernel for a variant; made once."""
        with self._lock:
            if (name, variant) not in self._compiled:
                self._compiled[name, variant] = self._make(name, variant)
            return self._compiled[name, variant]

    def _make(self, name: str, variant: Variant) -> CompiledKernel:
        entry = next(entry for entry in self.module.entry_points
                     if entry.name == name and entry.model == ExecutionModel.Kernel)
        code = kernel_code(self.module, entry, variant, HANDLERS, "generic")
        dump(name, "ll", code.ir)
        ir = code.ir
        if code.matrices:
            ir = self._compile(name, ir, "ir").decode()
            dump(name, "optimized.ll", ir)
            ir = lower(ir, code.matrices, self.features.used)
            dump(name, "matrices.ll", ir)
        object_ = self._compile(name, ir, "object")
        native = NativeCode(object_)
        return CompiledKernel(code, native, native.function("run", *[ctypes.c_void_p] * 3))

    def _compile(self, name: str, ir: str, emit: str) -> bytes:
        return client.compile_for_host(ir, self.features.cpu, self.features.for_llvm, LEVEL, emit,
                                       source_name=f"kernel '{name}'")

    def variant(self, signature: KernelSignature, local_size: Sequence[int]) -> Variant:
        """The variant of a kernel that work-groups of a size need."""
        size = signature.sub_group_size or SUB_GROUP_SIZES[0]
        if size not in SUB_GROUP_SIZES:
            raise LaunchError(f"kernel '{signature.name}' requires sub-groups of {size}; the CPU has "
                              f"{', '.join(map(str, SUB_GROUP_SIZES))}")
        total = int(np.prod(local_size))
        return Variant(size, total % size == 0, local_size[0] % size == 0 or total == local_size[0],
                       features=self.features.used & OF_EMISSION)

    def launch(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
               arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> None:
        """Run a kernel over ``global_size`` work-items in groups of ``local_size``; returns when it is done."""
        signature = self.signatures[kernel_name]
        local = (*local_size, 1, 1)[:3]
        whole = (*global_size, 1, 1)[:3]
        kernel = self.compile(kernel_name, self.variant(signature, local))
        words = np.zeros(Field.COUNT, np.int64)
        words[Field.GLOBAL_SIZE:Field.GLOBAL_SIZE + 3] = whole
        words[Field.LOCAL_SIZE:Field.LOCAL_SIZE + 3] = local
        words[Field.OFFSET:Field.OFFSET + 3] = (*(global_offset or ()), 0, 0, 0)[:3]
        groups = [w // n for w, n in zip(whole, local, strict=True)]
        words[Field.GROUPS:Field.GROUPS + 3] = groups
        words[Field.DIMENSIONS] = len(global_size)
        words[Field.TOTAL] = np.prod(groups)
        words[Field.CHUNK] = 1
        size = self.variant(signature, local).sub_group_size
        words[Field.SUB_GROUPS] = -(-int(np.prod(local)) // size)
        block, local_bytes, alive = bind(kernel.code, signature, arguments)
        for identifier, slot in kernel.code.globals.items():
            block[slot.offset:slot.offset + slot.size].view(np.int64)[0] = self.globals.address(identifier)
        words[Field.LOCAL_BYTES] = local_bytes
        words[Field.STACK_BYTES] = SMALLEST_STACK + 2 * kernel.code.stack_bytes // 64 * 64
        scratch_bytes = local_bytes + 128
        if kernel.code.waits:
            scratch_bytes += int(words[Field.STACK_BYTES]) * int(words[Field.SUB_GROUPS])
        scratch = aligned(scratch_bytes)
        output = PrintBuffer(kernel_name, kernel.code.prints, self.printf_limit) if kernel.code.prints else None
        if output is not None:
            words[Field.OUTPUT] = output.address
        kernel.run(words.ctypes.data, block.ctypes.data, scratch.ctypes.data)
        if output is not None:
            output.show()
        del alive


def aligned(size: int, alignment: int = ALIGNMENT) -> np.ndarray:
    """Bytes at an aligned address."""
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start:start + size]


def bind(code: KernelCode, signature: KernelSignature, arguments: Sequence[Any]) -> tuple[np.ndarray, int, list[Any]]:
    """The block of arguments, the local memory of a work-group, and what must live as long as the launch."""
    block = aligned(code.argument_bytes + 16)
    block[:] = 0
    local_bytes = -(-code.local_bytes // ALIGNMENT) * ALIGNMENT
    alive: list[Any] = []
    for slot, parameter, argument in zip(code.parameters, signature.parameters, arguments, strict=True):
        if parameter.kind == "local":
            content = np.array([local_bytes], np.int64).view(np.uint8)
            local_bytes += -(-argument.nbytes // ALIGNMENT) * ALIGNMENT
        elif parameter.is_pointer:
            content = np.array([argument.ctypes.data if argument is not None else 0], np.int64).view(np.uint8)
            alive.append(argument)
        else:
            content = as_bytes(parameter.type, argument)[:slot.size]
        block[slot.offset:slot.offset + len(content)] = content
    return block, local_bytes, alive


def as_bytes(kind: DataType, argument: Any) -> np.ndarray:
    """The bytes of an argument by value; a Python number is converted to the parameter's type."""
    if isinstance(argument, bytes | bytearray):
        return np.frombuffer(bytes(argument), np.uint8)
    if not isinstance(argument, np.ndarray | np.generic):
        is_float = kind.kind == "float"
        width = kind.bits if is_float else max(kind.bits, 8)
        argument = np.array([argument], f"f{width // 8}") if is_float else np.frombuffer(
            (int(argument) % (1 << width)).to_bytes(width // 8, "little"), np.uint8)
    return np.ascontiguousarray(argument).reshape(-1).view(np.uint8)


def dump(name: str, stage: str, text: str) -> None:
    """Write a stage of a kernel's compilation to a file, if COOPMAT_DUMP asks for it."""
    if stage in os.environ.get(DUMP_VARIABLE, "").split(","):
        with open(f"{name}.{stage}", "w", encoding="utf-8") as file:
            file.write(text)
