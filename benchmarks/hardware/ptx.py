"""PTX programs that carry out one tensor core instruction per block, and running them through the CUDA driver."""

from __future__ import annotations

from typing import Any

import numpy as np
from fragments import Instruction, places
from inputs import WIDTHS, Bits

from coopmat.devices import USES

_HEAD = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry program(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {{
.reg .b64 a, b, c, d, o, x, desc; .reg .u32 lane, block, index, shared; .reg .pred p;
.reg {ab} ra<{na}>; .reg {ab} rb<{nb}>; .reg {cd} rc<{nc}>; .reg {cd} rd<{nc}>;
.shared .align 128 .b8 memory[{shared}];
ld.param.u64 a, [pa]; ld.param.u64 b, [pb]; ld.param.u64 c, [pc]; ld.param.u64 d, [pd];
mov.u32 lane, %tid.x; mov.u32 block, %ctaid.x; mad.lo.u32 index, block, {lanes}, lane;"""
# B lies in shared memory as core matrices of 8 columns by 16 bytes along k, 128 bytes each: those of all columns, then
# those of the next 16 bytes.
_SHARED_B = """mul.wide.u32 o, block, {octets}; add.u64 x, b, o; mov.u32 shared, memory;
{{ .reg .b64 y; .reg .u32 i, q, v; mov.u32 i, lane;
COPY: setp.ge.u32 p, i, {words}; @p bra COPIED;
mul.wide.u32 y, i, 4; add.u64 y, x, y; ld.global.b32 v, [y];
shl.b32 q, i, 2; add.u32 q, q, shared; st.shared.b32 [q], v; add.u32 i, i, {lanes}; bra COPY; }}
COPIED: fence.proxy.async.shared::cta; bar.sync 0;
{{ .reg .b64 u; cvt.u64.u32 u, shared; shr.u64 u, u, 4; and.b64 u, u, 0x3FFF; or.b64 desc, u, {strides}; }}"""
_CORE_MATRIX = 128 >> 4  # bytes, as descriptors count them
_IMMEDIATES = {"tf32": "1, 1, 1", "fp16": "1, 1, 1, 0", "bf16": "1, 1, 1, 0", "sint8": "1", "uint8": "1"}


def program(found: Instruction) -> str:
    """The PTX text. Every lane loads its registers, and stores its share of D."""
    held = places(found)
    register = 64 if found.a == "fp64" else 32
    na, nb, nc = (held[use][0].shape[1] * WIDTHS[name] // register if use in held else 1
                  for use, name in zip(USES, (found.a, found.b, found.c), strict=True))
    bits, number = f"b{register}", {"fp32": "f32", "fp64": "f64"}.get(found.c, "b32")
    ab = "f64" if found.a == "fp64" else bits
    octets = found.n * found.k * WIDTHS[found.b] // 8
    lines = [_HEAD.format(shared=octets, ab=f".{ab}", cd=f".{number}", na=na, nb=nb, nc=nc, lanes=found.lanes)]
    lines += _move("ld.global", "ra", "a", na, ab) + _move("ld.global", "rc", "c", nc, number)
    if found.is_group:
        strides = _CORE_MATRIX * (found.n // 8) << 16 | _CORE_MATRIX << 32
        lines.append(_SHARED_B.format(octets=octets, words=octets // 4, strides=strides, lanes=found.lanes))
        lines += ["wgmma.fence.sync.aligned;",
                  f"{found.mnemonic} {_list('rc', nc)}, {_list('ra', na)}, desc, {_IMMEDIATES[found.a]};",
                  "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    else:
        lines += _move("ld.global", "rb", "b", nb, ab)
        lines.append(f"{found.mnemonic} {_list('rd', nc)}, {_list('ra', na)}, {_list('rb', nb)}, {_list('rc', nc)};")
    lines += _move("st.global", "rc" if found.is_group else "rd", "d", nc, number)
    return "\n".join([*lines, "ret; }"])


def _move(operation: str, name: str, base: str, count: int, type_: str) -> list[str]:
    """Loads or stores of a lane's registers."""
    size = int(type_[1:]) // 8
    lines = [f"mul.wide.u32 o, index, {count * size}; add.u64 x, {base}, o;"]
    for number in range(count):
        place, held = f"[x+{number * size}]", f"{name}{number}"
        lines.append(f"{operation}.{type_} {held}, {place};" if operation.startswith("ld")
                     else f"{operation}.{type_} {place}, {held};")
    return lines


def _list(name: str, count: int) -> str:
    return "{" + ", ".join(f"{name}{number}" for number in range(count)) + "}"


class Driver:
    """The first CUDA device."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.driver = driver
        self.call("cuInit", 0)
        device = self.call("cuDeviceGet", 0)
        self.name = self.call("cuDeviceGetName", 64, device).rstrip(b"\0").decode()
        self.context = self.call("cuDevicePrimaryCtxRetain", device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name: str, *arguments: Any) -> Any:
        """A function of the driver API; RuntimeError if it fails."""
        status, *results = getattr(self.driver, name)(*arguments)
        if int(status):
            raise RuntimeError(f"{name}: {status}")
        return results[0] if results else None

    def launch(self, text: str, arrays: list[Bits], blocks: int, threads: int) -> None:
        """Run the kernel ``program`` of a PTX text with the addresses of arrays, which are brought back."""
        module = self.call("cuModuleLoadData", text.encode() + b"\0")
        function = self.call("cuModuleGetFunction", module, b"program")
        addresses = [self.call("cuMemAlloc", array.nbytes) for array in arrays]
        for address, array in zip(addresses, arrays, strict=True):
            self.call("cuMemcpyHtoD", address, array.ctypes.data, array.nbytes)
        values = np.array([int(address) for address in addresses], np.uint64)
        pointers = np.array([values[index:].ctypes.data for index in range(len(values))], np.uint64)
        self.call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, 0, pointers.ctypes.data, 0)
        self.call("cuCtxSynchronize")
        for address, array in zip(addresses, arrays, strict=True):
            self.call("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes)
            self.call("cuMemFree", address)
        self.call("cuModuleUnload", module)

    def run(self, found: Instruction, a: Bits, b: Bits, c: Bits) -> Bits:
        """D's bits [count, M, N] for those of A [count, M, K], B [count, K, N] and C [count, M, N]."""
        held = places(found)
        b_operand = _core_matrices(found, b) if found.is_group else b[:, *held["b"]]
        arrays = [np.ascontiguousarray(array)
                  for array in (a[:, *held["a"]], b_operand, c[:, *held["accumulator"]])]
        arrays.append(np.zeros_like(arrays[2]))
        self.launch(program(found), arrays, len(a), found.lanes)
        result = np.zeros((len(a), found.m, found.n), c.dtype)
        result[:, *held["accumulator"]] = arrays[3]
        return result


def _core_matrices(found: Instruction, b: Bits) -> Bits:
    """B as wgmma reads it from shared memory."""
    together = 128 // WIDTHS[found.b]
    columns = b.transpose(0, 2, 1).reshape(len(b), found.n, -1, together)
    return np.ascontiguousarray(columns.transpose(0, 2, 1, 3))
