"""The arguments of a launch as a caller writes them: by position and by name, with defaults."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from coopmat.diagnostics import LaunchError, value_text


@dataclass(frozen=True, slots=True)
class CallForm:
    """The parameters that a launch gives values for.

    kernel: its name. names: of the parameters, in order. shown: the same as the source has them. positional: how many
    of them, from the first one on, may be given by position. defaults: of those that may be left out. after: what
    stands before the parameters and is not counted, for messages.
    """

    kernel: str
    names: Sequence[str]
    shown: Sequence[str]
    positional: int
    defaults: Mapping[str, Any] = field(default_factory=dict)
    after: str = ""

    def arguments(self, given: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """A value for each parameter, in order. LaunchError, naming them, for values that are missing or that no
        parameter takes."""
        if not named and len(given) == len(self.names) == self.positional:
            return given
        values = dict(zip(self.names[:self.positional], given, strict=False))
        for name, value in named.items():
            if name not in self.names:
                close = difflib.get_close_matches(name, self.names, n=1)
                hint = f" (did you mean '{close[0]}'?)" if close else ""
                self._refuse(given, named, f"it has no parameter '{name}'{hint}")
            if name in values:
                self._refuse(given, named, f"'{name}' is given by position and by name")
            values[name] = value
        surplus = given[self.positional:]
        if surplus:
            self._refuse(given, named, f"{_listed([value_text(value) for value in surplus])} "
                                       f"{'are' if len(surplus) > 1 else 'is'} too much")
        missing = [name for name in self.names if name not in values and name not in self.defaults]
        if missing:
            self._refuse(given, named, f"{_listed([repr(name) for name in missing])} "
                                       f"{'have' if len(missing) > 1 else 'has'} no value")
        return [values[name] if name in values else self.defaults[name] for name in self.names]

    def __str__(self) -> str:
        parameters = [shown + (f" = {value_text(self.defaults[name])}" if name in self.defaults else "")
                      for name, shown in zip(self.names, self.shown, strict=True)]
        if self.positional < len(self.names):
            parameters.insert(self.positional, "*")
        return f"{self.kernel}({', '.join(parameters)})"

    def _refuse(self, given: Sequence[Any], named: Mapping[str, Any], reason: str) -> NoReturn:
        count = len(self.names)
        raise LaunchError(f"kernel '{self.kernel}' takes {count} argument{'s' * (count != 1)}{self.after}, found "
                          f"{len(given) + len(named)}: {reason}: {self}")


def _listed(items: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))
