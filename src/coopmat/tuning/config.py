"""Configurations: what a kernel is tried with, and ranges of values that many of them are made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from types import CellType, CodeType, MappingProxyType
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.runtime.options import Options, split_options
from coopmat.support.cache import content_digest
from coopmat.support.cached import cached_property

MOST_CONFIGURATIONS = 100_000
DEEPEST_FUNCTION = 4  # of functions that capture functions, so many count for what they are

Name = str | int
"""What is given a value: a macro, a specialisation constant (by number, too), a variable, a parameter of a factory."""
SizeOf = Any
"""A size of a launch, or a function of configuration and arguments that gives one."""

SIZES = ("global_size", "local_size")
FIELDS = (*SIZES, "options")
"""What ranges name of a configuration beside its values."""


class Config:
    """One configuration of a kernel.

    values: of macros (OpenCL C), specialisation constants by name or number (SPIR-V, LLVM IR), variables that a kernel
        in Python captures, or parameters of a function that makes one. None leaves a macro undefined.
    local_size, global_size: of the launch, in the order that the launch has; each may be a function of the
        configuration and the arguments (by name). None leaves them to the launch.
    options: build options of OpenCL C and kernels in Python.

    Equal configurations are one; ``config["TM"]`` is a value.
    """

    def __init__(self, values: Mapping[Name, Any] = MappingProxyType({}), /, *, local_size: SizeOf = None,
                 global_size: SizeOf = None, options: Options = ()) -> None:
        if not isinstance(values, Mapping) or not all(isinstance(name, str | int) for name in values):
            raise Error("Config takes a dict from names to values, such as Config({'TM': 16}, local_size=(16, 1)); "
                        f"found {value_text(values)}")
        self.values: Mapping[Name, Any] = MappingProxyType(dict(values))
        self.local_size = local_size
        self.global_size = global_size
        self.options = tuple(split_options(options))

    def __getitem__(self, name: Name) -> Any:
        """A value. Error, naming those that there are, if there is none."""
        if name not in self.values:
            known = ", ".join(map(str, self.values)) or "none"
            raise Error(f"the configuration has no value {value_text(name)}; it has {known}")
        return self.values[name]

    @cached_property
    def identity(self) -> str:
        """A text that is the same for equal configurations, in every process."""
        return repr((sorted((str(name), identity_of(value)) for name, value in self.values.items()),
                     identity_of(self.local_size), identity_of(self.global_size), self.options))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __str__(self) -> str:
        """As tables show it: ``TM=16 TN=32, local 16 x 1, -cl-mad-enable``."""
        parts = [" ".join(f"{name}={_shown(value)}" for name, value in self.values.items())]
        for name in SIZES:
            size = getattr(self, name)
            if size is not None and not callable(size):
                parts.append(f"{name.removesuffix('_size')} {size_text(size)}")
        return ", ".join(filter(None, [*parts, " ".join(self.options)])) or "as written"

    def __repr__(self) -> str:
        return f"<coopmat.Config {self}>"


def size_text(size: Any) -> str:
    """``16 x 1``."""
    return " x ".join(map(str, size)) if isinstance(size, Sequence) and not isinstance(size, str) else str(size)


def _shown(value: Any) -> str:
    return getattr(value, "__name__", None) or str(value)


# ------------------------------------------------------------------------------- ranges

Configs = Sequence[Config] | Mapping[Any, Any]
"""Configurations, or ranges: names to the values that each of them takes."""


def configurations(given: Configs) -> list[Config]:
    """The configurations themselves, or all that ranges make: their cartesian product. The names ``local_size``,
    ``global_size`` and ``options`` stand for those of :class:`Config`. Error for what is neither, or nothing."""
    if isinstance(given, Mapping):
        found = [_with_fields(one) for one in product(given)]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        found = [_configuration(one) for one in given]
    else:
        raise Error("configs takes a list of coopmat.Config, or a dict of names and their values, such as "
                    f"{{'TM': [8, 16]}}; found {value_text(given)}")
    if not found:
        raise Error("there is no configuration to try: configs is empty")
    return list(dict.fromkeys(found))


def _with_fields(chosen: dict[Any, Any]) -> Config:
    fields = {name: chosen.pop(name) for name in FIELDS if name in chosen}
    return Config(chosen, **fields)


def _configuration(given: Any) -> Config:
    if isinstance(given, Mapping):
        return Config(given)
    if not isinstance(given, Config):
        raise Error(f"configs consists of coopmat.Config; found {value_text(given)}")
    return given


def product(ranges: Mapping[Any, Any]) -> Iterator[dict[Any, Any]]:
    """Every choice of one value for each name. Error for what is no range, and if there are too many choices."""
    values = {name: _values(name, given) for name, given in ranges.items()}
    count = math.prod(map(len, values.values()))
    if count > MOST_CONFIGURATIONS:
        raise Error(f"the ranges make more configurations than can be tried, {MOST_CONFIGURATIONS}: leave values out, "
                    "or list the configurations")
    for chosen in itertools.product(*values.values()):
        yield dict(zip(values, chosen, strict=True))


def _values(name: Any, given: Any) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise Error(f"the range of {name} is a list of values, such as [8, 16]; found {value_text(given)}")
    return list(itertools.islice(given, MOST_CONFIGURATIONS + 1))


# ----------------------------------------------------------------------------- identity


def identity_of(value: Any, depth: int = 0) -> str:
    """A text that stands for a value in keys: equal for what is equal, also in another process. Of a function, what it
    does: its code and the values that it has captured."""
    code = getattr(value, "__code__", None)
    if isinstance(code, CodeType):
        held = [_content(cell) for cell in value.__closure__ or ()] if depth < DEEPEST_FUNCTION else []
        return (f"function:{_code_text(code)}:{value.__defaults__!r}:"
                f"{[identity_of(one, depth + 1) for one in held]}")
    if hasattr(value, "__qualname__"):  # classes, and functions that are not written in Python
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, np.ndarray):
        return f"array:{value.dtype}:{value.shape}:{content_digest(np.ascontiguousarray(value).tobytes())}"
    return f"{type(value).__name__}:{value!r}"


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _code_text(code: CodeType) -> str:
    constants = [_code_text(one) if isinstance(one, CodeType) else
                 str(sorted(map(repr, one))) if isinstance(one, frozenset) else repr(one) for one in code.co_consts]
    return f"{code.co_code.hex()}:{code.co_names}:{constants}"
