"""Sweeps of a kernel, each configuration of which is a launch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.runtime import Kernel, Program, Queue, build, device

NEEDED = frozenset({"global_size", "arguments"})
KEYS = NEEDED | {"local_size", "device"}
"""What a configuration may say."""
MOST_PROGRAMS = 16


@dataclass(frozen=True)
class KernelRun:
    """What is called with each configuration: a kernel of a module. ``name`` tells it from other ones in records."""

    spirv: bytes
    kernel: str

    @classmethod
    def of(cls, kernel: Kernel) -> KernelRun:
        """That of a built kernel."""
        return cls(kernel.program.spirv, kernel.name)

    @property
    def name(self) -> str:
        """The kernel's name, and what the module contains."""
        return f"{hashlib.blake2b(self.spirv, digest_size=16).hexdigest()}.{self.kernel}"

    def __call__(self, configuration: Mapping[str, Any]) -> list[Any]:
        """Launch the kernel; the arguments as they are then, arrays among them as copies."""
        on = device(configuration["device"]) if "device" in configuration else device()
        arguments = [one.copy() if isinstance(one, np.ndarray) else one for one in configuration["arguments"]]
        Queue(on).enqueue(_program(self.spirv).kernel(self.kernel), configuration["global_size"],
                          configuration.get("local_size"), *arguments).wait()
        return arguments


def check_configuration(configuration: Any) -> None:
    """Error for what is no launch."""
    if not isinstance(configuration, Mapping) or not NEEDED <= configuration.keys() <= KEYS:
        raise Error("a configuration of a kernel is a dict with 'global_size' and 'arguments', and perhaps "
                    f"'local_size' and 'device'; found {value_text(configuration)}")


@lru_cache(MOST_PROGRAMS)
def _program(spirv: bytes) -> Program:
    return build(spirv)
