"""``coopmat demo``: handwritten digits, classified by a matrix kernel on every device, each result checked.

A linear classifier (64 pixels and a constant in, 10 scores out) is fitted by least squares in numpy. The
scores of all 1,797 images are one matrix product, 1797×65 by 65×10, computed by examples/gemm.cl in int8
(weights quantised, compared bit for bit with numpy's integers) and in fp16 with fp32 accumulation
(compared with float64).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from rich.progress import Progress
from rich.table import Table

from coopmat.runtime import Device, Queue, build
from coopmat.support.terminal import console, table

TRAINING_IMAGES = 1000
RIDGE = 10.0  # keeps the weights of pixels that are almost always blank small
GENERIC_TILE = (16, 16, 32)


@dataclass(frozen=True)
class ElementType:
    """How the demo computes with one element type; ``flags`` are the kernel's operand flags."""

    name: str
    accumulator: str
    c_type: str
    c_accumulator: str
    dtype: np.dtype
    accumulator_dtype: np.dtype
    flags: str


_SIGNED = "|".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_{operand}_SIGNED" for operand in ("A", "B", "C", "RESULT"))
ELEMENT_TYPES = (
    ElementType("sint8", "sint32", "char", "int", np.dtype(np.int8), np.dtype(np.int32), _SIGNED),
    ElementType("fp16", "fp32", "half", "float", np.dtype(np.float16), np.dtype(np.float32),
                "CLK_COOPERATIVE_MATRIX_OPERAND_NONE"),
)


@dataclass(frozen=True)
class Problem:
    """``images @ weights`` in one element type, and what it should be."""

    type: ElementType
    images: np.ndarray  # 1797 x 65
    weights: np.ndarray  # 65 x 10
    expected: np.ndarray  # 1797 x 10, int64 or float64
    tolerance: np.ndarray  # 1797 x 10; 0 for integers


@dataclass(frozen=True)
class Outcome:
    """One row of the table."""

    device: Device
    type: ElementType
    tile: tuple[int, int, int]
    seconds: float
    accuracy: float
    error: float
    is_right: bool


def run(on: Sequence[Device]) -> bool:
    """Run the demo on devices, print its table, and return whether every result is right."""
    output = console()
    images, labels = load_digits()
    problems = make_problems(images, labels)
    jobs = list(_jobs(on, problems))
    outcomes = []
    with Progress(console=output, transient=True) as progress:
        task = progress.add_task("classifying digits", total=len(jobs))
        for job in jobs:
            outcomes.append(classify(*job, labels))
            progress.advance(task)
    output.print(_table(outcomes))
    wrong = [outcome for outcome in outcomes if not outcome.is_right]
    for outcome in wrong:
        output.print(f"WRONG: {outcome.device.name} {outcome.type.name} differs by {outcome.error:g}")
    output.print(f"{len(labels)} digits, {len(outcomes)} runs on {len({o.device.name for o in outcomes})} devices: "
                  + (f"{len(wrong)} wrong" if wrong else "all results are right"))
    return not wrong


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """Images (1797×64, values 0 to 16) and labels of the digits; see data/README.md for their origin."""
    with resources.as_file(resources.files("coopmat") / "data" / "digits.npz") as path, np.load(path) as archive:
        return archive["images"], archive["labels"]


def make_problems(images: np.ndarray, labels: np.ndarray) -> list[Problem]:
    """Fit the classifier and state the product to compute, once per element type."""
    inputs = np.column_stack([images, np.full(len(images), 16)]).astype(np.float64)
    targets = np.where(np.arange(10) == labels[:, None], 1.0, -1.0)
    some, goal = inputs[:TRAINING_IMAGES], targets[:TRAINING_IMAGES]
    weights = np.linalg.solve(some.T @ some + RIDGE * np.eye(65), some.T @ goal)
    scale = 127 / np.abs(weights).max()
    return [_problem(ELEMENT_TYPES[0], inputs, np.rint(weights * scale)),
            _problem(ELEMENT_TYPES[1], inputs, weights)]


