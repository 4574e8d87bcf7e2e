"""OpenCL.std and conversions on ``vulkan:0``, in a process that sees lavapipe: many functions in one launch, exact ones
as on the CPU bit by bit, others within OpenCL's bounds.

Drivers may take subnormal numbers for zeros, and lavapipe does, of fp32 and fp64: operands have none of them, and
results that are subnormal are compared as zeros.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from tests.kit.targets.error_bounds import HALF, SINGLE
from tests.kit.targets.real_functions import BINARY, DTYPES, UNARY, WITH_INTEGER, errors_of, expected, operands
from tests.spirv.transform import test_opencl_std as tables

COUNT = 4096
TOGETHER = 12
"""Functions in one kernel."""
FLUSHED = (np.float32, np.float64)
"""Whose subnormal numbers are zeros."""
ROUNDINGS = ("rte", "rtz", "rtp", "rtn")


def _run(source: str, size: int, *arguments: np.ndarray) -> None:
    device = cm.device("vulkan:0")
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), size, 32, *arguments).wait()


def _without_subnormals(values: np.ndarray) -> np.ndarray:
    if values.dtype not in FLUSHED:
        return values
    return np.where(np.abs(values) < np.finfo(values.dtype).tiny, np.copysign(values.dtype.type(0), values), values)


def _both(source: str, given: list[np.ndarray], out: np.ndarray, _kept: object = None) -> tuple[np.ndarray, np.ndarray]:
    """What a kernel writes on the driver, and on the CPU."""
    ours, theirs = out.copy(), out.copy()
    given = [_without_subnormals(one) for one in given]
    _run(source, tables.SIZE, ours, *given)
    tables.run(source, tables.SIZE, theirs, *given)
    return _without_subnormals(ours), _without_subnormals(theirs)


@contextmanager
def _on_the_driver() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "both", _both)
        yield


def integers() -> None:
    with _on_the_driver():
        for kind, width in (("char", 1), ("ushort", 1), ("int", 1), ("ulong", 1), ("uint", 3)):
            tables.test_integers(kind, width, long_form=True)
        tables.test_upsample()


def exact_functions() -> None:
    with _on_the_driver():
        for kind in DTYPES:
            tables.test_exact_functions(kind)
            tables.test_fused_multiply_add(kind)


def second_results() -> None:
    with _on_the_driver():
        for kind, memory in (("half", "private"), ("float", "global"), ("double", "local"), ("float", "generic")):
            tables.test_second_results(kind, memory)


def geometry_shuffles_and_common_functions() -> None:
    with _on_the_driver():
        tables.test_shuffle_and_prefetch()
        for kind in DTYPES:
            tables.test_geometry_and_common_functions(kind)


# ------------------------------------------------------------------------------ bounds


def _error(name: str, kind: str, found: np.ndarray, given: list[np.ndarray]) -> str:
    """What is wrong with the results of a function; nothing if they are within its bound."""
    exact = expected(name, *given)
    error = errors_of(name, found, given, exact)
    if found.dtype in FLUSHED:
        error = np.where((np.abs(exact) < np.finfo(found.dtype).tiny) & (found == 0), 0, error)
    worst = int(np.argmax(error))
    if error[worst] <= (HALF if kind == "half" else SINGLE[name]):
        return ""
    return f"{name} {kind}: {error[worst]} of {[one[worst] for one in given]}: {found[worst]}, not {exact[worst]}"


def _bounds(kind: str) -> None:
    dtype, rng = DTYPES[kind], np.random.default_rng(3)
    first, second = (_without_subnormals(operands(dtype, seed, COUNT)) for seed in (1, 2))
    wide = rng.integers(-(1 << 31), 1 << 31, COUNT).astype(np.int32)
    whole = np.where(rng.random(COUNT) < 0.8, wide >> 24, wide).astype(np.int32)
    inputs = {"a": first, "b": rng.permutation(second), "n": whole}
    calls = {**dict.fromkeys(UNARY, "a"), **dict.fromkeys(BINARY, "ab"), **dict.fromkeys(WITH_INTEGER, "an")}
    wrong = []
    names = list(calls)
    for part in (names[place:place + TOGETHER] for place in range(0, len(names), TOGETHER)):
        lines = _lines(f"{name}({', '.join(calls[name])})" for name in part)
        found = np.zeros((len(part), COUNT), dtype)
        _run(f"kernel void k(global {kind} *y, global const {kind} *x, global const {kind} *z, global const int *w) "
             f"{{ size_t i = get_global_id(0); {kind} a = x[i], b = z[i]; int n = w[i]; {lines} }}", COUNT, found,
             *inputs.values())
        wrong += [_error(name, kind, row, [inputs[one] for one in calls[name]])
                  for name, row in zip(part, found, strict=True)]
    assert not any(wrong), "\n".join(filter(None, wrong))


def _lines(calls: Iterable[str]) -> str:
    return " ".join(f"y[{place * COUNT} + i] = {call};" for place, call in enumerate(calls))


def bounds_of_halves() -> None:
    _bounds("half")


def bounds_of_floats() -> None:
    _bounds("float")


def bounds_of_doubles() -> None:
    _bounds("double")


# ------------------------------------------------------------------------- conversions


def _to_be_rounded(source: type, target: type) -> np.ndarray:
    """Every half, or many floats, those halfway to the next, and the neighbours of all; and random bits."""
    rng = np.random.default_rng(6)
    if target is np.float16:
        exact = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(source)
    else:
        exact = np.frombuffer(rng.bytes(4 << 14), target).astype(source)
    word = np.dtype(f"u{np.dtype(source).itemsize}")
    lost = np.finfo(source).nmant - np.finfo(target).nmant
    bits = exact.view(word)[:, None] + np.array([0, 1, (1 << lost - 1) - 1, 1 << lost - 1, (1 << lost - 1) + 1,
                                                 (1 << lost) - 1], word)
    return np.concatenate([bits.reshape(-1), np.frombuffer(rng.bytes(word.itemsize << 16), word)]).view(source)


def _rounded(values: np.ndarray, target: type, rounding: str) -> np.ndarray:
    nearest = values.astype(target)
    back, exact = nearest.astype(np.float64), values.astype(np.float64)
    above, below = np.nextafter(nearest, target(np.inf)), np.nextafter(nearest, target(-np.inf))
    too_large, too_small = back > exact, back < exact
    if rounding in ("rtn", "rtz"):
        lower = too_large if rounding == "rtn" else too_large & (exact > 0)
        nearest = np.where(lower, below, nearest)
    if rounding in ("rtp", "rtz"):
        higher = too_small if rounding == "rtp" else too_small & (exact < 0)
        nearest = np.where(higher, above, nearest)
    return nearest


def floats_become_smaller_ones() -> None:
    """In all roundings. To nearest, the driver does it where it can: subnormal floats are zeros."""
    for before, after in (("float", "half"), ("double", "half"), ("double", "float")):
        target = DTYPES[after]
        with np.errstate(all="ignore"):
            given = _to_be_rounded(DTYPES[before], target)
        found = np.zeros((len(ROUNDINGS), len(given)), target)
        lines = " ".join(f"y[{place * len(given)} + i] = convert_{after}_{one}(x[i]);"
                         for place, one in enumerate(ROUNDINGS))
        _run(f"kernel void k(global {after} *y, global const {before} *x) {{ size_t i = get_global_id(0); {lines} }}",
             len(given), found, given)
        for rounding, row in zip(ROUNDINGS, found, strict=True):
            with np.errstate(all="ignore"):
                wanted = _rounded(given, target, rounding)
            if rounding == "rte":
                row, wanted = _without_subnormals(row), _without_subnormals(wanted)
            wrong = np.flatnonzero(tables.bits(row) != tables.bits(wanted))
            assert not wrong.size, (before, after, rounding, wrong.size, given[wrong[0]], row[wrong[0]],
                                    wanted[wrong[0]])


def integers_become_floats() -> None:
    """In all roundings, as on the CPU."""
    rng = np.random.default_rng(7)
    for before, word in (("int", np.int32), ("uint", np.uint32), ("long", np.int64), ("ulong", np.uint64)):
        places = np.dtype(word).itemsize * 8
        given = np.frombuffer(rng.bytes(8 * tables.SIZE), np.uint64) >> rng.integers(0, places, tables.SIZE, np.uint64)
        given = given.astype(word)
        given[:2] = np.iinfo(word).min, np.iinfo(word).max
        for after in DTYPES:
            calls = [f"convert_{after}_{one}(a)" for one in ROUNDINGS]
            source = tables.table(calls, after, after, {"a": before})
            tables.assert_same(calls, *_both(source, [given], np.zeros(len(calls) * tables.SIZE, DTYPES[after])))


def floats_become_integers() -> None:
    """In all roundings, with saturation, as on the CPU: halfway between integers, and beyond them."""
    rng = np.random.default_rng(8)
    for before, dtype in DTYPES.items():
        given = np.concatenate([np.arange(-128, 128) / 4, rng.standard_normal(tables.SIZE - 256) * 1e4]).astype(dtype)
        given[-2:] = np.inf, np.nan
        for after, word in (("char", np.int8), ("int", np.int32), ("ulong", np.uint64)):
            calls = [f"convert_{after}_sat_{one}(a)" for one in ROUNDINGS]
            source = tables.table(calls, after, after, {"a": before})
            tables.assert_same(calls, *_both(source, [given], np.zeros(len(calls) * tables.SIZE, word)))
