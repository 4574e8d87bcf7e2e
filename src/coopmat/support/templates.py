"""Methods and functions with a template argument: ``f(x)``, or ``f[T](x)`` where C++ writes ``f<T>(x)``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any


class Template:
    """A function whose first parameter is the template argument, None where the caller gives none."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function = function
        self.name = name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call without a template argument."""
        return self.function(None, *arguments, **named)

    def __getitem__(self, argument: Any) -> Callable[..., Any]:
        return partial(self.function, argument)

    def __repr__(self) -> str:
        return self.name


class template_method:
    """Decorator for a method whose first parameter after ``self`` is the template argument."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        return Template(partial(self.function, instance), self.function.__name__)


def template_function(function: Callable[..., Any]) -> Template:
    """Decorator for a function whose first parameter is the template argument."""
    made = Template(function, function.__name__)
    made.__doc__ = function.__doc__
    return made
