"""Kernels in Python: what the runtime asks of one. The front end (:mod:`coopmat.sycl`) has the class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Diagnostic
from coopmat.runtime.calls import CallForm
from coopmat.support.build_options import BuildOptions

if TYPE_CHECKING:
    from coopmat.tree import nodes


class ItemType(Protocol):
    """The type of a kernel's first parameter, such as ``nd_item[2]``."""

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the nd_range that it stands for."""


class PythonKernel(ABC):  # no Protocol: every launch asks whether it was given one, which takes those too long
    """A kernel that is written in Python, compiled when it is built or launched first."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The kernel's name in its program."""

    @property
    @abstractmethod
    def file_name(self) -> str:
        """The file that it was written in, as Python calls it."""

    @property
    @abstractmethod
    def item(self) -> ItemType | None:
        """The type of its first parameter, as far as that is known before it is compiled."""

    @property
    @abstractmethod
    def form(self) -> CallForm:
        """The parameters that a launch gives arguments for: all but the first and what is captured."""

    @abstractmethod
    def build_options(self, options: Sequence[str] = ()) -> BuildOptions:
        """Its own options, and ``options``, which come after them. Error for those that only OpenCL C has."""

    @abstractmethod
    def key(self) -> str | None:
        """What its compilation depends on; None if it reads objects whose changes cannot be seen."""

    @abstractmethod
    def compile(self, device: DeviceDescription, options: Sequence[str] = ()) -> tuple[nodes.Program, list[Diagnostic]]:
        """The typed tree and the warnings; ``options`` come after the kernel's own. Raises CompileError, and
        KernelNotSupported for matrices that the device does not have."""

    @abstractmethod
    def arguments(self, given: Sequence[Any], named: Mapping[str, Any], names: Sequence[str]) -> Sequence[Any]:
        """The arguments of a launch for the parameters ``names`` of the compiled kernel. Raises LaunchError for
        arguments that are missing or too much."""

    @abstractmethod
    def with_values(self, values: Mapping[str, Any]) -> PythonKernel:
        """The kernel with other values of variables that it, or a function that it calls, reads from around it. Error
        for one that they do not read."""

    @abstractmethod
    def spelled(self, name: str) -> str:
        """A parameter as the source has it, for messages."""


_MAKERS: list[Callable[[FunctionType], PythonKernel]] = []


def compile_functions_by(make: Callable[[FunctionType], PythonKernel]) -> None:
    """Let the front end say what makes a kernel of a plain function."""
    _MAKERS[:] = [make]


def kernel_of(given: Any) -> Any:
    """A plain function as a kernel that requires nothing; anything else as it is."""
    return _MAKERS[0](given) if _MAKERS and isinstance(given, FunctionType) else given
