"""Each program of this folder, on every device that multiplies matrices of its types, against numpy.

A program is a module with ``TYPES``, the formats of A, B, C and D, and ``check(device, m, n, k)``, which runs it in
tiles of that shape; ``fits(m, n, k)`` says which shapes it takes, if it does not take all.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import coopmat as cm
from tests.kit.checks.alarms import NO_ALARM

pytestmark = NO_ALARM
PROGRAMS = [importlib.import_module(f"tests.programs.{file.stem}")
            for file in sorted(Path(__file__).parent.glob("*.py")) if not file.stem.startswith("test_")]
SHAPE = (16, 16, 16)  # where a device takes it


def shape_on(device: cm.Device, program: ModuleType) -> tuple[int, int, int] | None:
    """The first shape in a device's table that a program takes; None if the device has none for its types."""
    fits = getattr(program, "fits", lambda m, n, k: True)
    shapes = [shape for row in device.matrix_combinations if row.types == program.TYPES
              for shape in ([SHAPE] if row.supports_sizes(*SHAPE) else []) + [row.largest]]
    return next((shape for shape in (shapes if device.matrix_combinations else [SHAPE]) if fits(*shape)), None)


def runs() -> Iterator[object]:
    """Programs with the devices that have a shape for them."""
    for program in PROGRAMS:
        for device in cm.devices():
            shape = shape_on(device, program)
            if shape is not None:
                yield pytest.param(program, device.name, shape, id=f"{program.__name__.split('.')[-1]}-{device.name}")


@pytest.mark.thinned(4)
@pytest.mark.parametrize(("program", "name", "shape"), list(runs()))
def test_program(program: ModuleType, name: str, shape: tuple[int, int, int]) -> None:
    program.check(cm.device(name), *shape)