def _problem(element: ElementType, inputs: np.ndarray, weights: np.ndarray) -> Problem:
    a, b = inputs.astype(element.dtype), weights.astype(element.dtype)
    if element.dtype.kind == "i":
        expected = a.astype(np.int64) @ b.astype(np.int64)
        return Problem(element, a, b, expected, np.zeros(expected.shape))
    exact_a, exact_b = a.astype(np.float64), b.astype(np.float64)
    # 65 products of one sign at most double their rounding errors in any order of summation.
    size_a, size_b = np.abs(exact_a), np.abs(exact_b)
    tolerance = 2 * a.shape[1] * float(np.finfo(element.accumulator_dtype).eps) * (size_a @ size_b)
    # Some devices take subnormal operands for zeros.
    tolerance += float(np.finfo(element.dtype).smallest_normal) * (size_a.sum(1)[:, None] + size_b.sum(0))
    return Problem(element, a, b, exact_a @ exact_b, tolerance)


def _jobs(on: Sequence[Device], problems: list[Problem]) -> Iterator[tuple[Device, Problem, tuple[int, int, int]]]:
    for device in on:
        for problem in problems:
            tile = choose_tile(device, problem.type)
            if tile is not None:
                yield device, problem, tile


def choose_tile(device: Device, element: ElementType) -> tuple[int, int, int] | None:
    """The largest tile (M, N, K) that the device has for this type, rather one that its hardware has; None if it has
    none."""
    if not device.has_matrices:
        return None
    if not device.matrix_combinations:
        return GENERIC_TILE
    wanted = (element.name, element.name, element.accumulator, element.accumulator)
    rows = [row for row in device.matrix_combinations if row.types == wanted]
    best = max(rows, key=lambda row: (row.native, math.prod(row.largest)), default=None)
    return None if best is None else best.largest


def classify(device: Device, problem: Problem, tile: tuple[int, int, int], labels: np.ndarray) -> Outcome:
    """Compute the scores on the device and compare them with what they should be."""
    scores, seconds = multiply(device, problem.images, problem.weights, problem.type, tile)
    difference = np.abs(scores.astype(problem.expected.dtype) - problem.expected)
    accuracy = float(np.mean(scores.argmax(axis=1) == labels))
    return Outcome(device, problem.type, tile, seconds, accuracy, float(difference.max()),
                   bool(np.all(difference <= problem.tolerance)))


def multiply(device: Device, a: np.ndarray, b: np.ndarray, element: ElementType,
             tile: tuple[int, int, int]) -> tuple[np.ndarray, float]:
    """``a @ b`` by examples/gemm.cl: pad to whole tiles, run, cut the padding off. Also the run's seconds."""
    tm, tn, tk = tile
    m, n = a.shape[0], b.shape[1]
    padded_a, padded_b = _pad(a, tm, tk), _pad(b, tk, tn)
    c = np.zeros((padded_a.shape[0], padded_b.shape[1]), element.accumulator_dtype)
    program = build(_gemm_source(), (f"-DTM={tm}", f"-DTN={tn}", f"-DTK={tk}", f"-DIN={element.c_type}",
                                     f"-DOUT={element.c_accumulator}", f"-DFLAGS={element.flags}"), device)
    size = device.sub_group_sizes[0]
    grid = (c.shape[1] // tn * size, c.shape[0] // tm)
    event = Queue(device).enqueue(program.kernel("gemm"), grid, (size, 1), padded_a, padded_b, c,
                                  c.shape[1], padded_a.shape[1]).wait()
    return c[:m, :n], event.elapsed


def _pad(matrix: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """``matrix`` with zeros below and to the right, up to multiples of ``rows`` and ``columns``."""
    return np.pad(matrix, [(0, -matrix.shape[0] % rows), (0, -matrix.shape[1] % columns)])


def _gemm_source() -> str:
    return (resources.files("coopmat") / "examples" / "gemm.cl").read_text()


def _table(outcomes: list[Outcome]) -> Table:
    result = table("device", "architecture", "combination", "time", "accuracy", "bit for bit",
                   title="1,797 handwritten digits: a product of 1797×65 by 65×10")
    for row in outcomes:
        verdict = "yes" if row.error == 0 else "no"
        if row.type.dtype.kind == "f":
            verdict = f"error {row.error:.0e}"
        result.add_row(row.device.name, row.device.architecture, f"{row.type.name} {'×'.join(map(str, row.tile))}",
                       f"{row.seconds * 1e3:.1f} ms", f"{row.accuracy:.2%}", verdict)
    return result
