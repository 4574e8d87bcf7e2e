"""Functions of an operator's arguments, which name those that they want as their parameters."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import Error


@dataclass(frozen=True, slots=True)
class Choice:
    """A function, with the names of the arguments that it is called with."""

    function: Callable[..., Any]
    names: tuple[str, ...]

    def made(self, arguments: Mapping[str, Any]) -> Any:
        """What the function makes of them."""
        return self.function(**{name: arguments[name] for name in self.names})


def choice(what: str, given: Any, known: Iterable[str]) -> Choice:
    """A constant, or a function of some of the arguments ``known``, as a function of those that it asks for. Error,
    which calls it ``what``, if it asks for others."""
    if not callable(given):
        return Choice(lambda: given, ())
    known, names = tuple(known), []
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        raise Error(f"{what}: {given!r} does not tell its parameters: wrap it in a lambda") from None
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            return Choice(given, known)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise Error(f"{what}: the parameter '{parameter}' of the function has no argument's name; those that it "
                        f"can ask for: {', '.join(known)}")
        if parameter.name in known:
            names.append(parameter.name)
        elif parameter.default is parameter.empty:
            close = difflib.get_close_matches(parameter.name, known, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise Error(f"{what}: the function asks for '{parameter.name}', which is none of those that it can ask "
                        f"for{hint}: {', '.join(known)}")
    return Choice(given, tuple(names))


class Arguments(dict[str, Any]):
    """Arguments by their names. Those of ``choices`` are made when they are first asked for: some cannot be made of
    sizes that are symbols."""

    def __init__(self, known: Mapping[str, Any], choices: Mapping[str, Choice]) -> None:
        super().__init__(known)
        self._choices = choices

    def __missing__(self, name: str) -> Any:
        value = self[name] = self._choices[name].made(self)
        return value
