"""Kernels as people write them, numbers for them, and what computes the same elsewhere: the jobs of cpu_kernels.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import coopmat as cm

HERE = Path(__file__).parent / "kernels"
EXAMPLES = Path(__file__).parent.parent / "examples"
SUB_GROUP = 16


@dataclass(frozen=True)
class Job:
    """What is timed. run: launches kernels and waits; peers: by name, what the same takes elsewhere; error: how far the
    result is off, beside the largest number of it; allowed: how far it may be. floor: the ratio to reach. operations;
    traffic: bytes, if each array is read or written once; both 0 where nobody counted."""

    name: str
    run: Callable[[], object]
    peers: dict[str, Callable[[], object]]
    error: Callable[[], float]
    allowed: float
    floor: float
    operations: float = 0.0
    traffic: int = 0


Making = Callable[[], Job]
"""Builds what a job needs: a device may refuse it."""


@dataclass(frozen=True)
class Elements:
    """Types of a product: of A and B in OpenCL C, numpy and torch (by name), of sums; K of a tile; signed operands."""

    name: str
    source: str
    dtype: Any
    sums: str
    sums_dtype: Any
    depth: int
    flags: int = 0
    torch: str = ""

    def random(self, rng: np.random.Generator, *shape: int) -> np.ndarray:
        """Random numbers: all integers, or standard normal ones."""
        if np.dtype(self.sums_dtype).kind == "i":
            return rng.integers(-128, 128, shape, np.int8)
        return rng.standard_normal(shape, np.float32).astype(self.dtype)

    def options(self, m: int, n: int, k: int) -> list[str]:
        """Options of a build, for a tile."""
        return [f"-DIN={self.source}", f"-DOUT={self.sums}", f"-DFLAGS={self.flags}", f"-DTM={m}", f"-DTN={n}",
                f"-DTK={k}"]


BF16 = Elements("bf16", "__bf16", ml_dtypes.bfloat16, "float", np.float32, 32, torch="bfloat16")
INT8 = Elements("int8", "char", np.int8, "int", np.int32, 64, flags=15, torch="int8")
FP16 = Elements("fp16", "half", np.float16, "float", np.float32, 16, torch="float16")
FP32 = Elements("fp32", "float", np.float32, "float", np.float32, 16, torch="float32")


@dataclass(frozen=True)
class Form:
    """How a product is written: rows and columns of a matrix, how many of them a sub-group has, options. floors: the
    ratio to reach by type. items: work-items of a work-group."""

    name: str
    tile: tuple[int, int]
    blocks: tuple[int, int]
    floors: dict[str, float]
    options: tuple[str, ...] = ()
    items: int = SUB_GROUP

    @property
    def by_columns(self) -> tuple[bool, bool]:
        """Whether A and B are stored by columns."""
        return "-DA_COLUMNS" in self.options, "-DB_COLUMNS" in self.options


SIMPLEST = {"bf16": 0.8, "int8": 0.8, "fp16": 0.9, "fp32": 0.7}
BLOCKED = {"bf16": 1.0, "int8": 1.0, "fp16": 0.9, "fp32": 0.7}
FORMS = (
    Form("one 16x16 tile", (16, 16), (1, 1), SIMPLEST),
    Form("2x2 tiles, B by rows", (16, 16), (2, 2), BLOCKED),
    Form("4x4 tiles", (16, 16), (4, 4), {**BLOCKED, "bf16": 0.9, "int8": 0.9}),
    Form("one 32x32 matrix", (32, 32), (1, 1), BLOCKED),
    Form("one 64x64 matrix", (64, 64), (1, 1), BLOCKED),
    Form("A by columns", (16, 16), (1, 1), SIMPLEST, ("-DA_COLUMNS",)),
    Form("B by columns", (16, 16), (1, 1), SIMPLEST, ("-DB_COLUMNS",)),
    Form("A and B by columns", (16, 16), (2, 2), SIMPLEST, ("-DA_COLUMNS", "-DB_COLUMNS")),
    Form("one 128x256 matrix a work-group", (128, 256), (1, 1), BLOCKED, ("-DSCOPE=WORKGROUP",),
         items=256),
)


def thin_forms(rows: int) -> Iterator[Form]:
    """Products whose tiles have so many rows."""
    for name, options in (("B by rows", ()), ("B by columns", ("-DB_COLUMNS",))):
        yield Form(name, (rows, 16), (1, 1), dict.fromkeys(SIMPLEST, 0.6), options)


ENDS: dict[str, tuple[str, Callable[..., np.ndarray]]] = {
    "bias and ReLU": ("s[i] = fmax(s[i] + bias[column], 0.f)", lambda s, bias, residual: np.maximum(s + bias, 0)),
    "GELU by tanh": ("s[i] = 0.5f * s[i] * (1 + tanh(0.797885f * (s[i] + 0.044715f * s[i] * s[i] * s[i])))",
                     lambda s, bias, residual: 0.5 * s * (1 + np.tanh(0.797885 * (s + 0.044715 * s**3)))),
    "residual": ("s[i] += residual[(size_t)row * N + column]", lambda s, bias, residual: s + residual),
}
"""What is done to the sums of a product → in OpenCL C, and in numpy."""


@dataclass
class Jobs:
    """Makes jobs for a queue."""

    queue: cm.Queue
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    # --- products ---------------------------------------------------------------------------

    def products(self, size: int) -> Iterator[Making]:
        """Square products in all forms and types."""
        for elements in (BF16, INT8, FP16, FP32):
            for form in FORMS:
                yield partial(self.product, elements, form, size)

    def thin_products(self, size: int = 2048) -> Iterator[Making]:
        """Products of few rows, as of a batch that is decoded: all of B is taken once."""
        for elements in (BF16, INT8, FP16, FP32):
            for rows in (1, 4, 16, 32):
                for form in thin_forms(min(rows, 16)):
                    yield partial(self.product, elements, form, size, rows)

    def product(self, elements: Elements, form: Form, size: int, rows: int = 0) -> Job:
        """A square product, or one of so many rows, beside torch's oneDNN and, of floats, numpy's BLAS."""
        name, rows = f"{elements.name} {f'{rows}x{size}x{size}' if rows else f'{size}³'}, {form.name}", rows or size
        a = elements.random(self.rng, *((size, rows) if form.by_columns[0] else (rows, size)))
        b = elements.random(self.rng, size, size)
        c = np.zeros((rows, size), elements.sums_dtype)
        (m, n), (down, across) = form.tile, form.blocks
        options = [*elements.options(m, n, elements.depth), f"-DRM={down}", f"-DRN={across}", f"-DITEMS={form.items}",
                   *form.options]
        kernel = self._built(HERE / "gemm.cl", options, "gemm")
        run = self.launch(kernel, (size // (n * across) * form.items, rows // (m * down)), (form.items, 1), a, b, c,
                           *map(np.int32, (rows, size, size)))
        left, right = (x.T if turned else x for x, turned in zip((a, b), form.by_columns, strict=True))
        peers: dict[str, Callable[[], object]] = torch_product(elements, left, right)
        if elements is FP32:
            product = left @ right
            peers["numpy"] = lambda: np.matmul(left, right, out=product)
        return Job(name, run, peers, lambda: error_of_product(c, left, right), 0.0 if elements is INT8 else 1e-5,
                   form.floors[elements.name], 2.0 * rows * size**2, _bytes(a, b, c))

    # --- others -----------------------------------------------------------------------------

    def others(self) -> Iterator[Making]:
        """Everything that is no plain product."""
        for elements in (BF16, FP16):
            for end in ENDS:
                yield partial(self.epilogue, elements, end, 1024)
        for elements in (FP16, BF16):
            for causal in (False, True):
                yield partial(self.attention, elements, causal=causal)
        yield partial(self.convolution, 56, 64, 64)
        yield partial(self.convolution, 28, 32, 128)
        yield partial(self.weights_of_four_bits, 256, 2)
        yield partial(self.weights_of_four_bits, 16, 1)
        for elements in (FP32, FP16, BF16):
            yield partial(self.batched, elements, 4096)
            yield partial(self.split_k, elements, 128, 16384, 8)
        yield partial(self.cholesky, 1024, 64)
        yield partial(self.fourier, 64)

    def attention(self, elements: Elements, *, causal: bool, heads: int = 8, rows: int = 1024, width: int = 64) -> Job:
        """examples/flash_attention.cl, beside numpy in fp32."""
        q, k, v = (elements.random(self.rng, heads, rows, width) for _ in range(3))
        out, scale = np.zeros((heads, rows, width), np.float32), np.float32(width**-0.5)
        options = ["-DTM=16", "-DTN=16", f"-DD={width}", f"-DIN={elements.source}", *(["-DCAUSAL"] if causal else [])]
        kernel = self._built(EXAMPLES / "flash_attention.cl", options, "flash_attention")
        run = self.launch(kernel, (rows // 16 * SUB_GROUP, heads), (SUB_GROUP, 1), q, k, v, out, np.int32(rows), scale)
        wide = [one.astype(np.float32) for one in (q, k, v)]
        mask = np.triu(np.full((rows, rows), -np.inf, np.float32), 1)

        def peer() -> np.ndarray:
            scores = wide[0] @ wide[1].transpose(0, 2, 1) * scale
            if causal:
                scores = scores + mask
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            return weights / weights.sum(-1, keepdims=True) @ wide[2]

        name = f"attention {heads}x{rows}x{width}, {elements.name}{', causal' if causal else ''}"
        operations = 4.0 * heads * rows * rows * width / (2 if causal else 1)
        return Job(name, run, {"numpy": peer}, lambda: _relative(out, peer()), 1e-2 if elements is BF16 else 2e-3, 2.0,
                   operations, _bytes(q, k, v, out))

    def convolution(self, height: int, width: int, channels: int) -> Job:
        """examples/convolution.cl, 3 by 3, beside im2col and matmul of numpy."""
        image = np.zeros((height + 2, width + 2, channels), np.float16)
        image[1:-1, 1:-1] = FP16.random(self.rng, height, width, channels)
        filters = (FP16.random(self.rng, 3, 3, channels, channels) / 24).astype(np.float16)
        bias, out = FP32.random(self.rng, channels), np.zeros((height, width, channels), np.float32)
        kernel = self._built(EXAMPLES / "convolution.cl", ["-DTM=16", "-DTN=16", "-DTK=16"], "convolution")
        run = self.launch(kernel, (channels // 16 * SUB_GROUP, width // 16, height), (SUB_GROUP, 1, 1), image, filters,
                           bias, out, *map(np.int32, (width, channels, channels)))
        wide, flat = image.astype(np.float32), filters.astype(np.float32).reshape(9 * channels, channels)

        def peer() -> np.ndarray:
            windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(0, 1)).transpose(0, 1, 3, 4, 2)
            columns = windows.reshape(height * width, 9 * channels)
            return np.maximum(columns @ flat + bias, 0).reshape(out.shape)

        return Job(f"convolution {height}x{width}x{channels}, fp16", run, {"numpy": peer},
                   lambda: _relative(out, peer()), 1e-5, 1.0, 18.0 * height * width * channels**2,
                   _bytes(image, filters, bias, out))

    def weights_of_four_bits(self, rows: int, tiles: int, size: int = 1024, group: int = 32) -> Job:
        """examples/gemm_w4a16.cl, beside numpy that unpacks and multiplies in fp32."""
        a = FP16.random(self.rng, rows, size)
        packed = self.rng.integers(0, 2**32, (size // 8, size), np.uint32)
        scale = (self.rng.random((size // group, size)) / 8).astype(np.float16)
        c = np.zeros((rows, size), np.float32)
        options = ["-DTM=16", "-DTN=16", "-DTK=16", f"-DMM={tiles}", f"-DGROUP={group}"]
        kernel = self._built(EXAMPLES / "gemm_w4a16.cl", options, "gemm")
        run = self.launch(kernel, (size // 16 * SUB_GROUP, rows // (16 * tiles)), (SUB_GROUP, 1), a, packed, scale, c,
                           np.int32(size), np.int32(size))
        wide, scales = a.astype(np.float32), scale.astype(np.float32)
        shifts = 4 * np.arange(8, dtype=np.uint32)[None, :, None]

        def peer() -> np.ndarray:
            weights = ((packed[:, None, :] >> shifts) & 15).astype(np.float32) - 8
            return wide @ (weights.reshape(-1, group, size) * scales[:, None]).reshape(size, size)

        return Job(f"w4a16 {rows}x{size}x{size}", run, {"numpy": peer}, lambda: _relative(c, peer()), 2e-3, 1.0,
                   2.0 * rows * size**2, _bytes(a, packed, scale, c))

    def batched(self, elements: Elements, count: int) -> Job:
        """Many products of 16 by 16."""
        a, b = (elements.random(self.rng, count, 16, 16) for _ in range(2))
        c = np.zeros((count, 16, 16), np.float32)
        kernel = self._built(HERE / "batched.cl", elements.options(16, 16, 16), "batched")
        run = self.launch(kernel, (count * SUB_GROUP,), (SUB_GROUP,), a, b, c)
        wide = [one.astype(np.float32) for one in (a, b)]
        return Job(f"{count} products 16³, {elements.name}", run, {"numpy": lambda: wide[0] @ wide[1]},
                   lambda: _relative(c, wide[0] @ wide[1]), 1e-5, 1.0, 2.0 * count * 16**3, _bytes(a, b, c))

    def epilogue(self, elements: Elements, end: str, size: int) -> Job:
        """A square product that a loop over components finishes, beside the same without one."""
        a, b = (elements.random(self.rng, size, size) for _ in range(2))
        bias, residual = (self.rng.standard_normal(shape, np.float32) for shape in (size, (size, size)))
        text, expected = ENDS[end]
        found = []
        for options in (["-DEND=" + text.replace(" ", "")], []):
            c = np.zeros((size, size), np.float32)
            kernel = self._built(HERE / "epilogue.cl", [f"-DIN={elements.source}", f"-DTK={elements.depth}", *options],
                                 "gemm")
            found.append((self.launch(kernel, (size, size // 16), (SUB_GROUP, 1), a, b, c, bias, residual,
                                       *map(np.int32, (size, size))), c))
        (run, c), (plain, _) = found
        wide = a.astype(np.float64) @ b.astype(np.float64)
        return Job(f"{elements.name} {size}³, {end}", run, {"without": plain},
                   lambda: _relative(c, expected(wide, bias, residual)), 1e-5, 0.85, 2.0 * size**3,
                   _bytes(a, b, c))

    def split_k(self, elements: Elements, size: int, depth: int, parts: int) -> Job:
        """A product of a long K in parts, and their sum."""
        a, b = elements.random(self.rng, size, depth), elements.random(self.rng, depth, size)
        found, c = np.zeros((parts, size, size), np.float32), np.zeros((size, size), np.float32)
        program = cm.build(HERE / "split_k.cl", elements.options(16, 16, elements.depth), self.queue.device)
        multiply = self.launch(program.kernel("multiply"), (size, size // 16, parts), (SUB_GROUP, 1, 1), a, b, found,
                                *map(np.int32, (size, size, depth, depth // parts)))
        add = self.launch(program.kernel("add"), (size * size,), (256,), found, c, np.int32(size * size),
                           np.int32(parts))
        wide = [one.astype(np.float32) for one in (a, b)]

        def run() -> None:
            multiply()
            add()

        return Job(f"split K {size}x{size}x{depth}, {elements.name}", run, {"numpy": lambda: wide[0] @ wide[1]},
                   lambda: _relative(c, wide[0] @ wide[1]), 1e-5, 1.0, 2.0 * size**2 * depth, _bytes(a, b, c))

    def cholesky(self, size: int, block: int) -> Job:
        """A = L * transpose(L) in fp64, block by block, beside LAPACK."""
        program = cm.build(HERE / "cholesky.cl", [f"-DNB={block}"], self.queue.device)
        factor, solve, update = map(program.kernel, ("factor", "solve", "update"))
        x = self.rng.standard_normal((size, size))
        given = x @ x.T + size * np.eye(size)
        a = given.copy()

        def run() -> None:
            a[:] = given
            for first in range(0, size, block):
                sizes, rest = (np.int32(size), np.int32(first)), size - first - block
                self.queue.enqueue(factor, (64,), (64,), a, *sizes)
                if rest:
                    self.queue.enqueue(solve, (rest,), (SUB_GROUP,), a, *sizes)
                    self.queue.enqueue(update, (rest, rest // 16), (SUB_GROUP, 1), a, *sizes)
            self.queue.wait()

        return Job(f"Cholesky {size}, fp64", run, {"numpy": lambda: np.linalg.cholesky(given)},
                   lambda: _relative(np.tril(a), np.linalg.cholesky(given)), 1e-12, 1.0)

    def fourier(self, count: int) -> Job:
        """Transforms of 4096 complex numbers as products, beside numpy's in single precision."""
        kernel = self._built(HERE / "fft.cl", [], "round_of_16")
        x = (self.rng.standard_normal((count, 4096, 2), np.float32)).view(np.complex64)[..., 0]
        number, sixteen = np.arange(4096), np.arange(16)
        root = _parts(np.exp(-2j * np.pi * np.outer(sixteen, sixteen) / 16))
        twiddles = {stride: _parts(np.exp(-2j * np.pi * (number // stride % 16) * (number % stride) / (16 * stride)))
                    for stride in (256, 16, 1)}
        real, imaginary = _parts(x)
        given = real.copy(), imaginary.copy()

        def run() -> None:
            real[:], imaginary[:] = given
            for stride, powers in twiddles.items():
                self.queue.enqueue(kernel, (256, count), (SUB_GROUP, 1), real, imaginary, root, powers,
                                   np.int32(stride))
            self.queue.wait()

        order = number % 16 * 256 + number // 16 % 16 * 16 + number // 256
        return Job(f"{count} Fourier transforms of 4096", run, {"numpy": lambda: np.fft.fft(x)},
                   lambda: _relative((real + 1j * imaginary)[:, order], np.fft.fft(x)), 1e-5, 1.0)

    # --- helpers ----------------------------------------------------------------------------

    def _built(self, source: Path, options: list[str], kernel: str) -> cm.Kernel:
        return cm.build(source, options, self.queue.device).kernel(kernel)

    def launch(self, kernel: cm.Kernel, *sizes_and_arguments: Any) -> Callable[[], None]:
        """A launch that is waited for."""
        return partial(_waited, self.queue, kernel, *sizes_and_arguments)


def _waited(queue: cm.Queue, kernel: cm.Kernel, *sizes_and_arguments: Any) -> None:
    queue.enqueue(kernel, *sizes_and_arguments).wait()


def _parts(numbers: np.ndarray) -> np.ndarray:
    """Real and imaginary parts, one behind the other."""
    return np.stack([numbers.real, numbers.imag]).astype(np.float32)


def torch_product(elements: Elements, a: np.ndarray, b: np.ndarray) -> dict[str, Callable[[], object]]:
    """A product of PyTorch, where it is installed."""
    try:
        import torch
    except ImportError:
        return {}
    bits = np.int16 if elements.dtype is ml_dtypes.bfloat16 else elements.dtype
    left, right = (torch.from_numpy(one.view(bits)).view(getattr(torch, elements.torch)) for one in (a, b))
    multiply = torch._int_mm if elements is INT8 else torch.mm
    product = multiply(left, right)  # memory for others: what a new array takes is no part of a product
    return {"torch": lambda: multiply(left, right, out=product)}


def _bytes(*arrays: np.ndarray) -> int:
    return sum(one.nbytes for one in arrays)


def _relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def error_of_product(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Of some rows, beside exact sums."""
    wide = np.int64 if c.dtype.kind == "i" else np.float64
    rows = slice(0, None, max(1, len(c) // 64))
    return _relative(c[rows].astype(wide), a[rows].astype(wide) @ b.astype(wide))
