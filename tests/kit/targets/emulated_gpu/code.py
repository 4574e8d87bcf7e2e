"""From IR for NVIDIA's GPUs to functions of this processor."""

from __future__ import annotations

import ctypes
import itertools
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import numpy as np

SLOT = 16  # bytes for each operand
LOCAL_BYTES = ALIGNMENT = 1 << 18  # so that the lower bits of addresses are offsets, as descriptors have them
_DECLARATION = re.compile(
    r"^declare (?P<result>[^@]+?) @(?P<name>nvvm\.[\w.]+|__nv_\w+)\((?P<operands>[^)]*)\).*$", re.MULTILINE)
_ASSEMBLY = re.compile(
    r'call (?P<result>[^@=\n]+?) asm (?:sideeffect )?"(?P<text>[^"]*)", "[^"]*"\((?P<operands>[^)]*)\)')
_UPDATE = re.compile(r"atom\.(\w+\.\w+)\.(\w+)\.(\w+) ")
UPDATES = {("add", "f"): "fadd", ("exch", "b"): "xchg", ("min", "u"): "umin", ("max", "u"): "umax"}
"""LLVM's names of PTX's updates, where they are others."""
ENTRY = re.compile(r"define ptx_kernel void @(\w+)\(ptr byval\(\[(\d+) x i(\d+)\]\)[^%]*")
_CONSTANT = ("nvvm.read.ptx.sreg.", "nvvm.isspacep.", "nvvm.idp4a.", "nvvm.prmt", "__nv_")
"""Functions of nothing but their operands and the thread."""
_CODES = {"i1": "B", "i8": "B", "i16": "H", "half": "H", "i32": "I", "float": "I", "<2 x half>": "I", "i64": "Q",
          "double": "Q", "ptr": "Q"}
"""Of struct, for the bits of LLVM's types."""


@dataclass
class Operation:
    """What the host does: a name, or the text of assembly, and the types of its operands and results."""

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]

    @cached_property
    def _given(self) -> struct.Struct:
        return struct.Struct("<" + "".join(f"{_CODES[kind]}{SLOT - struct.calcsize(_CODES[kind])}x"
                                           for kind in self.operands))

    @cached_property
    def _found(self) -> struct.Struct:
        return struct.Struct("@" + "".join(_CODES[kind] for kind in self.results))

    def read(self, address: int) -> tuple[int, ...]:
        """The operands' bits."""
        return self._given.unpack(ctypes.string_at(address, self._given.size)) if self.operands else ()

    def write(self, address: int, bits: tuple[int, ...]) -> None:
        """The results' bits, as in a structure."""
        if self.results:
            ctypes.memmove(address, self._found.pack(*bits), self._found.size)


@dataclass(frozen=True)
class Code:
    """A kernel. operations: by their numbers. local: the address of a work-group's memory."""

    run: Callable[[int], None]
    operations: list[Operation]
    local: int
    engine: Any


TO_BF16 = """
; As PTX's cvt.rn.bf16.f32; processors have other ideas of subnormal numbers and of NaN.
define internal bfloat @to_bf16(float %x) {
  %bits = bitcast float %x to i32
  %upper = lshr i32 %bits, 16
  %odd = and i32 %upper, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %is.nan = fcmp uno float %x, %x
  %found = select i1 %is.nan, i32 32767, i32 %rounded
  %short = trunc i32 %found to i16
  %result = bitcast i16 %short to bfloat
  ret bfloat %result
}
"""
RUNTIME = TO_BF16.replace("internal bfloat @to_bf16", "bfloat @__truncsfbf2")
"""What LLVM calls of its run-time library, which nothing here has: processors without bf16 choose between two of them
as floats."""
Emulate = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


def _types(text: str) -> tuple[str, ...]:
    """The types in a list of them, or of operands, or of a structure's elements."""
    inner = text.strip().removeprefix("{").removesuffix("}").strip()
    return tuple(re.findall(r"<2 x half>|\b(?:i\d+|half|float|double|ptr)\b", re.sub(r"%[\w.]+", "", inner)))


def _wrapper(number: int, name: str, operation: Operation, result: str) -> str:
    """A function that hands its operands to the host."""
    given = ", ".join(f"{kind} %o{place}" for place, kind in enumerate(operation.operands))
    nbytes = SLOT * max(1, len(operation.operands))
    lines = [f"define {result} @{name}({given}) {{", f"  %given = alloca [{nbytes} x i8], align 16",
             f"  %found = alloca [{SLOT * max(1, len(operation.results))} x i8], align 16"]
    for place, kind in enumerate(operation.operands):
        lines += [f"  %p{place} = getelementptr i8, ptr %given, i64 {SLOT * place}",
                  f"  store {kind} %o{place}, ptr %p{place}"]
    lines.append(f"  call void @emulate(i32 {number}, ptr %given, ptr %found)")
    lines += ["  ret void"] if result == "void" else [f"  %r = load {result}, ptr %found", f"  ret {result} %r"]
    lines.append("}")
    return "\n".join(lines)


