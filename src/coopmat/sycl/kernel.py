"""``kernel``: a Python function as a kernel, compiled when it is built or launched first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from coopmat.devices import ARCHITECTURES, DeviceDescription
from coopmat.diagnostics import Diagnostic, Error, LaunchError, value_text
from coopmat.runtime.calls import CallForm
from coopmat.runtime.element_types import element_type
from coopmat.runtime.options import Options, split_options
from coopmat.runtime.python_kernels import PythonKernel, compile_functions_by
from coopmat.support.build_options import BuildOptions
from coopmat.support.cached import cached_property
from coopmat.sycl.captures import Key, Unkeyable, annotation_scope, closure_of, key_of
from coopmat.sycl.enumerations import layout
from coopmat.sycl.from_source import defined_in, executed
from coopmat.sycl.options import kernel_options
from coopmat.sycl.ranges import NdItemType
from coopmat.sycl.rebinding import rebound

MAX_WORK_GROUP = max(device.limits.work_group for device in ARCHITECTURES.values())
"""Of the device with the largest ones; each has its own limit at the launch."""


class SyclKernel(PythonKernel):
    """A kernel written in Python. ``coopmat.build(kernel, device=d)`` and ``queue.parallel_for`` compile it.

    Variables of the functions around it are captured by value when it is defined, as ``[=]`` does in C++; names of
    its module are looked up when it is compiled. Arrays that it captures become parameters after its own.
    """

    def __init__(self, function: FunctionType, *, sub_group_size: int | None = None,
                 work_group_size: Sequence[int] | None = None, options: Options = ()) -> None:
        if not isinstance(function, FunctionType):
            raise Error(f"kernel decorates a Python function, not {type(function).__name__}")
        self.function = function
        self.sub_group_size = _size("sub_group_size", sub_group_size)
        if self.sub_group_size is not None and self.sub_group_size > MAX_WORK_GROUP:
            raise Error(f"sub_group_size {self.sub_group_size} is more than {MAX_WORK_GROUP}, the largest work-group")
        self.work_group_size = _sizes(work_group_size)
        self.options = split_options(options)
        kernel_options(self.name, self.options)
        self._closure = closure_of(function)
        self._scope = annotation_scope(function)
        self._key: Key | None = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__

    @property
    def name(self) -> str:
        """The kernel's name in its program."""
        return self.function.__name__ if self.function.__name__ != "<lambda>" else "lambda_kernel"

    @property
    def file_name(self) -> str:
        """The file that it was written in, as Python calls it."""
        return self.function.__code__.co_filename

    @cached_property
    def item(self) -> NdItemType | None:
        """The type of its first parameter, as far as that is known before it is compiled."""
        code = self.function.__code__
        first = self.function.__annotations__.get(code.co_varnames[0]) if code.co_argcount else None
        if isinstance(first, str):  # from __future__ import annotations
            first = next((type_ for type_ in map(NdItemType, (1, 2, 3)) if str(type_) in first), None)
        return first if isinstance(first, NdItemType) else None

    @property
    def closure(self) -> dict[str, Any]:
        """What it has captured; what was not assigned yet when it was defined is taken as it is now."""
        return {**closure_of(self.function), **self._closure}

    def key(self) -> str | None:
        """What its compilation depends on; None if it reads objects whose changes cannot be seen. It is the same object
        as long as nothing has changed."""
        if self._key is None or not self._key.watch.is_unchanged():
            try:
                self._key = key_of(self.function, self._closure, self._scope)
            except (Unkeyable, Error, RecursionError):  # what has no source is reported by its compilation
                return None
            self._key = replace(self._key, text=f"{self._key.text}\0{self.sub_group_size}\0{self.work_group_size}\0"
                                                f"{kernel_options(self.name, self.options)}")
        return self._key.text

    def with_values(self, values: Mapping[str, Any]) -> SyclKernel:
        """The kernel with other values of variables that it, or a function that it calls, reads from around it. What
        annotations name stays as it was when the kernel was defined.

        Raises Error for a variable that they do not read.
        """
        made = copy(self)
        made.function = rebound(self.function, values, self._closure)
        made._closure = closure_of(made.function)
        made._key = None
        return made

    def compile(self, device: DeviceDescription, options: Options = ()) -> tuple[Any, list[Diagnostic]]:
        """The typed tree (:class:`coopmat.tree.nodes.Program`) and the warnings; ``options`` come after the kernel's
        own. Raises CompileError, and KernelNotSupported for matrices that the device does not have."""
        from coopmat.sycl.compiler import compile_kernel  # what the cache holds needs no compiler

        return compile_kernel(self.function, self.closure, device, kernel_options(self.name, self.options, options),
                              scope=self._scope, sub_group_size=self.sub_group_size,
                              work_group_size=self.work_group_size)

    def arguments(self, given: Sequence[Any], named: Mapping[str, Any], names: Sequence[str]) -> Sequence[Any]:
        """The arguments of a launch for the parameters ``names`` of the compiled kernel: those given, by position or by
        name, defaults of parameters that were left out, and the captured arrays that the other parameters stand for.

        Raises LaunchError for arguments that are missing or too much.
        """
        form = self.form
        values = form.arguments(given, named)
        if self._layouts:
            values = [self._layout(name, value) if name in self._layouts else value
                      for name, value in zip(form.names, values, strict=True)]
        captured = names[len(form.names):]
        if not captured:
            return values
        closure = self.closure
        return [*values, *(self._captured(name, closure) for name in captured)]

    def _captured(self, name: str, closure: Mapping[str, Any]) -> Any:
        """What has been captured under a name, or in a tuple or list: ``weights[0]``, ``state.weights``."""
        if name in closure:
            return closure[name]
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return eval(name, self.function.__globals__, dict(closure))

    def build_options(self, options: Options = ()) -> BuildOptions:
        """See :class:`PythonKernel`."""
        return kernel_options(self.name, self.options, options).build

    @cached_property
    def form(self) -> CallForm:
        """The parameters that a launch gives arguments for: all but the nd_item."""
        function = self.function
        code = function.__code__
        names = code.co_varnames[1:code.co_argcount + code.co_kwonlyargcount]
        positional = max(0, code.co_argcount - 1)
        given = (function.__defaults__ or ())[-positional:] if positional else ()
        defaults = dict(zip(names[positional - len(given):positional], given, strict=True))
        return CallForm(self.name, names, [self.spelled(name) for name in names], positional,
                        {**defaults, **(function.__kwdefaults__ or {})}, " after its nd_item")

    def spelled(self, name: str) -> str:
        """A parameter as the source has it, for messages."""
        if name not in self.function.__annotations__:
            return f"{name}, captured"
        annotation = self.function.__annotations__[name]
        return f"{name}: {annotation if isinstance(annotation, str) else element_type(annotation) or annotation}"

    @cached_property
    def _layouts(self) -> frozenset[str]:
        """The parameters of type layout."""
        return frozenset(name for name, annotation in self.function.__annotations__.items()
                         if self._meant(annotation) is layout)

    def _meant(self, annotation: Any) -> Any:
        """What an annotation stands for; with ``from __future__ import annotations`` it is a text."""
        if not isinstance(annotation, str):
            return annotation
        return eval(annotation, self.function.__globals__, {**self._scope, **self.closure})

    def _layout(self, name: str, given: Any) -> int:
        """An argument of type layout: its number."""
        if not isinstance(given, layout) or given not in (layout.row_major, layout.col_major):
            raise LaunchError(f"argument '{name}: layout' of kernel '{self.name}': expected layout.row_major or "
                              f"layout.col_major; found {value_text(given)}")
        return given.value

    def __call__(self, *_: Any, **__: Any) -> None:
        raise Error(f"kernel '{self.name}' is not called: launch it with "
                    f"queue.parallel_for(nd_range(…), {self.name}, …)")

    def __repr__(self) -> str:
        return f"<coopmat.sycl.kernel {self.__qualname__}>"


