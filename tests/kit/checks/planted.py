"""Kernels with one planted mistake, and their repaired twins: the mistake is found with its class and line, and the
twin is not accused."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import coopmat as cm
from coopmat.sycl import kernel

HERE = "HERE"  # in a comment on the line that a message has to name


@dataclass(frozen=True)
class Planted:
    """A kernel ``k`` in OpenCL C, or in Python if its text begins with ``@kernel``. ``source`` has ``{}`` where ``bug``
    or ``fix`` stands; ``words`` are regular expressions that are found in the message, in any order. ``arguments`` that
    are functions are called with the queue; ``build`` are options of the compiler."""

    name: str
    source: str
    bug: str
    fix: str
    error: type[Exception]
    words: Sequence[str] = ()
    arguments: Callable[[], Sequence[Any]] = lambda: [np.zeros(256, np.int32)]
    global_size: tuple[int, ...] = (64,)
    local_size: tuple[int, ...] = (32,)
    device: str = "sim:intel_gpu_pvc"
    options: cm.SimulatorOptions | None = None
    build: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def line(self) -> int:
        """The line that the message names."""
        return next(number for number, line in enumerate(self.text(self.bug).split("\n"), 1) if HERE in line)

    def text(self, part: str) -> str:
        """The source with one of the two."""
        return self.source.replace("{}", part)

    def run(self, part: str) -> None:
        """Launch the kernel, every check on; warnings are errors."""
        text = self.text(part)
        device = cm.device(self.device, options=self.options) if self.options else cm.device(self.device)
        source = kernel.from_source(text) if text.lstrip().startswith("@kernel") else text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = cm.build(source, self.build, device)
            warnings.simplefilter("error")
            queue = cm.Queue(device)
            arguments = [given(queue) if callable(given) else given for given in self.arguments()]
            queue.enqueue(program.kernel("k"), self.global_size, self.local_size, *arguments).wait()
