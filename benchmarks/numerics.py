"""How fast the arithmetic models are: products of 16 x 16 x 16 a second, on one core, beside exact arithmetic; and a
bf16 GEMM on simulated devices that use them, beside the same arithmetic compiled for the CPU, on one thread."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from figures import Figure, seconds

import coopmat as cm
from coopmat.devices import ARCHITECTURES
from coopmat.formats import FORMATS
from coopmat.numerics import EXACT, MODELS
from coopmat.numerics.hardware import ROWS
from coopmat.support.terminal import console, table

PRODUCTS = 512
SIZE = 16
HERE = Path(__file__).parent
GEMM_SIZE = 512
GEMM_TILES = {"intel_cpu_spr": (16, 16, 32), "intel_gpu_pvc": (8, 16, 16), "nvidia_gpu_sm_80": (16, 16, 16),
              "nvidia_gpu_sm_90": (16, 16, 16), "amd_gpu_gfx90a": (16, 16, 16)}


def run(repeat: int) -> list[Figure]:
    """Measure, and print tables."""
    return [*_products(repeat), *_gemms(repeat)]


def _products(repeat: int) -> list[Figure]:
    rows = table(f"products of {SIZE} x {SIZE} x {SIZE} a second, thousands", "median", "least", "most", "× exact")
    figures = []
    for architecture, types in _cases():
        ours, exact = (_rate(name, types, repeat) for name in (architecture, EXACT))
        a, _, c, d = types
        figure = Figure(f"{architecture}: {a} -> {d}{'' if c == d else f', C {c}'}", ours.unit, ours.median, ours.least,
                        ours.most)
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
            types = (row.inputs, row.inputs, row.only_c or row.d_format, row.d_format)
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


def _gemms(repeat: int) -> list[Figure]:
    rows = table(f"bf16 GEMM of {GEMM_SIZE} x {GEMM_SIZE} x {GEMM_SIZE}, milliseconds", "simulated", "on the CPU", "x")
    figures = []
    for architecture in GEMM_TILES:
        on_cpu = cm.device("cpu", options=cm.CpuOptions(numerics=architecture, threads=1))
        (simulated, first), (compiled, second) = (
            _gemm(architecture, device, repeat) for device in (cm.device(f"sim:{architecture}"), on_cpu))
        if not np.array_equal(first.view(np.uint32), second.view(np.uint32)):
            raise SystemExit(f"{architecture}: the CPU's bits are not the simulator's")
        rows.add_row(architecture, *(f"{figure.median * 1e3:.1f}" for figure in (simulated, compiled)),
                     f"{simulated.median / compiled.median:.1f}")
        figures += [simulated, compiled]
    console().print(rows)
    return figures


def _gemm(architecture: str, device: cm.Device, repeat: int) -> tuple[Figure, np.ndarray]:
    """Seconds for examples/gemm.cl with the arithmetic of an architecture, and the product."""
    tm, tn, tk = GEMM_TILES[architecture]
    kernel = cm.build(HERE.parent / "examples" / "gemm.cl",
                      (f"-DTM={tm}", f"-DTN={tn}", f"-DTK={tk}", "-DIN=__bf16", "-DOUT=float"), device).kernel("gemm")
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((GEMM_SIZE, GEMM_SIZE)).astype(FORMATS["bf16"].dtype) for _ in range(2))
    c = np.zeros((GEMM_SIZE, GEMM_SIZE), np.float32)
    lanes = device.sub_group_sizes[0]
    times = seconds(lambda: cm.Queue(device).enqueue(
        kernel, (GEMM_SIZE // tn * lanes, GEMM_SIZE // tm), (lanes, 1), a, b, c, GEMM_SIZE, GEMM_SIZE).wait(), repeat)
    if not np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-3):
        raise SystemExit(f"{architecture}: the product is wrong")
    return Figure.of(f"{architecture}, tile {tm}×{tn}×{tk}, {device.name}", "s", times), c
