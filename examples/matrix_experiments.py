"""Run every kernel of matrix_int8.cl, matrix_bf16.cl and matrix_tf32.cl on the devices that have them, and
compare each with numpy.

    python examples/matrix_experiments.py
    python examples/matrix_experiments.py --size 128 --device sim:intel_gpu_pvc --type bf16 --verbose

A kernel's name says what it is: packed_m8_n16 takes packed B and computes tiles of 8x16. ``error`` is the
largest error of an element of C, divided by the sum of the absolute products that it is made of: at most
K * 2**-24 for sums of K floats, and 0 for integers.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

import coopmat as cm

HERE = Path(__file__).parent
NAME = re.compile(r"(?P<kind>\w+?)(_(?P<mm>\d)x(?P<nn>\d))?_m(?P<tm>\d)_n(?P<tn>\d+)")


def random_bytes(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.integers(-128, 128, shape, np.int8)


def random_bf16(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_normal(shape).astype(ml_dtypes.bfloat16).view(np.uint16)


def random_floats(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def to_tf32(values: np.ndarray) -> np.ndarray:
    """float32 rounded to 11 significant bits, ties to even."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(mantissa * 2**11), exponent - 11)


@dataclass(frozen=True)
class Elements:
    """A file of kernels: how many elements fill a word of packed B, and what they are as exact numbers."""

    name: str
    per_word: int
    result: type
    random: Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
    exact: Callable[[np.ndarray], np.ndarray]


TYPES = (
    Elements("int8", 4, np.int32, random_bytes, lambda stored: stored.astype(np.int64)),
    Elements("bf16", 2, np.float32, random_bf16, lambda stored: stored.view(ml_dtypes.bfloat16).astype(np.float64)),
    Elements("tf32", 1, np.float32, random_floats, to_tf32),
)


def packed(b: np.ndarray, per_word: int) -> np.ndarray:
    """B with ``per_word`` rows interleaved, as words: each holds the elements of one column."""
    k, n = b.shape
    rows = b.reshape(k // per_word, per_word, n).transpose(0, 2, 1)
    return np.ascontiguousarray(rows).view(np.uint32).reshape(k // per_word, n)


def multiply(device: cm.Device, kernel: cm.Kernel, elements: Elements, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A * B by one of the kernels."""
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    name = NAME.fullmatch(kernel.name)
    work_group = kernel.signature.work_group_size
    assert name is not None
    assert work_group is not None
    c: np.ndarray = np.zeros((m, n), elements.result)
    if "rowmajor" not in name["kind"] and name["kind"] != "blocks_2d":
        b = packed(b, elements.per_word)
    # A work-item for each column of a tile, and a row of them for the TM rows; MM x NN tiles count as one.
    size = n // int(name["nn"] or 1), -(-m // int(name["tm"])) // int(name["mm"] or 1)
    sizes = (m, n, k) if name["kind"] == "blocks_2d" else (n, k)
    cm.Queue(device).enqueue(kernel, size, work_group[:2], a, b, c, *sizes).wait()
    return c


def relative_error(elements: Elements, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """The largest error of an element, relative to the sum of its absolute products."""
    exact_a, exact_b = elements.exact(a), elements.exact(b)
    magnitude = np.abs(exact_a) @ np.abs(exact_b)
    difference = np.abs(c - exact_a @ exact_b)
    return float(np.max(np.divide(difference, magnitude, out=np.zeros(c.shape), where=magnitude > 0)))


def variants(device: cm.Device, elements: Elements) -> Iterator[tuple[str, ...]]:
    """Build options: the matrix instruction where the device has it (else its emulation), the emulation, and on
    sim:generic, which has the instruction for both, sub-groups of 8."""
    yield ()
    if device.architecture.startswith("intel_gpu") or device.architecture == "generic":
        yield ("-DEMULATE",)
    if device.architecture == "generic" and elements.name != "tf32":
        yield ("-DTN=8",)


def experiment(device: cm.Device, elements: Elements, options: tuple[str, ...], size: int, verbose: bool) -> int:
    """Run all kernels of one program, print a line, and return how many are wrong."""
    rng = np.random.default_rng(size)
    a, b = elements.random(rng, (size, size)), elements.random(rng, (size, size))
    allowed = 0 if elements.result is np.int32 else size * 2**-24
    program = cm.build(HERE / f"matrix_{elements.name}.cl", options, device)
    start = time.perf_counter()
    errors = {}
    for kernel in program.kernels.values():
        errors[kernel.name] = relative_error(elements, a, b, multiply(device, kernel, elements, a, b))
    wrong = [name for name, error in errors.items() if not error <= allowed]
    print(f"{device.name:24} {elements.name:5} {' '.join(options):10} {len(errors):8} {max(errors.values()):8.1e} "
          f"{time.perf_counter() - start:6.2f} s  {'WRONG: ' + ' '.join(wrong) if wrong else 'right'}")
    for name in errors if verbose else ():
        print(f"    {name:24} {errors[name]:8.1e}")
    return len(wrong)


def main() -> int:
    """The command line; the exit code is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--device", action="append", help="a name from `coopmat devices`; by default all of them")
    parser.add_argument("--type", action="append", choices=[elements.name for elements in TYPES])
    parser.add_argument("--size", type=int, default=64, help="rows and columns of all matrices, a multiple of 64")
    parser.add_argument("--verbose", action="store_true", help="print the error of each kernel")
    chosen = parser.parse_args()
    devices = [cm.device(name) for name in chosen.device] if chosen.device else cm.devices()
    print(f"{'device':24} {'type':5} {'options':10} {'kernels':>8} {'error':>8}")
    wrong = 0
    for device in devices:
        for elements in TYPES:
            if elements.name in (chosen.type or elements.name):
                for options in variants(device, elements):
                    wrong += experiment(device, elements, options, chosen.size, chosen.verbose)
    print(f"{wrong} results are wrong" if wrong else "all results are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
