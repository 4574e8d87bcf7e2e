"""The decorator ``kernel``: a Python function as a kernel, compiled when it is built or launched first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Diagnostic, Error, LaunchError
from coopmat.sycl.captures import Unkeyable, captured_by, closure_of, key_of
from coopmat.sycl.element_types import element_type
from coopmat.sycl.enumerations import layout

MAX_WORK_GROUP = 1024


class SyclKernel:
    """A kernel written in Python. ``coopmat.build(kernel, device=d)`` and ``queue.parallel_for`` compile it.

    Variables of the functions around it are captured by value when it is defined, as ``[=]`` does in C++; names of
    its module are looked up when it is compiled. Arrays that it captures become parameters after its own.
    """

    def __init__(self, function: FunctionType, *, sub_group_size: int | None = None,
                 work_group_size: Sequence[int] | None = None) -> None:
        if not isinstance(function, FunctionType):
            raise Error(f"kernel decorates a Python function, not {type(function).__name__}")
        self.function = function
        self.sub_group_size = _size("sub_group_size", sub_group_size)
        if self.sub_group_size is not None and self.sub_group_size > MAX_WORK_GROUP:
            raise Error(f"sub_group_size {self.sub_group_size} is more than {MAX_WORK_GROUP}, the largest work-group")
        self.work_group_size = _sizes(work_group_size)
        self._closure = closure_of(function)
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__

    @property
    def name(self) -> str:
        """The kernel's name in its program."""
        return self.function.__name__ if self.function.__name__ != "<lambda>" else "lambda_kernel"

    @property
    def closure(self) -> dict[str, Any]:
        """What it has captured; what was not assigned yet when it was defined is taken as it is now."""
        return {**closure_of(self.function), **self._closure}

    def key(self) -> str | None:
        """What its compilation depends on; None if it reads objects whose changes cannot be seen."""
        try:
            found = key_of(self.function, self.closure)
        except (Unkeyable, Error, RecursionError):  # what has no source is reported by its compilation
            return None
        return f"{found}\0{self.sub_group_size}\0{self.work_group_size}"

    def compile(self, device: DeviceDescription) -> tuple[Any, list[Diagnostic]]:
        """The typed tree (:class:`coopmat.tree.nodes.Program`) and the warnings. Raises CompileError, and
        KernelNotSupported for matrices that the device does not have."""
        from coopmat.sycl.compiler import compile_kernel

        return compile_kernel(self.function, self.closure, device, sub_group_size=self.sub_group_size,
                              work_group_size=self.work_group_size)

    def arguments(self, given: Sequence[Any], names: Sequence[str]) -> list[Any]:
        """The arguments of a launch: those given, defaults of parameters that were left out, and the captured arrays
        that the other parameters stand for."""
        captured: Mapping[str, Any] = captured_by(self.function, self.closure)
        own = self.function.__code__.co_argcount + self.function.__code__.co_kwonlyargcount - 1
        defaults = self.function.__defaults__ or ()
        missing = own - len(given)
        if not 0 <= missing <= len(defaults):
            own_names = ", ".join(map(self.spelled, names[:own]))
            raise LaunchError(f"kernel '{self.name}' takes {own} argument{'s' * (own != 1)} after its nd_item, found "
                              f"{len(given)}: {self.name}({own_names})")
        given = [*given, *defaults[len(defaults) - missing:]]
        values = [self._argument(name, argument) for name, argument in zip(names, given, strict=False)]
        return [*values, *(captured[name] for name in names[own:])]

    def spelled(self, name: str) -> str:
        """A parameter as the source has it, for messages."""
        if name not in self.function.__annotations__:
            return f"{name}, captured"
        annotation = self.function.__annotations__[name]
        return f"{name}: {annotation if isinstance(annotation, str) else element_type(annotation) or annotation}"

    def _argument(self, name: str, given: Any) -> Any:
        """An argument; of a parameter of type layout its number."""
        annotation = self.function.__annotations__.get(name)
        if isinstance(annotation, str):  # from __future__ import annotations
            annotation = eval(annotation, self.function.__globals__, self.closure)
        if annotation is not layout:
            return given
        if not isinstance(given, layout) or given not in (layout.row_major, layout.col_major):
            raise LaunchError(f"argument '{name}: layout' of kernel '{self.name}': expected layout.row_major or "
                              f"layout.col_major; found {given!r}")
        return given.value

    def __call__(self, *_: Any, **__: Any) -> None:
        raise Error(f"kernel '{self.name}' is not called: launch it with "
                    f"queue.parallel_for(nd_range(…), {self.name}, …)")

    def __repr__(self) -> str:
        return f"<coopmat.sycl.kernel {self.__qualname__}>"


def kernel(function: Callable[..., Any] | None = None, *, sub_group_size: int | None = None,
           work_group_size: Sequence[int] | None = None) -> Any:
    """Make a kernel of a Python function: ``@kernel`` or ``@kernel(sub_group_size=16)``.

    sub_group_size: ``[[sycl::reqd_sub_group_size(n)]]``; without it the device's default is used.
    work_group_size: ``[[sycl::reqd_work_group_size(...)]]``, in SYCL's order.

    The first parameter is annotated with nd_item[D]; the others with element types (Python's int and float are
    int32 and float32), ptr[T], local_ptr[T], annotated_ptr[T, properties], multi_ptr or local_accessor[T].
    """
    if function is None:
        return lambda found: SyclKernel(found, sub_group_size=sub_group_size, work_group_size=work_group_size)
    return SyclKernel(function, sub_group_size=sub_group_size, work_group_size=work_group_size)  # type: ignore[arg-type]


def _size(what: str, given: Any) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
        raise Error(f"{what} must be a positive int, found {given!r}")
    return int(given)


def _sizes(given: Any) -> tuple[int, int, int] | None:
    """The work-group size in OpenCL's order, three dimensions."""
    if given is None:
        return None
    sizes = [_size("each part of work_group_size", size) for size in
             (given if isinstance(given, Sequence) else (given,))]
    if not 1 <= len(sizes) <= 3:
        raise Error(f"work_group_size has one to three dimensions, found {given!r}")
    x, y, z = [*(size or 1 for size in reversed(sizes)), 1, 1][:3]
    if x * y * z > MAX_WORK_GROUP:
        raise Error(f"work_group_size {given!r} has more than {MAX_WORK_GROUP} work-items")
    return x, y, z