class KernelDecorator:
    """``@kernel``, or ``@kernel(sub_group_size=16)``: makes a kernel of a Python function."""

    def __call__(self, function: Callable[..., Any] | None = None, *, sub_group_size: int | None = None,
                 work_group_size: Sequence[int] | None = None, options: Options = ()) -> Any:
        """Make a kernel of a Python function: ``@kernel`` or ``@kernel(sub_group_size=16)``.

        sub_group_size: ``[[sycl::reqd_sub_group_size(n)]]``; without it the device's default is used.
        work_group_size: ``[[sycl::reqd_work_group_size(...)]]``, in SYCL's order.
        options: build options, such as ``"-DNDEBUG"``, which turns ``assert`` off.

        The first parameter is annotated with nd_item[D]; the others with element types (Python's int and float are
        int32 and float32), ptr[T], local_ptr[T], annotated_ptr[T, properties], multi_ptr or local_accessor[T].
        """
        given = {"sub_group_size": sub_group_size, "work_group_size": work_group_size, "options": options}
        if function is None:
            return lambda found: self(found, **given)  # type: ignore[arg-type]
        return SyclKernel(function, **given)  # type: ignore[arg-type]

    def from_source(self, text: str, name: str | None = None, names: Mapping[str, Any] = MappingProxyType({}), *,
                    sub_group_size: int | None = None, work_group_size: Sequence[int] | None = None,
                    options: Options = ()) -> SyclKernel:
        """The kernel that a text of Python defines: a function whose first parameter is an nd_item, with ``@kernel`` or
        without it. For programs that write kernels, and where Python keeps no source (exec, standard input, the prompt
        before Python 3.13).

        text: it may be indented, finds the names of coopmat.sycl and those of ``names`` (constants, arrays that the
            kernel captures, modules), and may define helpers.
        name: which kernel, where the text defines several.
        The others are those of ``@kernel``; a kernel that has the decorator has its own.

        Raises CompileError for a text that is not Python, and Error if it does not define that kernel.
        """
        file, found = executed(text, names)
        kernels = {key: value for key, value in found.items() if isinstance(value, SyclKernel)} or {
            key: self(value, sub_group_size=sub_group_size, work_group_size=work_group_size, options=options)
            for key, value in found.items() if defined_in(file, value)}
        kernels = {key: value for key, value in kernels.items() if value.item is not None}
        chosen = [value for key, value in kernels.items() if name in (None, key)]
        if len(chosen) != 1:
            wanted = "one kernel" if name is None else f"the kernel '{name}'"
            known = ", ".join(kernels) or "no function whose first parameter is an nd_item"
            raise Error(f"{file}: expected {wanted}; it defines {known}"
                        f"{': say which by its name' if len(chosen) > 1 else ''}")
        return chosen[0]

    def __repr__(self) -> str:
        return "kernel"


kernel = KernelDecorator()
compile_functions_by(SyclKernel)


def _size(what: str, given: Any) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
        raise Error(f"{what} must be a positive int, found {value_text(given)}")
    return int(given)


def _sizes(given: Any) -> tuple[int, int, int] | None:
    """The work-group size in OpenCL's order, three dimensions."""
    if given is None:
        return None
    sizes = [_size("each part of work_group_size", size) for size in
             (given if isinstance(given, Sequence) else (given,))]
    if not 1 <= len(sizes) <= 3:
        raise Error(f"work_group_size has one to three dimensions, found {value_text(given)}")
    x, y, z = [*(size or 1 for size in reversed(sizes)), 1, 1][:3]
    if x * y * z > MAX_WORK_GROUP:
        raise Error(f"work_group_size {value_text(given)} has more than {MAX_WORK_GROUP} work-items")
    return x, y, z
