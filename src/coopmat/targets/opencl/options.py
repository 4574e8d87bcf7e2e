"""The options of OpenCL's drivers as devices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coopmat.diagnostics import Error, value_text


@dataclass(frozen=True, kw_only=True)
class OpenCLOptions:
    """How kernels run on a driver for OpenCL (docs/opencl_drivers.md).

    ``native_matrices``: cooperative matrices that the driver has proven to compute reach it as such; without it, and
    all others, as code for sub-groups.
    ``host_memory``: kernels work on arrays of the host where they are, if the driver has proven to do so; without it
    they work on copies.
    ``build_options``: words for the driver's compiler, such as ``-cl-fast-relaxed-math``.

    Raises :class:`~coopmat.diagnostics.Error` for a value of another type.
    """

    native_matrices: bool = True
    host_memory: bool = True
    build_options: str = ""

    def __post_init__(self) -> None:
        for name in ("native_matrices", "host_memory"):
            self._require(name, bool | np.bool_, "True or False")
        self._require("build_options", str, "a text")
        if "\0" in self.build_options:
            raise Error("an OpenCL driver's option build_options has a character of code 0, which ends it")

    def _require(self, name: str, kind: object, expected: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, kind):  # type: ignore[arg-type]
            raise Error(f"an OpenCL driver's option {name} must be {expected}; found {value_text(value)} of type "
                        f"{type(value).__name__}")
