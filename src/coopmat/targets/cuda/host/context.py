"""A GPU as this process has it: its primary context, which other libraries use as well, and what it is capable of."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

from coopmat.diagnostics import Error, LaunchError
from coopmat.support.cached import cached_property
from coopmat.targets.cuda.chips import Chip, chip_of
from coopmat.targets.cuda.host.driver import bindings, call, device_count, failure, started, state

_Function = TypeVar("_Function", bound=Callable[..., Any])


def keeps_current(function: _Function) -> _Function:
    """Have a function leave the thread's context as it finds it: other libraries take its GPU for the chosen one. With
    one GPU there is only one to choose."""
    @wraps(function)
    def keeping(*given: Any, **named: Any) -> Any:
        if gpus() < 2:
            return function(*given, **named)
        driver = started()
        failed, *before = driver.cuCtxGetCurrent()
        try:
            return function(*given, **named)
        finally:
            if not failed:
                driver.cuCtxSetCurrent(*before)

    return cast(_Function, keeping)


@cache
def gpus() -> int:
    """How many there are."""
    return device_count()


class Context:
    """One GPU. Get one from :func:`context`.

    device, handle: the driver's. lost: why nothing can be done there any more. idle_marks, idle_streams: of the driver,
    for the next ones who need some. clock: see :func:`~coopmat.targets.cuda.host.streams.clock_of`.
    """

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.lost: str | None = None
        self.times_all = False  # whether prepared launches are timed, too
        self.idle_marks: list[Any] = []
        self.idle_streams: list[Any] = []
        self.clock: Any = None
        self.device = call("cuDeviceGet", ordinal, error=Error)
        self.handle = call("cuDevicePrimaryCtxRetain", self.device, error=Error, what=f"cuda:{ordinal}")

    def use(self) -> None:
        """Make it the calling thread's. LaunchError if it is lost."""
        if self.lost is not None:
            raise LaunchError(f"cuda:{self.ordinal} cannot be used any more in this process, since {self.lost}")
        status, = started().cuCtxSetCurrent(self.handle)
        if status:
            raise failure(status, f"cuda:{self.ordinal}")
        state.context = self

    @keeps_current
    def wait(self) -> None:
        """Return when everything has been done on the GPU, other libraries' work included."""
        self.use()
        call("cuCtxSynchronize", what=f"cuda:{self.ordinal}")

    def attribute(self, name: str) -> int:
        """A number that the driver knows of the GPU, by the end of its name."""
        found = getattr(bindings().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(call("cuDeviceGetAttribute", found, self.device, error=Error))

    @cached_property
    def memory(self) -> int:
        """The bytes of its memory."""
        return int(call("cuDeviceTotalMem", self.device, error=Error))

    @cached_property
    def cache(self) -> int:
        """The bytes of its L2 cache."""
        return self.attribute("L2_CACHE_SIZE")

    @cached_property
    def name(self) -> str:
        """As the driver calls it."""
        return call("cuDeviceGetName", 256, self.device, error=Error).split(b"\0")[0].decode()

    @cached_property
    def chip(self) -> Chip:
        """The chip that code is made for."""
        return chip_of(10 * self.attribute("COMPUTE_CAPABILITY_MAJOR") + self.attribute("COMPUTE_CAPABILITY_MINOR"))

    @cached_property
    def multiprocessors(self) -> int:
        """How many there are."""
        return self.attribute("MULTIPROCESSOR_COUNT")

    @cached_property
    def shared_memory(self) -> int:
        """The bytes that a work-group may have."""
        return self.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")

    @cached_property
    def largest_grid(self) -> tuple[int, int, int]:
        """Work-groups along each axis."""
        x, y, z = (self.attribute(f"MAX_GRID_DIM_{axis}") for axis in "XYZ")
        return x, y, z


@cache
def context(ordinal: int) -> Context:
    """The GPU of a number. Error, saying what there is, if there is none."""
    count = device_count()
    if ordinal >= count:
        found = f"{count} GPUs, cuda:0 to cuda:{count - 1}" if count > 1 else f"{count or 'no'} GPU"
        call("cuDeviceGetCount", error=Error)  # which says why, where there is no driver
        raise Error(f"there is no device cuda:{ordinal}: the driver shows {found}")
    return Context(ordinal)

