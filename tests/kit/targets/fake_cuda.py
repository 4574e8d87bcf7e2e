"""A CUDA driver without a GPU, as the module cuda.bindings.driver: its memory is this process's, streams and events
keep the order that CUDA promises and no more, and kernels are Python functions by the names of their symbols.

What is submitted to a stream is done when somebody waits for it, so that an order which nothing enforces is a wrong
result.
"""

from __future__ import annotations

import ctypes
import re
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from coopmat.runtime import selection
from coopmat.targets.cuda import assembler
from coopmat.targets.cuda.host import context, launch
from coopmat.targets.cuda.host import driver as host

LEGACY = 1
NEED_CONTEXT = ("cuMemAlloc", "cuMemHostAlloc", "cuMemAllocManaged", "cuMemcpy", "cuMemcpyDtoH", "cuMemcpyHtoD",
                "cuMemFreeHost", "cuMemsetD8", "cuCtxSynchronize", "cuEventCreate", "cuLaunchKernel",
                "cuLaunchKernelEx")
"""What asks for a context of the thread."""
ARGUMENTS = 128  # where they begin in the block of a launch


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_INVALID_DEVICE = 101
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900


class IllegalAccess(Exception):
    """What a kernel raises that accesses memory which is not there."""


class _Names:
    """An enumeration whose members are their names."""

    def __getattr__(self, name: str) -> str:
        return name


class CUstream(int):
    """A stream's handle."""


class CUmemLocation:
    """Where memory is to be."""

    type, id = "", 0


class CUmemAllocationProp:
    """What memory to be mapped is; and who may reach it."""

    def __init__(self) -> None:
        self.type, self.flags, self.location = "", "", CUmemLocation()


CUmemAccessDesc = CUmemAllocationProp


class CUlaunchConfig:
    """What a launch needs, as its attributes."""

    gridDimX = gridDimY = gridDimZ = blockDimX = blockDimY = blockDimZ = sharedMemBytes = hStream = numAttrs = 0
    attrs: Sequence[CUlaunchAttribute] = ()


class CUlaunchAttribute:
    """A wish of a launch."""

    def __init__(self) -> None:
        self.id, self.value = "", CUlaunchAttributeValue()


class CUlaunchAttributeValue:
    """Its value."""

    programmaticStreamSerializationAllowed = 0


class Event:
    """token: of the last record."""

    token: Token | None = None


class Token:
    """A place in a stream."""

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.at: float | None = None


class Function:
    """A kernel of a module that was loaded: its name and the bytes of its block of parameters."""

    def __init__(self, ptx: str, symbol: str) -> None:
        self.ptx, self.symbol = ptx, symbol
        found = re.search(rf"\.entry {symbol}\(\s*\.param .*?\[(\d+)\]", ptx)
        assert found is not None, symbol
        self.nbytes = int(found[1])


MAP, MAP_MARK = struct.Struct("<8s6Q"), b"tensmap!"


class Map:
    """A tensor map: address, width, height, stride in bytes, and the box."""

    def __init__(self, content: bytes) -> None:
        self.content = ctypes.create_string_buffer(content.ljust(128, b"\0"), 128)

    def getPtr(self) -> int:
        return ctypes.addressof(self.content)


class Launch:
    """What a kernel gets."""

    def __init__(self, block: bytes, grid: tuple[int, int, int], group: tuple[int, int, int], shared: int) -> None:
        self.block, self.grid, self.group, self.shared = block, grid, group, shared

    def pointer(self, offset: int, dtype: Any, count: int) -> np.ndarray:
        """The memory behind an argument, by its offset among the arguments."""
        address = int.from_bytes(self.block[ARGUMENTS + offset:ARGUMENTS + offset + 8], "little")
        return at(address, count * np.dtype(dtype).itemsize).view(dtype)

    def value(self, offset: int, dtype: Any) -> Any:
        """An argument that is a number."""
        return np.frombuffer(self.block, dtype, 1, ARGUMENTS + offset)[0]

    @property
    def maps(self) -> list[tuple[int, ...]]:
        """The tensor maps: address, width, height, stride in bytes, columns and lines of a box."""
        places = [match.start() for match in re.finditer(MAP_MARK, self.block)]
        return [MAP.unpack_from(self.block, place)[1:] for place in places]

    @property
    def items(self) -> int:
        """Work-items of the first dimension."""
        return self.grid[0] * self.group[0]


def at(address: int, nbytes: int) -> np.ndarray:
    """Memory by its address."""
    return np.frombuffer((ctypes.c_uint8 * nbytes).from_address(address), np.uint8)


