"""The variables of a module on a GPU: their memory there, filled when the first kernel needs it."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.module import Module
from coopmat.targets.base.global_memory import ALIGNMENT, GlobalMemory
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import call


class Variables(GlobalMemory):
    """Variables whose addresses are those of the GPU. Initial values may have addresses of other variables."""

    def __init__(self, module: Module, context: Context) -> None:
        super().__init__(module)
        self._context = context
        self._addresses: dict[int, int] = {}

    def address(self, identifier: int) -> int:
        """The address on the GPU."""
        if identifier not in self._addresses:
            kind = self._types.pointee(self._types[self._module.definition(identifier).type_id or 0])
            self._context.use()
            address = self._addresses[identifier] = int(  # known before the initial value, which may have it
                call("cuMemAlloc", max(kind.size, ALIGNMENT), what="a variable's memory"))
            try:
                content = self.content(identifier)
            except Error:
                del self._addresses[identifier]
                call("cuMemFree", address)
                raise
            if content.nbytes:
                call("cuMemcpyHtoD", address, content.ctypes.data, content.nbytes)
                call("cuStreamSynchronize", 0)  # other streams do not wait for it
        return self._addresses[identifier]
