"""PTX and machine code: assembled by the driver, loaded, and asked what it takes."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from coopmat.diagnostics import Error
from coopmat.targets.cuda.assembler import Resources, resources
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import bindings, call

LOG_BYTES = 1 << 16


def assembled(context: Context, texts: Mapping[str, str]) -> tuple[bytes, str]:
    """The machine code that the driver makes of kernels' PTX, by their names, and what it says of it. Error, with its
    messages, if it refuses."""
    context.use()
    driver = bindings()
    info, errors = bytearray(LOG_BYTES), bytearray(LOG_BYTES)
    given = _logs(info, errors)
    state = call("cuLinkCreate", len(given), list(given), list(given.values()), error=Error)
    try:
        kernel = ""
        try:
            for kernel, ptx in texts.items():
                data = ptx.encode() + b"\0"
                call("cuLinkAddData", state, driver.CUjitInputType.CU_JIT_INPUT_PTX, data, len(data), kernel.encode(),
                     0, [], [], error=Error)
            code, size = call("cuLinkComplete", state, error=Error)
        except Error as error:
            raise Error(f"kernel '{kernel}': the driver refuses the PTX: {_text(errors) or error}") from None
        return bytes(_bytes_at(code, size)), _text(info)
    finally:
        call("cuLinkDestroy", state, error=Error)


def _logs(info: bytearray, errors: bytearray) -> dict[Any, Any]:
    """The options that let the driver write what it says to two buffers."""
    options = bindings().CUjit_option
    return {
        options.CU_JIT_INFO_LOG_BUFFER: info, options.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: LOG_BYTES,
        options.CU_JIT_ERROR_LOG_BUFFER: errors, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: LOG_BYTES,
        options.CU_JIT_LOG_VERBOSE: 1}


def _text(buffer: bytearray) -> str:
    return bytes(buffer).split(b"\0")[0].decode("utf-8", "replace").strip()


def _bytes_at(address: Any, size: int) -> bytes:
    return ctypes.string_at(int(address), size)


class LoadedKernel:
    """A kernel on a GPU, ready to be launched, of its PTX. log: what the driver said of it, if its own cache did not
    have it.

    The driver assembles the module by itself, not to be linked: what is linked keeps its registers and its products
    apart, for other code that there is none of (ptxas, C7504 and C7509).
    """

    def __init__(self, context: Context, ptx: str, symbol: str, kernel: str) -> None:
        context.use()
        self.context, self.symbol = context, symbol
        info, errors = bytearray(LOG_BYTES), bytearray(LOG_BYTES)
        given = _logs(info, errors)
        try:
            self._module = call("cuModuleLoadDataEx", ptx.encode() + b"\0", len(given), list(given),
                                list(given.values()), error=Error)
        except Error as error:
            raise Error(f"kernel '{kernel}': the driver refuses the PTX: {_text(errors) or error}") from None
        self.log = _text(info)
        self.function = call("cuModuleGetFunction", self._module, symbol.encode(), error=Error)
        self.shared_limit = 48 << 10

    def allow_shared(self, nbytes: int) -> None:
        """Let launches have so many bytes of shared memory."""
        if nbytes > self.shared_limit:
            name = bindings().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call("cuFuncSetAttribute", self.function, name, nbytes)
            self.shared_limit = nbytes

    @property
    def resources(self) -> Resources:
        """What it takes."""
        def of(name: str) -> int:
            found = getattr(bindings().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
            return int(call("cuFuncGetAttribute", found, self.function, error=Error))

        return Resources(of("NUM_REGS"), of("LOCAL_SIZE_BYTES"), resources(self.log, self.symbol).spills,
                         of("SHARED_SIZE_BYTES"), of("MAX_THREADS_PER_BLOCK"))
