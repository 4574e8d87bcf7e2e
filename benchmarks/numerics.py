"""How fast the arithmetic models are: products of 16 x 16 x 16 a second, on one core, beside exact arithmetic."""

from __future__ import annotations

import numpy as np
from figures import Figure, seconds

from coopmat.devices import ARCHITECTURES
from coopmat.formats import FORMATS
from coopmat.numerics import EXACT, MODELS
from coopmat.numerics.hardware import ROWS
from coopmat.terminal import console, table

PRODUCTS = 512
SIZE = 16


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    rows = table(f"products of {SIZE} x {SIZE} x {SIZE} a second, thousands", "median", "least", "most", "× exact")
    figures = []
    for architecture, types in _cases():
        ours, exact = (_rate(name, types, repeat) for name in (architecture, EXACT))
        figure = Figure(f"{architecture}: {types[0]} -> {types[3]}", ours.unit, ours.median, ours.least, ours.most)
        figures.append(figure)
        rows.add_row(figure.name, *(f"{value / 1e3:.0f}" for value in (ours.median, ours.least, ours.most)),
                     f"{ours.median / exact.median:.2f}")
    console().print(rows)
    return figures


def _cases() -> list[tuple[str, tuple[str, str, str, str]]]:
    """One architecture for each model and its types, and the integers."""
    found = {}
    for architecture, models in ROWS.items():
        for row in models:
            types = (row.inputs, row.inputs, row.c_format, row.d_format)
            found.setdefault((row.arithmetic, types), (architecture, types))
    return [*found.values(), (next(iter(ARCHITECTURES)), ("sint8", "sint8", "sint32", "sint32"))]


def _rate(architecture: str, types: tuple[str, str, str, str], repeat: int) -> Figure:
    """Products a second with the arithmetic of an architecture."""
    a, b, c = (_operand(name) for name in types[:3])
    times = seconds(lambda: MODELS[architecture](a, b, c, a_format=types[0], b_format=types[1], c_format=types[2],
                                                 d_format=types[3]), repeat)
    return Figure.of(architecture, "products/s", [PRODUCTS / time for time in times])


def _operand(name: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    shape = (PRODUCTS, SIZE, SIZE)
    values = rng.standard_normal(shape) if FORMATS[name].is_float else rng.integers(-100, 100, shape)
    return values.astype(FORMATS[name].dtype)
