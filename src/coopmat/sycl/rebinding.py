"""Kernels with other values of the variables around them: copies of functions whose cells and globals differ."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import CellType, FunctionType
from typing import Any

from coopmat.diagnostics import Error, value_text
from coopmat.sycl.captures import NOTHING, PACKAGE, cells_of, content, names_of
from coopmat.sycl.texts import share_text


def rebound(function: FunctionType, values: Mapping[str, Any], held: Mapping[str, Any]) -> FunctionType:
    """A copy of a function that reads ``values`` where it, and the functions that it calls, read variables of these
    names of their module or of the functions around them. ``held`` is what it has captured already.

    Raises Error for a name that none of them reads.
    """
    rebinding = _Rebinding(values)
    made = rebinding.function(function, held)
    for name in values:
        if name not in rebinding.used:
            known = sorted(rebinding.numbers)
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"it reads {', '.join(known) or 'none'}"
            raise Error(f"'{function.__name__}' reads no variable {value_text(name)} from around it; {hint} (what its "
                        "decorator was given is fixed: tune a function that makes the kernel)")
    return made


class _Rebinding:
    """``used``: the names of values that were put in place. ``numbers``: those of constants that are read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.used: set[str] = set()
        self.numbers: set[str] = set()
        self._made: dict[int, FunctionType] = {}
        self._globals: dict[int, dict[str, Any]] = {}

    def function(self, function: FunctionType, held: Mapping[str, Any]) -> FunctionType:
        """The copy of a function; the same one each time, as functions may call each other."""
        if id(function) in self._made:
            return self._made[id(function)]
        cells = tuple(CellType() for _ in function.__closure__ or ())
        scope = self._globals.setdefault(id(function.__globals__), dict(function.__globals__))
        made = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
        made.__kwdefaults__ = function.__kwdefaults__
        made.__annotations__ = dict(function.__annotations__)
        made.__qualname__, made.__module__, made.__doc__ = (
            function.__qualname__, function.__module__, function.__doc__)
        share_text(function, made)
        self._made[id(function)] = made
        for (name, cell), new in zip(cells_of(function), cells, strict=True):
            value = held.get(name, content(cell))
            if value is not NOTHING or name in self.values:
                new.cell_contents = self._value(name, value)
        for name in set(names_of(function.__code__)) & function.__globals__.keys():
            scope[name] = self._value(name, function.__globals__[name])
        return made

    def _value(self, name: str, value: Any) -> Any:
        """What a variable holds in the copies."""
        if isinstance(value, int | float | str):
            self.numbers.add(name)
        if name in self.values:
            self.used.add(name)
            return self.values[name]
        if isinstance(value, FunctionType) and not str(value.__module__).startswith(PACKAGE):
            return self.function(value, {})
        return value
