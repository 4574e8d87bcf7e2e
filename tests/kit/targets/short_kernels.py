"""Short SPIR-V kernels for the simulator's tests.

A kernel is written as the text of its body; every type, constant, pointer and built-in that its names
speak of is declared automatically:

==================  ======================================================================
``%i32 %f16 %bf16``   scalar types (i4 i8 i16 i32 i64 f16 bf16 f32 f64 bool)
``%v4_f32``           vector
``%a5_i32``           array of five
``%m_i8_16x32_0``     cooperative matrix: component, rows, columns, use
``%g_i32``            pointer to global memory; p private, w local, c constant, x generic
``%i32_c5 %i32_cm1``  constant 5, -1; ``%f32_c1p5`` 1.5
``%gx %lx %wx``       global id, local id and work-group id, first dimension, as i64 values
``%lane %sub_group``  sub-group local id and sub-group id as i32 values
==================  ======================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

import ml_dtypes
import numpy as np
import pytest

from coopmat.devices import describe
from coopmat.runtime.executable import executable
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from coopmat.targets.cpu.features import CpuFeatures, cpu_features
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cpu.program import CpuProgram
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.program import CudaProgram, PtxProgram
from coopmat.targets.simulator import SimulatorOptions
from coopmat.targets.vulkan.host.context import device_facts
from coopmat.targets.vulkan.matrices import Matrices
from coopmat.targets.vulkan.options import VulkanOptions
from coopmat.targets.vulkan.program import VulkanProgram
from tests.kit.targets.ptx import assembled, ptx_of

TARGET = "simulator"
"""What runs the kernels: ``simulator``, ``cpu`` (tests/targets/cpu/test_shared.py), ``cuda``
(tests/targets/cuda/test_shared.py), ``vulkan`` (tests/targets/vulkan/test_shared.py), or ``ptx``: the simulator, and
PTX is made of them (tests/targets/cuda/test_shared_ptx.py)."""
PTX_CHIPS: tuple[str, ...] = ()
"""The chips that PTX is made for."""
VALIDATES = False
"""Whether the CPU validates modules; else what it refuses by itself is seen."""
CHECKS_BOUNDS = False
"""Whether kernels on the CPU are checked for accesses outside of buffers (tests/targets/cpu/checks/test_bounds.py)."""

UNCHECKED = SimulatorOptions(undefined=False)
"""For tests of what an undefined operation gives."""

DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16,
          "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
NAME = re.compile(r"%(\w+)")
STORAGES = {"g": "CrossWorkgroup", "p": "Function", "w": "Workgroup", "c": "UniformConstant", "x": "Generic",
            "in": "Input"}
SCALARS = {"void": "OpTypeVoid", "bool": "OpTypeBool", "i4": "OpTypeInt 4 0", "bf16": "OpTypeFloat 16 BFloat16KHR"}
VALUES = {  # name: (input variable, type of the variable, component)
    "gx": ("in_gid", "v3_i64", 0), "gy": ("in_gid", "v3_i64", 1), "lx": ("in_lid", "v3_i64", 0),
    "ly": ("in_lid", "v3_i64", 1), "wx": ("in_wid", "v3_i64", 0), "wy": ("in_wid", "v3_i64", 1),
    "lane": ("in_lane", "i32", None), "sub_group": ("in_sub_group", "i32", None),
}
INPUTS = {"in_gid": "GlobalInvocationId", "in_lid": "LocalInvocationId", "in_wid": "WorkgroupId",
          "in_lane": "SubgroupLocalInvocationId", "in_sub_group": "SubgroupId"}
PROLOGUE = """OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability CooperativeMatrixKHR
OpExtension "SPV_KHR_cooperative_matrix"
%std = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "kernel"
"""


class _Declarations:
    """Declares what names speak of, once each, after what they need themselves."""

    def __init__(self, own: str) -> None:
        self.lines: list[str] = []
        self.known: set[str] = set()
        self.own = dict(line.strip()[1:].split(" = ", 1) for line in own.strip().splitlines() if line.strip())

    def scan(self, text: str) -> None:
        """Declare every name in ``text`` that has a meaning."""
        for name in NAME.findall(text):
            if name not in self.known:
                line = self.own.get(name) or _declaration(name)
                if line is not None:
                    self.known.add(name)
                    self.scan(line)
                    self.lines.append(f"%{name} = {line}")


def _declaration(name: str) -> str | None:
    """The instruction that a name stands for, or None."""
    if name in SCALARS:
        return SCALARS[name]
    if name in INPUTS:
        kind = "i32" if name in ("in_lane", "in_sub_group") else "v3_i64"
        return f"OpVariable %in_{kind} Input"
    for pattern, template in PATTERNS:
        if match := re.fullmatch(pattern, name):
            return template(*match.groups())
    return None


PATTERNS = (
    (r"i(8|16|32|64)", "OpTypeInt {} 0".format),
    (r"f(16|32|64)", "OpTypeFloat {}".format),
    (r"([if]\d+|bf16)_c(m?)([\dp]+)",
     lambda kind, minus, value: f"OpConstant %{kind} {'-' * len(minus)}{value.replace('p', '.')}"),
    (r"v(\d+)_(\w+)", "OpTypeVector %{1} {0}".format),
    (r"a(\d+)_(\w+)", "OpTypeArray %{1} %i32_c{0}".format),
    (r"m_(\w+)_(\d+)x(\d+)_(\d)",
     "OpTypeCooperativeMatrixKHR %{0} %i32_c3 %i32_c{1} %i32_c{2} %i32_c{3}".format),
    (r"(g|p|w|c|x|in)_(\w+)", lambda letter, kind: f"OpTypePointer {STORAGES[letter]} %{kind}"),
)


def module(parameters: str, body: str, *, modes: Sequence[str] = (), declarations: str = "",
           functions: str = "", decorations: str = "", strings: str = "") -> Module:
    """A module with one kernel, called ``kernel``.

    parameters: ``"g_i32 out, i32 n"``: types and names. body: the instructions of the kernel after its
    first label. declarations: more types, constants, variables; functions: more functions.
    """
    found = _Declarations(declarations)
    pairs = [parameter.split() for parameter in parameters.split(",") if parameter.strip()]
    lines = [line.strip() for line in body.strip().splitlines() if line.strip()]
    variables = [line for line in lines if "= OpVariable" in line]
    rest = [line for line in lines if line not in variables]
    prelude = [line for name in VALUES if re.search(rf"%{name}\b", body) for line in _load_value(name)]
    kinds = " ".join(f"%{kind}" for kind, _ in pairs)
    found.scan("\n".join([*(f"%{name}" for name in found.own), "%void", kinds, *lines, *prelude, functions]))
    if not re.match(r"Op(Return|Branch|Unreachable)", rest[-1] if rest else ""):
        rest.append("OpReturn")
    named = [name for _, name in pairs] + [line.split()[0][1:] for line in variables]
    return Module.from_text("\n".join([
        PROLOGUE, *(f"OpExecutionMode %kernel {mode}" for mode in modes), strings,
        *(f'OpName %{name} "{name}"' for name in named),
        *(f"OpDecorate %{name} BuiltIn {INPUTS[name]}" for name in INPUTS if name in found.known),
        decorations, *found.lines, f"%kernel_type = OpTypeFunction %void {kinds}",
        functions, "%kernel = OpFunction %void None %kernel_type",
        *(f"%{name} = OpFunctionParameter %{kind}" for kind, name in pairs),
        "%entry = OpLabel", *variables, *prelude, *rest, "OpFunctionEnd"]))


def cpu_program(source: Module, options: CpuOptions | None = None) -> CpuProgram:
    """The module on the CPU, with what its runtime would have made of it; compiled once while it is launched again and
    again with the same features."""
    return _cpu_program(source.to_bytes(), cpu_features(), options)


@lru_cache(maxsize=2)
def _cpu_program(source: bytes, features: CpuFeatures, options: CpuOptions | None) -> CpuProgram:
    return CpuProgram(executable(Module.from_bytes(source)), features, options, validates=VALIDATES)


def cuda_program(source: Module) -> CudaProgram:
    """The module on the first NVIDIA GPU."""
    return _cuda_program(source.to_bytes())


@lru_cache(maxsize=2)
def _cuda_program(source: bytes) -> CudaProgram:
    return CudaProgram(executable(Module.from_bytes(source)), validates=VALIDATES,
                       sub_group_size=describe("generic").sub_group_sizes[0])


@lru_cache(maxsize=2)
def _vulkan_program(source: bytes) -> VulkanProgram:
    """The module on the first device of Vulkan."""
    return VulkanProgram(executable(Module.from_bytes(source)), 0, VulkanOptions(), matrices=_matrices_of_vulkan(),
                         validates=VALIDATES)


@lru_cache(maxsize=1)
def _matrices_of_vulkan() -> Matrices:
    """Those of the driver, tried out once."""
    return Matrices(0, device_facts(0), probes=True)


def _load_value(name: str) -> list[str]:
    variable, kind, component = VALUES[name]
    if component is None:
        return [f"%{name} = OpLoad %{kind} %{variable}"]
    return [f"%{name}_all = OpLoad %{kind} %{variable}", f"%{name} = OpCompositeExtract %i64 %{name}_all {component}"]


def run(source: Module, arguments: Sequence[object], global_size: int | tuple[int, ...] = 16,
        local_size: int | tuple[int, ...] = 16, *, device: str = "generic",
        options: SimulatorOptions | None = None, **more: object) -> None:
    """Compile a module for a device and launch its kernel. Work-items may store one value in one place."""
    options = SimulatorOptions(races="benign-equal") if options is None else options
    programs = {"cpu": lambda: cpu_program(source, _cpu_options(options)), "cuda": lambda: cuda_program(source),
                "vulkan": lambda: _vulkan_program(source.to_bytes())}
    simulated = lambda: simulator.compile(source, describe(device), options)  # noqa: E731
    sizes = [(size,) if isinstance(size, int) else size for size in (global_size, local_size)]
    programs.get(TARGET, simulated)().launch("kernel", *sizes, arguments, **more)
    if TARGET == "ptx":
        _make_ptx(source.to_bytes(), *sizes[1])


@lru_cache(maxsize=8)
def _make_ptx(source: bytes, *local_size: int) -> None:
    """Make PTX of a module that the simulator has run, and have it assembled."""
    module = executable(Module.from_bytes(source))
    for name in PTX_CHIPS:
        program = PtxProgram(module, CHIPS[name], validates=VALIDATES,
                             sub_group_size=describe("generic").sub_group_sizes[0])
        for found in ptx_of(program, "kernel", local_size):
            assembled(found)


def _cpu_options(options: SimulatorOptions | None) -> CpuOptions:
    """The CPU's options that mean what the simulator's do."""
    checks = CHECKS_BOUNDS and (options is None or options.bounds)
    numerics = "hardware" if options is None else options.numerics
    return CpuOptions(bounds=checks, threads=1 if checks else None, numerics=numerics)


def refuses(error: type[Exception], match: str) -> AbstractContextManager[object]:
    """``pytest.raises`` for what the simulator finds; other targets do not look for it, and may do anything."""
    return pytest.raises(error, match=match) if TARGET in ("simulator", "ptx") else nullcontext()


def type_name(array: np.ndarray) -> str:
    """The kit's name of the type of an array's rows: scalars, or vectors where it has two axes."""
    scalar = NAMES[np.dtype(f"i{array.dtype.itemsize}") if array.dtype.kind == "u" else array.dtype]
    return scalar if array.ndim == 1 else f"v{array.shape[1]}_{scalar}"


def evaluate(line: str, result: str, *operands: np.ndarray, decorations: str = "", declarations: str = "",
             dtype: object = None, options: SimulatorOptions | None = None) -> np.ndarray:
    """The results of an instruction on arrays of operands, one work-item per row.

    line: the instruction after ``%r =`` (or several lines that define ``%r``), with ``{0}``, ``{1}`` … for
    the operands. result: the kit's name of its type; a boolean result comes back as 0 and 1.
    """
    kinds = [type_name(operand) for operand in operands]
    stored = result.replace("bool", "i32")
    width, scalar = re.fullmatch(r"(?:v(\d+)_)?(\w+)", stored).groups()
    code = line.format(*(f"%o{i}" for i in range(len(operands))))
    body = [f"%p{i} = OpPtrAccessChain %g_{kind} %in{i} %gx\n%o{i} = OpLoad %{kind} %p{i}"
            for i, kind in enumerate(kinds)]
    body += [code if "%r =" in code else f"%r = {code}"]
    if result != stored:
        choices = ["%i32_c1", "%i32_c0"]
        if width:
            declarations += "".join(f"\n%all{i} = OpConstantComposite %{stored} {' '.join([choice] * int(width))}"
                                    for i, choice in enumerate(choices))
            choices = ["%all0", "%all1"]
        body += [f"%q = OpSelect %{stored} %r {' '.join(choices)}"]
    body += [f"%pr = OpPtrAccessChain %g_{stored} %out %gx", f"OpStore %pr {'%q' if result != stored else '%r'}"]
    parameters = ", ".join([f"g_{stored} out", *(f"g_{kind} in{i}" for i, kind in enumerate(kinds))])
    source = module(parameters, "\n".join(body), decorations=decorations, declarations=declarations)
    count = len(operands[0])
    out = np.zeros((count, _padded(int(width))) if width else count, dtype or DTYPES[scalar])
    arrays = [np.ascontiguousarray(o[:, [*range(o.shape[1]), 0][:_padded(o.shape[1])]] if o.ndim == 2 else o)
              for o in operands]
    run(source, [out, *arrays], count, _local_size(count), options=options)
    return out[:, :int(width)] if width else out


def _padded(count: int) -> int:
    """Components that a vector has room for in memory."""
    return 4 if count == 3 else count


def _local_size(count: int) -> int:
    return next(size for size in (64, 32, 16, 8, 4, 2, 1) if count % size == 0)