def _machine() -> Any:
    """Of an engine's own: it takes it away with it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1, jit=True)


def code_of(ir: str, emulate: Any) -> Code:
    """The function of a kernel's IR; ``emulate`` is called with an operation's number, operands and results."""
    operations: list[Operation] = []
    wrappers: list[str] = []

    def add(name: str, shown: str, operands: str, result: str) -> None:
        found = Operation(shown, _types(operands), () if result.strip() == "void" else _types(result))
        wrappers.append(_wrapper(len(operations), name, found, result.strip()))
        operations.append(found)

    def declared(match: re.Match[str]) -> str:
        name = match["name"]
        add(name, name.removeprefix("nvvm."), match["operands"], match["result"])
        pure = " memory(none)" if name.startswith(_CONSTANT) else ""
        return f"declare {match['result']} @{name}({match['operands']}) nounwind willreturn convergent{pure}"

    names: dict[str, str] = {}

    def assembled(match: re.Match[str]) -> str:
        update = _UPDATE.match(match["text"])
        if update is not None:  # the processor's own, as others are that are made of the same memory
            name = UPDATES.get((update[2], update[3][0]), update[2])
            return f"atomicrmw {name} {match['operands']} seq_cst"
        if match["text"] not in names:
            names[match["text"]] = f"assembly.{len(names)}"
            add(names[match["text"]], match["text"], match["operands"], match["result"])
        return f"call {match['result']} @{names[match['text']]}({match['operands']})"

    symbol = ENTRY.search(ir)
    assert symbol is not None
    text = ENTRY.sub(r"define void @\1(ptr ", ir)
    text = re.sub(r" ?addrspace\(\d+\)", "", text).replace("addrspacecast ptr", "bitcast ptr")
    text = re.sub(r"fptrunc float (\S+) to bfloat", r"call bfloat @to_bf16(float \1)",
                  text.replace("llvm.nvvm.", "nvvm.")) + TO_BF16
    text = _ASSEMBLY.sub(assembled, _DECLARATION.sub(declared, _at_each_place(text, "nvvm.activemask")))
    text += "".join(f"\ndeclare {match[1].strip()} @{name}({', '.join(_types(match[2]))}) nounwind convergent"
                    for name in names.values() for match in [re.search(rf"call ([^@=\n]+?) @{name}\(([^)]*)\)", text)]
                    if match is not None)
    own = "\n".join([*wrappers, "declare void @emulate(i32, ptr, ptr)", RUNTIME])
    return _linked(text, own, symbol[1], operations, emulate)


def _at_each_place(text: str, name: str) -> str:
    """Calls of an intrinsic that each have a name of their own."""
    declaration = re.search(rf"^declare [^@]+@{re.escape(name)}\(.*\n", text, re.MULTILINE)
    if declaration is None:
        return text
    number = itertools.count()
    calls = re.sub(rf"@{re.escape(name)}\(", lambda _: f"@{name}.{next(number)}(", text.replace(declaration[0], ""))
    return "".join(declaration[0].replace(name, f"{name}.{place}") for place in range(next(number))) + calls


def _linked(text: str, wrappers: str, symbol: str, operations: list[Operation], emulate: Any) -> Code:
    machine = _machine()
    module, other = llvm.parse_assembly(text), llvm.parse_assembly(wrappers)
    for one in (module, other):
        one.triple, one.data_layout = machine.triple, str(machine.target_data)
        one.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    builder.getModulePassManager().run(module, builder)
    local = np.zeros(LOCAL_BYTES + ALIGNMENT, np.uint8)
    start = -(-local.ctypes.data // ALIGNMENT) * ALIGNMENT
    known = {"emulate", "local_memory", *(one.name for one in other.functions)}
    for one in module.functions:  # LLVM would end the process
        if one.is_declaration and one.name not in known and not one.name.startswith("llvm."):
            assert llvm.address_of_symbol(one.name), f"nothing here is {one.name}"
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.add_module(other)
    for name, address in (("emulate", ctypes.cast(emulate, ctypes.c_void_p).value), ("local_memory", start)):
        for one in (module, other):
            for value in (*one.functions, *one.global_variables):
                if value.name == name:
                    engine.add_global_mapping(value, address)
    engine.finalize_object()
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address(symbol))
    return Code(run, operations, start, (engine, local))