_SMALL = 1 << 20
_EVER: list[np.ndarray] = []
"""Small memory of all drivers, which is never used again: what one test has left is freed when another one runs."""


class FakeDriver(ModuleType):
    """See above. kernels: the functions by their symbols. calls: the names of what was called. gpus: how many."""

    CUresult, CUstream, CUmemLocation = CUresult, CUstream, CUmemLocation
    CUmemAllocationProp, CUmemAccessDesc = CUmemAllocationProp, CUmemAccessDesc
    CUmemLocationType, CUlaunchAttributeID = _Names(), _Names()
    CUmemAllocationType, CUmemAllocationGranularity_flags, CUmemAccess_flags = _Names(), _Names(), _Names()
    CUlaunchConfig, CUlaunchAttribute = CUlaunchConfig, CUlaunchAttribute
    CUdevice_attribute, CUfunction_attribute, CUpointer_attribute = _Names(), _Names(), _Names()
    CUjit_option, CUjitInputType, CUstreamCaptureMode = _Names(), _Names(), _Names()
    CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapInterleave = _Names(), _Names(), _Names()
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill = _Names(), _Names()
    cuuint32_t = cuuint64_t = int
    ATTRIBUTES = {"COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "MULTIPROCESSOR_COUNT": 4,
                  "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448, "MAX_THREADS_PER_BLOCK": 1024,
                  "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65535, "MAX_GRID_DIM_Z": 65535,
                  "L2_CACHE_SIZE": 1 << 16, "NUM_REGS": 24, "LOCAL_SIZE_BYTES": 0, "SHARED_SIZE_BYTES": 0,
                  "CONCURRENT_MANAGED_ACCESS": 1, "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": 1}
    MEMORY = 1 << 30
    GRANULARITY = 4096

    def __init__(self, gpus: int = 1) -> None:
        super().__init__("cuda.bindings.driver")
        self.gpus = gpus
        self.kernels: dict[str, Callable[[Launch], None]] = {}
        self.calls: list[str] = []
        self.status = CUresult.CUDA_SUCCESS
        self.clock = 0.0  # ms
        self._current = threading.local()
        self._memory: dict[int, tuple[np.ndarray, int]] = {}
        self.mapped: dict[int, dict[int, tuple[int, int]]] = {}  # address → offset → bytes and GPU of a piece
        self._streams: dict[int, list[Callable[[], None]]] = {LEGACY: []}
        self._captured: dict[int, list[Callable[[], None]]] = {}

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("cu") and name != "cuGetErrorString" and not name.startswith("cuDevice"):
            calls, status = super().__getattribute__("calls"), super().__getattribute__("status")
            calls.append(name)
            if status:
                return lambda *_: (status,)
            if name in NEED_CONTEXT and super().__getattribute__("device") is None:
                return lambda *_: (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        return super().__getattribute__(name)

    # --- the driver, devices, contexts ---

    @property
    def device(self) -> int | None:
        """The GPU of the thread's context."""
        return getattr(self._current, "device", None)

    @device.setter
    def device(self, number: int | None) -> None:
        self._current.device = number

    def cuInit(self, flags: int) -> tuple:
        return (CUresult.CUDA_SUCCESS,)

    def cuDriverGetVersion(self) -> tuple:
        return CUresult.CUDA_SUCCESS, 13000

    def cuGetErrorString(self, status: CUresult) -> tuple:
        return CUresult.CUDA_SUCCESS, status.name.removeprefix("CUDA_ERROR_").replace("_", " ").lower().encode()

    def cuDeviceGetCount(self) -> tuple:
        return CUresult.CUDA_SUCCESS, self.gpus

    def cuDeviceGet(self, ordinal: int) -> tuple:
        return CUresult.CUDA_SUCCESS, ordinal

    def cuDeviceGetName(self, length: int, device: int) -> tuple:
        return CUresult.CUDA_SUCCESS, b"Fake GPU\0\0"

    def cuDeviceTotalMem(self, device: int) -> tuple:
        return CUresult.CUDA_SUCCESS, self.MEMORY

    def cuDeviceGetAttribute(self, name: str, device: int) -> tuple:
        return CUresult.CUDA_SUCCESS, self.ATTRIBUTES[name.removeprefix("CU_DEVICE_ATTRIBUTE_")]

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple:
        return CUresult.CUDA_SUCCESS, device

    def cuCtxGetCurrent(self) -> tuple:
        return CUresult.CUDA_SUCCESS, self.device

    def cuCtxSetCurrent(self, context: int) -> tuple:
        self.device = context
        return (CUresult.CUDA_SUCCESS,)

    def cuCtxSynchronize(self) -> tuple:
        for stream in list(self._streams):
            self._drain(stream)
        return (self.status,)

    # --- memory ---

    def _allocate(self, nbytes: int) -> tuple:
        if nbytes > self.MEMORY:
            return (CUresult.CUDA_ERROR_OUT_OF_MEMORY, None)
        memory = np.full(nbytes + 256, 0xA5, np.uint8)
        address = -(-memory.ctypes.data // 256) * 256
        self._memory[address] = memory, self.device
        if nbytes < _SMALL:
            _EVER.append(memory)
        return CUresult.CUDA_SUCCESS, address

    def cuMemAlloc(self, nbytes: int) -> tuple:
        return self._allocate(nbytes)

    def cuMemHostAlloc(self, nbytes: int, flags: int) -> tuple:
        return self._allocate(nbytes)

    def cuMemAllocManaged(self, nbytes: int, flags: int) -> tuple:
        return self._allocate(nbytes)

    # Memory at addresses that are reserved: all of it is there from the beginning, and what is not mapped is seen.

    def cuMemGetAllocationGranularity(self, properties: CUmemAllocationProp, way: str) -> tuple:
        return CUresult.CUDA_SUCCESS, self.GRANULARITY

    def cuMemAddressReserve(self, nbytes: int, alignment: int, address: int, flags: int) -> tuple:
        status, found = self._allocate(nbytes)
        self.mapped[found] = {}
        return status, found

    def cuMemCreate(self, nbytes: int, properties: CUmemAllocationProp, flags: int) -> tuple:
        assert nbytes % self.GRANULARITY == 0
        return CUresult.CUDA_SUCCESS, (nbytes, int(properties.location.id))

    def cuMemMap(self, address: int, nbytes: int, offset: int, handle: tuple[int, int], flags: int) -> tuple:
        start = max(one for one in self.mapped if one <= address)
        assert handle[0] == nbytes
        self.mapped[start][address - start] = handle
        return (CUresult.CUDA_SUCCESS,)

    def cuMemRelease(self, handle: tuple[int, int]) -> tuple:
        return (CUresult.CUDA_SUCCESS,)

    def cuMemSetAccess(self, address: int, nbytes: int, given: list[CUmemAccessDesc], count: int) -> tuple:
        assert count == len(given) == self.gpus
        assert sum(size for size, _ in self.mapped[address].values()) == nbytes
        return (CUresult.CUDA_SUCCESS,)

    def cuMemUnmap(self, address: int, nbytes: int) -> tuple:
        start = max((one for one in self.mapped if one <= address), default=None)
        if start is not None:  # a driver of an earlier test may have mapped it
            assert self.mapped[start].pop(address - start)[0] == nbytes
        return (CUresult.CUDA_SUCCESS,)

    def cuMemAddressFree(self, address: int, nbytes: int) -> tuple:
        assert not self.mapped.pop(address, None)
        self._memory.pop(address, None)
        return (CUresult.CUDA_SUCCESS,)

    def cuMemAllocAsync(self, nbytes: int, stream: int) -> tuple:
        return self._allocate(nbytes)

    def cuMemFreeAsync(self, address: int, stream: int) -> tuple:
        return self._submit(stream, lambda: self._memory.pop(address))

    def cuTensorMapEncodeTiled(self, kind: str, rank: int, address: int, sizes: list[int], strides: list[int],
                               box: list[int], *_: Any) -> tuple:
        return CUresult.CUDA_SUCCESS, Map(MAP.pack(MAP_MARK, address, *sizes, *strides, *box))

    def cuMemFree(self, address: int) -> tuple:
        self.cuCtxSynchronize()
        self._memory.pop(address, None)  # a driver of an earlier test may have allocated it
        return (CUresult.CUDA_SUCCESS,)

    cuMemFreeHost = cuMemFree

    def move(self, address: int, device: int) -> None:
        """Let memory be another GPU's."""
        self._memory[address] = self._memory[address][0], device

    @property
    def allocated(self) -> int:
        """How many allocations there are."""
        return len(self._memory)

    def cuPointerGetAttribute(self, name: str, address: int) -> tuple:
        for start, (memory, device) in self._memory.items():
            if start <= address < start + memory.nbytes:
                return CUresult.CUDA_SUCCESS, device
        return CUresult.CUDA_ERROR_INVALID_VALUE, None

    def cuMemcpyAsync(self, target: int, source: int, nbytes: int, stream: int) -> tuple:
        return self._submit(stream, lambda: ctypes.memmove(target, source, nbytes))

    def cuMemcpy(self, target: int, source: int, nbytes: int) -> tuple:
        return self.cuMemcpyDtoH(target, source, nbytes)

    def cuDeviceCanAccessPeer(self, device: int, other: int) -> tuple:
        return CUresult.CUDA_SUCCESS, int(device != other)

    def cuCtxEnablePeerAccess(self, context: int, flags: int) -> tuple:
        return (CUresult.CUDA_SUCCESS,)

    def cuMemcpyHtoDAsync(self, target: int, source: int, nbytes: int, stream: int) -> tuple:
        content = ctypes.string_at(source, nbytes)  # of pageable memory, when it returns
        return self._submit(stream, lambda: ctypes.memmove(target, content, nbytes))

    cuMemcpyDtoHAsync = cuMemcpyAsync

    def cuMemcpyHtoD(self, target: int, source: int, nbytes: int) -> tuple:
        return self.cuMemcpyHtoDAsync(target, source, nbytes, LEGACY)

    def cuMemcpyDtoH(self, target: int, source: int, nbytes: int) -> tuple:
        self._drain(LEGACY)
        ctypes.memmove(target, source, nbytes)
        return (CUresult.CUDA_SUCCESS,)

    def cuMemsetD8(self, address: int, value: int, count: int) -> tuple:
        return self.cuMemsetD8Async(address, value, count, LEGACY)

    def cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> tuple:
        return self.cuMemsetD2D32Async(address, 1, value, 1, count, stream, "u1")

    def cuMemsetD16Async(self, address: int, value: int, count: int, stream: int) -> tuple:
        return self.cuMemsetD2D32Async(address, 2, value, 1, count, stream, "u2")

    def cuMemsetD32Async(self, address: int, value: int, count: int, stream: int) -> tuple:
        return self.cuMemsetD2D32Async(address, 4, value, 1, count, stream)

    def cuMemsetD2D32Async(self, address: int, pitch: int, value: int, width: int, height: int, stream: int,
                           dtype: str = "u4") -> tuple:
        assert width == 1

        def fill() -> None:
            step = np.dtype(dtype).itemsize
            view = at(address, (height - 1) * pitch + step)
            for byte, content in enumerate(int(value).to_bytes(step, "little")):
                view[byte::pitch] = content

        return self._submit(stream, fill)

    def cuMemPrefetchAsync(self, address: int, nbytes: int, place: CUmemLocation, flags: int, stream: int) -> tuple:
        return self._submit(stream, lambda: None)

    # --- modules and launches ---

    def cuLinkCreate(self, count: int, names: list, values: list) -> tuple:
        return CUresult.CUDA_SUCCESS, []

    def cuLinkAddData(self, state: list, kind: str, data: bytes, *_: Any) -> tuple:
        state.append(ctypes.create_string_buffer(data))
        return (CUresult.CUDA_SUCCESS,)

    def cuLinkComplete(self, state: list) -> tuple:
        return CUresult.CUDA_SUCCESS, ctypes.addressof(state[0]), len(state[0])

    def cuLinkDestroy(self, state: list) -> tuple:
        return (CUresult.CUDA_SUCCESS,)

    def cuModuleLoadDataEx(self, code: bytes, *_: Any) -> tuple:
        return CUresult.CUDA_SUCCESS, code.rstrip(b"\0").decode()

    def cuModuleGetFunction(self, module: str, symbol: bytes) -> tuple:
        return CUresult.CUDA_SUCCESS, Function(module, symbol.decode())

    def cuFuncGetAttribute(self, name: str, function: Function) -> tuple:
        return CUresult.CUDA_SUCCESS, self.ATTRIBUTES[name.removeprefix("CU_FUNC_ATTRIBUTE_")]

    def cuFuncSetAttribute(self, function: Function, name: str, value: int) -> tuple:
        return (CUresult.CUDA_SUCCESS,)

    def cuLaunchKernel(self, function: Function, *given: Any) -> tuple:
        return self._launch(function, given)

    def _launch(self, function: Function, given: Sequence[Any]) -> tuple:
        grid, group, shared, stream, parameters = given[:3], given[3:6], given[6], given[7], given[8]
        block = ctypes.string_at(ctypes.c_void_p.from_address(parameters).value or 0, function.nbytes)
        started = Launch(block, grid, group, shared)

        def run() -> None:
            self.clock += 1.0
            try:
                self.kernels[function.symbol](started)
            except IllegalAccess:
                self.status = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS

        return self._submit(stream, run)

    def cuLaunchKernelEx(self, config: CUlaunchConfig, function: Function, parameters: int, extra: int) -> tuple:
        """Of a kernel that may begin before others have ended, and has to wait for them itself."""
        one, = config.attrs
        assert one.id == "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"
        assert one.value.programmaticStreamSerializationAllowed == config.numAttrs == 1
        assert "griddepcontrol.wait" in function.ptx
        return self._launch(function, (
            config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX, config.blockDimY, config.blockDimZ,
            config.sharedMemBytes, config.hStream, parameters))

    # --- streams, events, graphs ---

    def _submit(self, stream: int, command: Callable[[], None]) -> tuple:
        number = int(stream) or LEGACY
        captured = self._captured.get(number)
        (captured if captured is not None else self._streams.setdefault(number, [])).append(command)
        return (CUresult.CUDA_SUCCESS,)

    def _drain(self, stream: int, until: Token | None = None) -> None:
        commands = self._streams[int(stream) or LEGACY]
        while commands and not self.status and (until is None or until.at is None):
            commands.pop(0)()

    def cuStreamCreate(self, flags: int) -> tuple:
        assert flags == 1
        self._streams[number := 0x1000 + len(self._streams)] = []
        return CUresult.CUDA_SUCCESS, CUstream(number)

    def cuStreamSynchronize(self, stream: int) -> tuple:
        if int(stream) in self._captured:
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        self._drain(stream)
        return (self.status,)

    def cuEventCreate(self, flags: int) -> tuple:
        return CUresult.CUDA_SUCCESS, Event()

    def cuEventRecord(self, event: Event, stream: int) -> tuple:
        token = event.token = Token(int(stream) or LEGACY)

        def record() -> None:
            self.clock += 0.001
            token.at = self.clock

        return self._submit(stream, record)

    def _reach(self, token: Token | None) -> None:
        if token is not None and token.at is None:
            self._drain(token.stream, token)

    def cuStreamWaitEvent(self, stream: int, event: Event, flags: int) -> tuple:
        token = event.token
        return self._submit(stream, lambda: self._reach(token))

    def cuEventSynchronize(self, event: Event) -> tuple:
        self._reach(event.token)
        return (self.status,)

    def cuEventQuery(self, event: Event) -> tuple:
        done = event.token is None or event.token.at is not None
        return (CUresult.CUDA_SUCCESS if done else CUresult.CUDA_ERROR_NOT_READY,)

    def cuEventElapsedTime(self, start: Event, end: Event) -> tuple:
        assert start.token is not None
        assert end.token is not None
        if start.token.at is None or end.token.at is None:
            return CUresult.CUDA_ERROR_NOT_READY, None
        return CUresult.CUDA_SUCCESS, end.token.at - start.token.at

    def cuStreamBeginCapture(self, stream: int, mode: str) -> tuple:
        self._captured[int(stream)] = []
        return (CUresult.CUDA_SUCCESS,)

    def cuStreamEndCapture(self, stream: int) -> tuple:
        return CUresult.CUDA_SUCCESS, _Graph(self._captured.pop(int(stream)))

    def cuGraphInstantiate(self, graph: _Graph, flags: int) -> tuple:
        return CUresult.CUDA_SUCCESS, list(graph.commands)

    def cuGraphLaunch(self, commands: list, stream: int) -> tuple:
        for one in commands:
            self._submit(stream, one)
        return (CUresult.CUDA_SUCCESS,)

    def cuGraphDestroy(self, graph: _Graph) -> tuple:
        return (CUresult.CUDA_SUCCESS,)

    cuGraphExecDestroy = cuGraphDestroy


class _Graph:
    def __init__(self, commands: list) -> None:
        self.commands = commands

    def __int__(self) -> int:
        return 1


def _forget() -> None:
    """What the package knows of drivers and GPUs."""
    for known in (host.bindings, host.started, context.context, context.gpus, assembler.find_nvjitlink):
        known.cache_clear()
    launch._BLOCKS.clear()
    launch._STREAMS.clear()
    selection._KNOWN.clear()
    host.state.context = None


@contextmanager
def installed(gpus: int = 1, driver: FakeDriver | None = None) -> Iterator[FakeDriver]:
    """The driver, or another one, in the place of NVIDIA's."""
    found, package = driver or FakeDriver(gpus), ModuleType("cuda")
    package.bindings = ModuleType("cuda.bindings")  # type: ignore[attr-defined]
    package.bindings.driver = found
    with pytest.MonkeyPatch.context() as patch:
        for name, module in (("cuda", package), ("cuda.bindings", package.bindings), ("cuda.bindings.driver", found)):
            patch.setitem(sys.modules, name, module)
        _forget()
        try:
            yield found
        finally:
            _forget()
            host._forks.is_started = False
