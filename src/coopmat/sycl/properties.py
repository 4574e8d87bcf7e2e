"""Compile-time properties: cache controls of annotated_ptr, and the hints of joint_matrix_prefetch.

sycl_ext_oneapi_properties, sycl_ext_intel_cache_controls and sycl_ext_oneapi_prefetch, as far as sections "Load",
"Store" and "Prefetch" use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import Error, value_text
from coopmat.sycl.enumerations import cache_level, cache_mode

LOAD_CONTROLS = {cache_mode.uncached: 0, cache_mode.cached: 1, cache_mode.streaming: 2, cache_mode.invalidate: 3,
                 cache_mode.constant: 4}
"""The modes that a read_hint takes, with SPIR-V's Load Cache Control."""
STORE_CONTROLS = {cache_mode.uncached: 0, cache_mode.write_through: 1, cache_mode.write_back: 2,
                  cache_mode.streaming: 3}
"""The modes that a write_hint takes, with SPIR-V's Store Cache Control."""


@dataclass(frozen=True, slots=True)
class CacheControl:
    """``cache_control[mode, level, ...]``: what the caches of these levels do."""

    mode: cache_mode
    levels: tuple[cache_level, ...]

    def __repr__(self) -> str:
        return f"cache_control[{', '.join(map(str, (self.mode, *self.levels)))}]"


@dataclass(frozen=True, slots=True)
class CacheHint:
    """``read_hint[...]`` or ``write_hint[...]``: at most one control for each level."""

    name: str
    controls: tuple[CacheControl, ...]

    @property
    def by_level(self) -> tuple[tuple[int, int], ...]:
        """(cache level, SPIR-V's control) for each level, in ascending order."""
        modes = _HINTS[self.name]
        return tuple(sorted((level.value, modes[control.mode]) for control in self.controls
                            for level in control.levels))

    def __repr__(self) -> str:
        return f"{self.name}[{', '.join(map(repr, self.controls))}]"


@dataclass(frozen=True, slots=True)
class PrefetchHint:
    """The cache level that a prefetch targets; L1 where none is given."""

    level: cache_level

    def __repr__(self) -> str:
        return f"prefetch_hint_{self.level.name}"


_HINTS = {"read_hint": LOAD_CONTROLS, "write_hint": STORE_CONTROLS}
Property = CacheHint | PrefetchHint


class _CacheControlTemplate:
    def __getitem__(self, arguments: Any) -> CacheControl:
        mode, *levels = arguments if isinstance(arguments, tuple) else (arguments,)
        if not isinstance(mode, cache_mode) or not levels or not all(isinstance(x, cache_level) for x in levels):
            raise Error("cache_control takes a mode and one or more levels, such as "
                        f"cache_control[cache_mode.cached, cache_level.L2]; found {value_text(arguments)}")
        return CacheControl(mode, tuple(levels))

    def __repr__(self) -> str:
        return "cache_control"


class _HintTemplate:
    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, arguments: Any) -> CacheHint:
        controls = arguments if isinstance(arguments, tuple) else (arguments,)
        allowed = _HINTS[self.name]
        seen: set[cache_level] = set()
        for control in controls:
            if not isinstance(control, CacheControl):
                raise Error(f"{self.name} takes cache controls, such as {self.name}[cache_control[cache_mode."
                            f"{next(iter(allowed)).name}, cache_level.L1]]; found {value_text(control)}")
            if control.mode not in allowed:
                raise Error(f"{self.name} cannot have {control.mode}; it can have {', '.join(map(str, allowed))}")
            twice = seen.intersection(control.levels)
            if twice or len(set(control.levels)) != len(control.levels):
                level = min(map(str, twice or control.levels))
                raise Error(f"{self.name} has two controls for one cache level, {level}")
            seen.update(control.levels)
        return CacheHint(self.name, tuple(controls))

    def __repr__(self) -> str:
        return self.name


cache_control = _CacheControlTemplate()
read_hint = _HintTemplate("read_hint")
write_hint = _HintTemplate("write_hint")
prefetch_hint_L1, prefetch_hint_L2, prefetch_hint_L3, prefetch_hint_L4 = map(PrefetchHint, cache_level)


@dataclass(frozen=True, init=False, slots=True)
class properties:
    """A property list, such as ``properties(prefetch_hint_L2)``; one property of a kind."""

    items: tuple[Property, ...]

    def __init__(self, *items: Property) -> None:
        kinds = set()
        for item in items:
            if not isinstance(item, (CacheHint, PrefetchHint)):
                raise Error("properties takes read_hint[...], write_hint[...] and prefetch_hint_L1 to _L4; "
                            f"found {value_text(item)}")
            kind = item.name if isinstance(item, CacheHint) else "prefetch_hint"
            if kind in kinds:
                raise Error(f"properties has two of the kind {kind}: {', '.join(map(repr, items))}")
            kinds.add(kind)
        object.__setattr__(self, "items", items)

    @property
    def prefetch_level(self) -> cache_level:
        """The cache level that a prefetch targets."""
        return next((item.level for item in self.items if isinstance(item, PrefetchHint)), cache_level.L1)

    def controls(self, name: str) -> tuple[tuple[int, int], ...]:
        """(cache level, SPIR-V's control) of the hint called ``name``, read_hint or write_hint."""
        return next((item.by_level for item in self.items if isinstance(item, CacheHint) and item.name == name), ())

    def __repr__(self) -> str:
        return f"properties({', '.join(map(repr, self.items))})"
