"""How device functions appear in Python: a stub whose signature and docstring are the API.

The compiler (:mod:`coopmat.sycl.compiler.builtins`) knows what a call of each becomes. On the host most of them
refuse to be called; those that mean something there (``round_to_tf32``) run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from coopmat.diagnostics import Error
from coopmat.support.cached import cached_property


class DeviceFunction:
    """A function of kernels. ``function[...]`` gives it the template arguments that C++ writes explicitly.
    ``runs_on_host`` says whether the host can call it, too."""

    def __init__(self, stub: Callable[..., Any], runs_on_host: bool) -> None:
        update_wrapper(self, stub)
        self.name = stub.__name__
        self._stub = stub
        self.runs_on_host = runs_on_host

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters, as a call has to fill them."""
        return inspect.signature(self._stub)

    def __getitem__(self, arguments: Any) -> Instance:
        return Instance(self, arguments if isinstance(arguments, tuple) else (arguments,))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.on_host((), arguments, named)

    def on_host(self, template: tuple[Any, ...], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call it outside of kernels; ``template`` are the arguments in square brackets."""
        if not self.runs_on_host:
            raise Error(f"{self.name} is a device function: it can be called in kernels only")
        return self._stub(*template, *arguments, **named)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<device function {self.name}>"


class Instance:
    """A device function with explicit template arguments."""

    def __init__(self, function: DeviceFunction, arguments: tuple[Any, ...]) -> None:
        self.function = function
        self.arguments = arguments

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function.on_host(self.arguments, arguments, named)

    def __repr__(self) -> str:
        return f"{self.function.name}[{', '.join(map(str, self.arguments))}]"


def device_function(stub: Callable[..., Any]) -> DeviceFunction:
    """A function that can be called in kernels only."""
    return DeviceFunction(stub, runs_on_host=False)


def host_device_function(stub: Callable[..., Any]) -> DeviceFunction:
    """A function that the host can call, too: there the body runs, the template arguments coming first."""
    return DeviceFunction(stub, runs_on_host=True)
