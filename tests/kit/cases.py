"""The test kernels and examples with their launches and references: one table for every test that runs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import coopmat as cm
from tests.kit.paths import EXAMPLES, ROOT

KERNELS = ROOT / "tests" / "kernels"
SUB_GROUP = 16  # of sim:generic
OF_MATRICES = ("matrices", "gemm", "gemm_blocked", "scale_rows", "flash_attention", "gemm_quantized", "convolution",
               "gemm_w4a16")
"""Files whose kernels have matrices, and require no size of sub-groups: their work-groups are sub-groups of 16."""

Arguments = list[Any]


@dataclass(frozen=True)
class Case:
    """One launch. ``arguments`` makes random arguments; ``expected`` gives {argument index: result}, and
    ``printed`` the lines that appear, in any order."""

    source: Path
    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: Callable[[np.random.Generator], Arguments]
    expected: Callable[[Arguments], dict[int, np.ndarray]]
    options: tuple[str, ...] = ()
    printed: Callable[[Arguments], list[str]] = lambda arguments: []

    @property
    def name(self) -> str:
        return f"{self.source.stem}-{self.kernel}"

    def for_sub_groups_of(self, size: int) -> Case:
        """The case on a device whose sub-groups have another size, where its launch counts on SUB_GROUP."""
        if self.source.stem not in OF_MATRICES:
            return self
        across, local = (sizes[0] * size // SUB_GROUP for sizes in (self.global_size, self.local_size))
        return replace(self, global_size=(across, *self.global_size[1:]), local_size=(local, *self.local_size[1:]))

    def run(self, program: cm.Program, device: cm.Device, arguments: Arguments) -> None:
        """Launch on ``device``; the results are in ``arguments`` afterwards."""
        cm.Queue(device).enqueue(program.kernel(self.kernel), self.global_size, self.local_size, *arguments).wait()


def copies(arguments: Arguments) -> Arguments:
    """The same arguments with arrays of their own."""
    return [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]


# --------------------------------------------------------------------------- control.cl


def _collatz(n: int) -> int:
    count = 0
    while n != 1:
        n = 3 * n + 1 if n & 1 else n // 2
        count += 1
        if count >= 1000:
            break
    return count


def _classify(x: int) -> int:
    remainder = int(np.fmod(x, 7))
    if remainder == 0:
        return 100
    if remainder in (1, 2, 3):
        return (x + 10 if remainder != 3 else x) * 2
    return (-x if remainder == -1 else x) - 5


def _loops(item: int, n: int) -> int:
    total = 0
    for i in range(n):
        if i == item:
            continue
        j = i
        while True:
            total += j * (item + 1)
            if total > 100000:
                return total
            j -= 3
            if j <= 0:
                break
    return total


def _early_return(old: int, value: int, item: int) -> int:
    if value < 0:
        return old
    return value if (value > 10 and value & 1) or item == 3 else value + 1000


def _duff(count: int) -> int:
    total, n, step = 0, (count + 3) // 4, count % 4
    entry = {0: 0, 3: 1, 2: 2, 1: 3}[step]
    while True:
        total += sum((1, 10, 100, 1000)[entry:])
        entry, n = 0, n - 1
        if n <= 0:
            return total


def _each(function: Callable[..., int], *columns: Any) -> np.ndarray:
    return np.array([function(*row) for row in zip(*columns, strict=True)], np.int32)


# ---------------------------------------------------------------------------- memory.cl

PARTICLE = np.dtype({"names": ["tag", "position", "counts"], "formats": ["i1", ("f4", 4), ("i4", 3)],
                     "offsets": [0, 16, 32], "itemsize": 48})
PRIMES = np.array([[2, 3, 5, 7], [11, 13, 17, 19]])


def _particles(rng: np.random.Generator) -> Arguments:
    particles = np.zeros(32, PARTICLE)
    particles["position"] = rng.integers(-100, 100, (32, 4))
    particles["counts"] = rng.integers(0, 100, (32, 3))
    return [particles, np.zeros(32, np.float32)]


def _structures(arguments: Arguments) -> dict[int, np.ndarray]:
    particles = arguments[0].copy()
    for item, particle in enumerate(particles):
        for index in range(item, item + 5):
            particle["counts"][index % 3] += PRIMES[index & 1, index & 3]
        particle["position"][1:3] = particle["position"][2:0:-1]
        particle["tag"] ^= 1
    norms = particles["position"][:, :3] @ np.array([1, 2, 4], np.float32)
    return {0: particles, 1: norms.astype(np.float32)}


def _private_array(item: int, n: int) -> int:
    ring = [1, 1, 0, 0, 0, 0, 0, 0]
    for i in range(2, n):
        ring[i % 8] = int(np.int64(ring[(i - 1) % 8] + ring[(i - 2) % 8] * (item + 1)).astype(np.int32))
    return ring[(n - 1) % 8] + (n - 1) % 8


# ---------------------------------------------------------------------- async_copies.cl


def _pipeline(arguments: Arguments) -> dict[int, np.ndarray]:
    _, data, tiles, _ = arguments
    n = 32
    groups = data.reshape(-1, tiles, n)
    lanes = np.arange(n)
    sums = [sum(groups[:, i, (lanes + i) % n] * (i + 1) for i in range(tiles))]
    return {0: np.concatenate(sums).ravel()}


def _shared_event(arguments: Arguments) -> dict[int, np.ndarray]:
    _, data, every, _ = arguments
    picked = [data[i::every][:24] for i in range(every)]
    return {0: np.concatenate([np.tile(part, 2) for part in picked])}


# --------------------------------------------------------------------------- vectors.cl


def _swizzles(arguments: Arguments) -> dict[int, np.ndarray]:
    source = arguments[1]
    v, x, z = source.copy(), source[:, 0], source[:, 2]
    v[:, 3], v[:, 1] = source[:, 0], source[:, 1]
    v[:, 2] += 1
    v[:, 3] += z
    v[:, [0, 2]] *= 2
    return {0: np.stack([v[:, 3], v[:, 2], v[:, 1], x], axis=1) - v}


def _conversions(arguments: Arguments) -> dict[int, np.ndarray]:
    floats, data = arguments[1].astype(np.float64), arguments[2]
    nearest = np.rint(floats).astype(np.int64)
    saturated = np.clip(np.trunc(floats), 0, 255).astype(np.int64)
    return {0: (nearest + data.view(np.int8).astype(np.int64) * saturated).astype(np.int32)}


def _comparisons(arguments: Arguments) -> dict[int, np.ndarray]:
    a, b = arguments[1], arguments[2]
    less = -(a < b).astype(np.int32)
    chosen = np.where(less, a, b)
    picked = np.where(chosen > 1, -chosen, chosen)
    per_vector = 16 * less.any(axis=1) + 32 * less.all(axis=1)
    return {0: (less - 2 * np.isnan(a) + per_vector[:, None] + np.trunc(picked)).astype(np.int32)}


def _integers(arguments: Arguments) -> dict[int, np.ndarray]:
    def one(a: int, b: int) -> int:
        unsigned_a, turn = a & 0xFFFFFFFF, b & 31
        total = (a * b) >> 32
        total += max(-(2**31), min(2**31 - 1, a + b)) + abs(a - b)
        total ^= (unsigned_a << turn | unsigned_a >> (32 - turn)) & 0xFFFFFFFF
        small = bin(unsigned_a).count("1") + 32 - (b & 0xFFFFFFFF).bit_length()
        total += (small + (unsigned_a >> (b & 31)) + (a >> 3)) & 0xFFFFFFFF
        largest = max(a, b)
        remainder = abs(largest) % 1000 * (1 if largest >= 0 else -1)
        total += remainder - (a & 255) + ((b + 128 & 255) - 128)
        return (total + 2**63) % 2**64 - 2**63

    return {0: np.array([one(int(a), int(b)) for a, b in zip(arguments[1], arguments[2], strict=True)], np.int64)}


def _dynamic_components(item: int, n: int) -> int:
    v = list(range(8))
    for i in range(n):
        v[(item + i) & 7] += v[i & 7] * item
    return v[0] + v[3] * 3 + v[item & 7]


# ------------------------------------------------------------------------- overloads.cl


def _overloads(arguments: Arguments) -> dict[int, np.ndarray]:
    _, source, n = arguments
    rows = []
    for index, value in enumerate(source.tolist()):
        x, local = int(np.fmod(value, 100)), index % 16
        rows.append([2 * x * x + 3 * x - x, 9 + 4 * x * x,
                     2 * value + 3 * x + 5 * x + 5 * (x + local + n),
                     max(x, local, n) + max(x, local, n, 7) + 2 * min(x, local) + max(3, local) + 1000])
    return {0: np.array(rows).astype(np.int32)}


# ------------------------------------------------------------------------ extensions.cl


def _statement_expressions(arguments: Arguments) -> dict[int, np.ndarray]:
    values, n = arguments[1].tolist(), arguments[2]
    total = 0
    for i in range(n):
        x = values[i]
        if x < -90:
            continue
        total += {0: x + 5, 1: -x}.get(x & 3, x)
        total = max(total, i * 3, -100) or i + 1
    return {0: np.array([total + (value or 1000) for value in values], np.int32)}


def _constant_addresses(item: int) -> int:
    numbers = [4, 4, 4, 0, 0, 9, 7, 3]
    name, values, word = (("f", numbers[:3], "one"), ("o", numbers[5:7], "three"), ("\0", [], "seven"))[item % 3]
    total = sum(values)
    for letter in word:
        total = int(np.int64(total * 3 + ord(letter)).astype(np.int32))
    return total + ord(name)


def _layouts(arguments: Arguments) -> dict[int, np.ndarray]:
    octets = arguments[0].copy()
    for offset, dtype, value in ((1, "<i4", 0x01020304), (8, "<i2", 0x0506), (10, "u1", 200), (16, "<i4", 0x141618),
                                 (33, "<i4", -2)):
        raw = np.array([value], dtype).view(np.uint8)
        octets[offset:offset + len(raw)] = raw
    numbers = [16, 10 - 5, 0xFFFFFFFF + 1, -1, 20, len("layouts") + 1 + ord("l")]
    return {0: octets, 1: np.array(numbers, np.int64)}


# -------------------------------------------------------------------------- matrices.cl


def _operators(arguments: Arguments) -> dict[int, np.ndarray]:
    _, source, scale = arguments
    scale = np.float32(scale)
    a, b = source[:128].reshape(8, 16), source[128:].reshape(16, 8).T
    c = -(a * b - a / b) + a * scale
    return {0: ((c + scale * b) * np.float32(2)).ravel()}


def _control(arguments: Arguments) -> dict[int, np.ndarray]:
    _, source, n = arguments
    total = np.zeros(128, np.float32)
    for i in range(n):
        part = source[128 * i: 128 * (i + 1)]
        total = total + part if i & 1 else total - part
    return {0: np.tile(total, 2)}


def _shared_b(arguments: Arguments) -> dict[int, np.ndarray]:
    c, a, b = (value.astype(np.int64) for value in arguments)
    product = a.reshape(16, 32) @ b.reshape(32, 16)
    info = np.iinfo(np.int32)
    return {0: np.clip(product + c.reshape(16, 16), info.min, info.max).astype(np.int32).ravel()}


def _gemm(arguments: Arguments) -> dict[int, np.ndarray]:
    return {2: arguments[0].astype(np.int32) @ arguments[1].astype(np.int32)}


def _packed_b(arguments: Arguments) -> dict[int, np.ndarray]:
    """Bytes in words, as dot_products.cl and the packed kernels of matrix_int8.cl take them."""
    a, b, c, n, _ = arguments
    rows = b.view(np.int8).reshape(-1, n, 4).transpose(0, 2, 1).reshape(-1, n)
    return {2: c + a.view(np.int8).astype(np.int32) @ rows}


def _bytes_as_words(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return rng.integers(-128, 128, (rows, 4 * columns), np.int8).view(np.uint32)


def _small_bf16(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-9, 10, shape).astype(ml_dtypes.bfloat16).view(np.uint16)


def _bf16_product(arguments: Arguments) -> dict[int, np.ndarray]:
    a, b = (value.view(ml_dtypes.bfloat16).astype(np.float32) for value in arguments[:2])
    return {2: a @ b}


def _product(rng: np.random.Generator, m: int, n: int, k: int, dtype: type, *sizes: int,
             is_packed: bool = False) -> Arguments:
    """A, B, C and ``sizes`` for the kernels gemm*.cl. Products of small whole numbers: exact in every type."""
    a, b = (rng.integers(-9, 10, shape).astype(dtype) for shape in ((m, k), (k, n)))
    together = 4 // b.itemsize if is_packed else 1
    b = np.ascontiguousarray(b.reshape(k // together, together, n).swapaxes(1, 2)) if is_packed else b
    return [a, b.reshape(k, n), np.zeros((m, n), np.int32 if dtype is np.int8 else np.float32), *sizes]


def _matrix_product(arguments: Arguments) -> dict[int, np.ndarray]:
    a, b, c, *_ = arguments
    return {2: (a.astype(np.float64) @ b.astype(np.float64)).astype(c.dtype)}


def _product_of_packed(arguments: Arguments) -> dict[int, np.ndarray]:
    a, b, *others = arguments
    k, n = b.shape
    together = 4 // b.itemsize
    rows = b.reshape(k // together, n, together).swapaxes(1, 2).reshape(k, n)
    return _matrix_product([a, rows, *others])


BF16_ELEMENTS = ("-DIN=__bf16", "-DOUT=float", "-DTK=32")


# ------------------------------------------------------------------------- printing.cl


def _nothing(arguments: Arguments) -> dict[int, np.ndarray]:
    return {}


def _hexadecimal(x: float) -> str:
    return re.sub(r"\.?0*p", "p", x.hex())


def _scalars(arguments: Arguments) -> list[str]:
    lines = []
    for i, (n, x) in enumerate(zip(arguments[0].tolist(), arguments[1].tolist(), strict=True)):
        u, wide = n & 0xFFFFFFFF, n * 1000003
        short = (n + 2**15) % 2**16 - 2**15
        lines += [f"{n}|{n:7d}|{n:<7d}|{n:+d}|{n:07d}|{'-' * (n < 0)}{abs(n):04d}|{n: d}",
                  f"{u} {u:x} {u:#X} {u:o} {n & 255} {short} {chr(97 + i % 26)}z",
                  f"{wide} {wide % 2**64} {wide % 2**64:#x}",
                  f"{x:f} {x:.2f} {x:12.3e} {x:<9g}| {x:G}",
                  f"{_hexadecimal(x)} {_rounded_hexadecimal(x)}",
                  f"{x > 0:d} {n != 0:d} {x / 2:f}%"]
    return lines


def _rounded_hexadecimal(x: float) -> str:
    """One hexadecimal digit behind the point."""
    fraction, exponent = np.frexp(abs(x))
    sixteenths = int(np.rint(float(fraction) * 32))
    return f"{'-' * (x < 0)}0X{sixteenths // 16:X}.{sixteenths % 16:X}P{int(exponent) - 1:+d}"


def _components(arguments: Arguments) -> list[str]:
    def joined(values: Iterable[Any], spec: str = "d") -> str:
        return ",".join(format(value, spec) for value in values)

    lines = []
    for n, x in zip(arguments[0].tolist(), arguments[1].tolist(), strict=True):
        chars, shorts = np.array(n).astype(np.int8).tolist(), np.array(n).astype(np.int16).tolist()
        lines += [f"{joined(n)} {joined((value & 0xFFFFFFFF for value in n), '#x')}",
                  f"{joined(x[:2], 'f')} {joined(x, '+g')} {joined(x[:3], '8.2e')}",
                  f"{joined(chars)} {joined(value & 255 for value in n)} {joined(shorts)}",
                  f"{joined([*(value * 100000 for value in n), *n])} {joined(x[2:], 'f')}"]
    return lines


def _choices(arguments: Arguments) -> list[str]:
    lines = []
    for i, value in enumerate(arguments[0].tolist()):
        lines += [f"{i} is {'odd' if value & 1 else 'even'}: {value}", f"item {i} has {value}"]
        if value < 0:
            lines.append(f"item {i}, negative, neg")
            continue
        lines += [f"item {i}, step {step} of {value % 4}{'' if step else ' (the first)'}" for step in range(value % 4)]
        lines.append(f"item {i} done")
    return lines


def _floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def _ints(rng: np.random.Generator, low: int, high: int, *shape: int) -> np.ndarray:
    return rng.integers(low, high, shape, dtype=np.int32)


# ------------------------------------------------------------------- flash_attention.cl


def _attention_arguments(rng: np.random.Generator, heads: int, length: int, depth: int, dtype: Any) -> Arguments:
    """Each query asks for one component of the keys, which is 0 or so small that its exponential is none: so weights
    are 0 or 1, and sums exact."""
    queries = np.eye(depth)[rng.integers(0, depth, (heads, length))].astype(dtype)
    keys = np.where(rng.integers(0, 3, (heads, length, depth)) > 0, 0, -1024).astype(dtype)
    values = rng.integers(-8, 9, (heads, length, depth)).astype(dtype)
    return [queries, keys, values, np.zeros((heads, length, depth), np.float32), length, np.float32(0.5)]


def _attention(arguments: Arguments, is_causal: bool) -> dict[int, np.ndarray]:
    queries, keys, values = (array.astype(np.float64) for array in arguments[:3])
    scores = queries @ keys.transpose(0, 2, 1) * arguments[5]
    if is_causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return {3: (weights @ values).astype(np.float32) / weights.sum(axis=-1, keepdims=True).astype(np.float32)}


# ------------------------------------------------- gemm_quantized.cl, convolution.cl, gemm_w4a16.cl


def _quantized(arguments: Arguments) -> dict[int, np.ndarray]:
    a, b, bias, scale, c, zero, relu, *_ = arguments
    sums = a.astype(np.int32) @ b.astype(np.int32) + (0 if bias is None else bias)
    found = np.rint(sums.astype(np.float32) * scale).astype(np.int64) + zero
    return {4: np.clip(found, zero if relu else -128, 127).astype(c.dtype)}


def _pixels(rng: np.random.Generator, height: int, width: int, channels: int) -> np.ndarray:
    """An image of small numbers with a border of zeros, as filters of 3 x 3 want it."""
    return np.pad(rng.integers(-4, 5, (height, width, channels)), ((1, 1), (1, 1), (0, 0))).astype(np.float16)


def _convolution(arguments: Arguments) -> dict[int, np.ndarray]:
    image, filters, bias, result, *_ = arguments
    height, width, _ = result.shape
    sums = np.zeros(result.shape) + (0 if bias is None else bias)
    for r, s in np.ndindex(filters.shape[:2]):
        sums += image[r:r + height, s:s + width].astype(np.float64) @ filters[r, s].astype(np.float64)
    return {3: np.maximum(sums, 0).astype(np.float32)}


def _four_bits(rng: np.random.Generator, m: int, n: int, k: int, group: int) -> Arguments:
    """Scales are powers of two, so that sums are exact."""
    return [rng.integers(-9, 10, (m, k)).astype(np.float16), rng.integers(0, 2**32, (k // 8, n), np.uint32),
            (0.5 ** rng.integers(0, 4, (k // group, n))).astype(np.float16), np.zeros((m, n), np.float32), n, k]


def _product_of_four_bits(arguments: Arguments) -> dict[int, np.ndarray]:
    a, words, scale, *_ = arguments
    numbers = (words[:, None] >> np.arange(0, 32, 4, dtype=np.uint32)[:, None] & 15).reshape(-1, words.shape[1])
    b = (numbers.astype(np.float64) - 8) * np.repeat(scale.astype(np.float64), len(numbers) // len(scale), axis=0)
    return {3: (a.astype(np.float64) @ b).astype(np.float32)}


CONTROL, MEMORY, VECTORS, EXTENSIONS, MATRICES, PRINTING = (
    KERNELS / f"{name}.cl" for name in ("control", "memory", "vectors", "extensions", "matrices", "printing"))
OVERLOADS, ASYNC_COPIES = KERNELS / "overloads.cl", KERNELS / "async_copies.cl"
N = 48  # work-items of the one-dimensional cases: three sub-groups, one and a half work-groups' worth of data
WHOLE_INT = (-(2**31), 2**31 - 1)

CASES = (
    Case(CONTROL, "collatz", (N,), (16,), lambda rng: [np.zeros(N, np.int32), _ints(rng, 1, 3000, N)],
         lambda args: {0: _each(_collatz, args[1].tolist())}),
    Case(CONTROL, "switches", (N,), (16,), lambda rng: [np.zeros(N, np.int32), _ints(rng, -50, 50, N)],
         lambda args: {0: _each(_classify, args[1].tolist())}),
    Case(CONTROL, "loops", (N,), (24,), lambda rng: [np.zeros(N, np.int32), 40],
         lambda args: {0: _each(_loops, range(N), [args[1]] * N)}),
    Case(CONTROL, "early_return", (N,), (16,), lambda rng: [np.full(N, 7, np.int32), _ints(rng, -20, 30, N)],
         lambda args: {0: _each(_early_return, args[0].tolist(), args[1].tolist(), range(N))}),
    Case(CONTROL, "duff", (N,), (16,), lambda rng: [np.zeros(N, np.int32), _ints(rng, 1, 40, N)],
         lambda args: {0: _each(_duff, args[1].tolist())}),
    Case(MEMORY, "structures", (32,), (16,), _particles, _structures),
    Case(MEMORY, "unions", (N,), (16,), lambda rng: [np.zeros(N, np.uint32), _floats(rng, N)],
         lambda args: {0: args[1].view(np.uint32) & 0xFFFFFF00}),
    Case(MEMORY, "transpose", (32, 32), (8, 8),
         lambda rng: [np.zeros((32, 32), np.int32), _ints(rng, *WHOLE_INT, 32, 32), 32],
         lambda args: {0: args[1].T}),
    Case(MEMORY, "histogram", (256,), (64,),
         lambda rng: [np.zeros(16, np.int32), rng.integers(0, 256, 256, np.uint8), cm.local(64)],
         lambda args: {0: np.bincount(args[1] & 15, minlength=16).astype(np.int32)}),
    Case(MEMORY, "private_array", (N,), (16,), lambda rng: [np.zeros(N, np.int32), 30],
         lambda args: {0: _each(_private_array, range(N), [args[1]] * N)}),
    Case(KERNELS / "pointers.cl", "views", (N,), (16,),
         lambda rng: [np.zeros((6, N), np.int32), _ints(rng, -99, 99, 6), 6, N],
         lambda args: {0: args[1][:, None] * np.arange(N, dtype=np.int32)}),
    Case(ASYNC_COPIES, "reverse", (N,), (24,), lambda rng: [np.zeros(N, np.int32), _ints(rng, *WHOLE_INT, N),
                                                            cm.local(24 * 4)],
         lambda args: {0: args[1].reshape(-1, 24)[:, ::-1].ravel()}),
    Case(ASYNC_COPIES, "transpose", (15 * 17,), (17,),
         lambda rng: [np.zeros((17, 15, 4), np.float32), _floats(rng, 15, 17, 4), cm.local(17 * 16)],
         lambda args: {0: args[1].transpose(1, 0, 2)}),
    Case(ASYNC_COPIES, "pipeline", (96,), (32,),
         lambda rng: [np.zeros(96, np.int32), _ints(rng, -1000, 1000, 3 * 7 * 32), 7, cm.local(2 * 32 * 4)], _pipeline),
    Case(ASYNC_COPIES, "shared_event", (N,), (24,),
         lambda rng: [np.zeros(5 * N, np.int16), rng.integers(-99, 99, 5 * 24, np.int16), 5, cm.local(5 * 24 * 2)],
         _shared_event),
    Case(VECTORS, "swizzles", (N,), (16,), lambda rng: [np.zeros((N, 4), np.float32), _floats(rng, N, 4)], _swizzles),
    Case(VECTORS, "conversions", (N,), (16,),
         lambda rng: [np.zeros((N, 4), np.int32), 200 * _floats(rng, N, 4), rng.integers(0, 256, (N, 4), np.uint8)],
         _conversions),
    Case(VECTORS, "comparisons", (N,), (16,),
         lambda rng: [np.zeros((N, 4), np.int32), 3 * _floats(rng, N, 4), 3 * _floats(rng, N, 4)], _comparisons),
    Case(VECTORS, "integers", (N,), (16,),
         lambda rng: [np.zeros(N, np.int64), _ints(rng, *WHOLE_INT, N), _ints(rng, *WHOLE_INT, N)], _integers),
    Case(VECTORS, "dynamic_components", (N,), (16,), lambda rng: [np.zeros(N, np.int32), 6],
         lambda args: {0: _each(_dynamic_components, range(N), [args[1]] * N)}),
    Case(OVERLOADS, "overloads", (N,), (16,),
         lambda rng: [np.zeros((N, 4), np.int32), _ints(rng, -(2**20), 2**20, N), 30], _overloads),
    Case(EXTENSIONS, "statement_expressions", (N,), (16,),
         lambda rng: [np.zeros(N, np.int32), _ints(rng, -100, 100, N), 40], _statement_expressions),
    Case(EXTENSIONS, "constant_addresses", (N,), (16,), lambda rng: [np.zeros(N, np.int32)],
         lambda args: {0: _each(_constant_addresses, range(N))}),
    Case(EXTENSIONS, "global_variables", (N,), (N,), lambda rng: [np.zeros(3, np.int32)],
         lambda args: {0: np.array([5 + N, 2 * N, 100 + 3 * N], np.int32)}),
    Case(EXTENSIONS, "layouts", (1,), (1,), lambda rng: [rng.integers(0, 256, 64, np.uint8), np.zeros(6, np.int64)],
         _layouts),
    Case(MATRICES, "operators", (SUB_GROUP,), (SUB_GROUP,),
         lambda rng: [np.zeros(128, np.float32), 1 + np.abs(_floats(rng, 256)), 0.75], _operators),
    Case(MATRICES, "components", (SUB_GROUP,), (SUB_GROUP,),
         lambda rng: [np.zeros(128, np.float32), _floats(rng, 128)],
         lambda args: {0: np.where(args[1] > 0, args[1], args[1] * np.float32(0.125))}),
    Case(MATRICES, "conversions", (SUB_GROUP,), (SUB_GROUP,),
         lambda rng: [np.zeros(128, np.float16), np.zeros(128, np.int32), 100 * _floats(rng, 128)],
         lambda args: {0: args[2].astype(np.float16).reshape(8, 16).T.ravel(), 1: np.trunc(args[2]).astype(np.int32)}),
    Case(MATRICES, "control", (2 * SUB_GROUP,), (2 * SUB_GROUP,),
         lambda rng: [np.zeros(256, np.float32), _floats(rng, 5 * 128), 5], _control),
    Case(MATRICES, "shared_b", (2 * SUB_GROUP,), (2 * SUB_GROUP,),
         lambda rng: [_ints(rng, *WHOLE_INT, 256), rng.integers(-128, 128, 512, np.int8),
                      rng.integers(-128, 128, 512, np.int8)], _shared_b),
    Case(PRINTING, "scalars", (N,), (16,), lambda rng: [_ints(rng, -40000, 40000, N), 100 * _floats(rng, N)], _nothing,
         printed=_scalars),
    Case(PRINTING, "components", (N,), (24,),
         lambda rng: [_ints(rng, -40000, 40000, N, 4), 100 * _floats(rng, N, 4)], _nothing, printed=_components),
    Case(PRINTING, "choices", (N,), (16,), lambda rng: [_ints(rng, -20, 40, N)], _nothing, printed=_choices),
    Case(EXAMPLES / "gemm.cl", "gemm", (2 * SUB_GROUP, 3), (SUB_GROUP, 1),
         lambda rng: [rng.integers(-128, 128, (24, 64), np.int8), rng.integers(-128, 128, (64, 32), np.int8),
                      np.zeros((24, 32), np.int32), 32, 64], _gemm),
    Case(EXAMPLES / "gemm_blocked.cl", "gemm", (3 * SUB_GROUP, 2), (SUB_GROUP, 1),
         lambda rng: _product(rng, 64, 96, 128, np.int8, 96, 128), _matrix_product),
    Case(EXAMPLES / "gemm_blocked.cl", "gemm", (2 * SUB_GROUP, 1), (SUB_GROUP, 1),
         lambda rng: _product(rng, 32, 64, 96, ml_dtypes.bfloat16, 64, 96, is_packed=True), _product_of_packed,
         (*BF16_ELEMENTS, "-DPACKED_B")),
    # The last blocks have less than 64 rows, 64 columns and 128 steps.
    Case(EXAMPLES / "gemm_tuned.cl", "gemm", (2 * SUB_GROUP, 2), (SUB_GROUP, 1),
         lambda rng: _product(rng, 96, 96, 448, np.int8, 96, 96, 448, 64), _matrix_product,
         ("-DKC=256", "-DNB=64")),
    Case(EXAMPLES / "gemm_tuned.cl", "gemm", (2 * SUB_GROUP, 2), (SUB_GROUP, 1),
         lambda rng: _product(rng, 96, 96, 160, ml_dtypes.bfloat16, 96, 96, 160, 64), _matrix_product,
         (*BF16_ELEMENTS, "-DKC=64", "-DNB=64")),
    Case(EXAMPLES / "gemm_tuned_fp32.cl", "gemm", (2 * SUB_GROUP, 2), (SUB_GROUP, 1),
         lambda rng: _product(rng, 24, 96, 20, np.float32, 24, 96, 20, 16), _matrix_product,
         ("-DKC=16", "-DMC=8", "-DNB=64")),
    *(Case(EXAMPLES / "gemm_tuned_gpu.cl", "gemm", (8 * SUB_GROUP, 2), (4 * SUB_GROUP, 1),
           lambda rng: _product(rng, 64, 128, 96, np.float16, 128, 96), _matrix_product,
           ("-DTM=32", "-DTN=64", "-DTK=32", "-DWM=16", "-DWN=32", f"-DITEMS={4 * SUB_GROUP}",
            f"-DSUB_GROUP_SIZE={SUB_GROUP}", f"-DBUFFERS={buffers}")) for buffers in (1, 2)),
    Case(EXAMPLES / "scale_rows.cl", "scale_rows", (2 * SUB_GROUP, 2), (SUB_GROUP, 1),
         lambda rng: [_floats(rng, 16, 32), _floats(rng, 16), 32], lambda args: {0: args[0] * args[1][:, None]}),
    *(Case(EXAMPLES / "flash_attention.cl", "flash_attention", (5 * SUB_GROUP, 2), (SUB_GROUP, 1),
           lambda rng, dtype=dtype: _attention_arguments(rng, 2, 40, 32, dtype),
           lambda args, is_causal=is_causal: _attention(args, is_causal), (
               "-DTM=8", "-DTN=8", "-DD=32", f"-DIN={name}", *["-DCAUSAL"] * is_causal))
      for name, dtype, is_causal in (("half", np.float16, False), ("__bf16", ml_dtypes.bfloat16, True))),
    *(Case(EXAMPLES / "gemm_quantized.cl", "gemm", (2 * SUB_GROUP, 3), (SUB_GROUP, 1),
           lambda rng, options=options: [
               rng.integers(-128, 128, (24, 64), np.int8), rng.integers(-128, 128, (64, 32), np.int8),
               _ints(rng, -5000, 5000, 32) if options else None, rng.random(32, np.float32) / 1000,
               np.zeros((24, 32), np.int8), *(options or (0, 0)), 32, 64], _quantized)
      for options in ((), (3, 1))),
    *(Case(EXAMPLES / "convolution.cl", "convolution", (2 * SUB_GROUP, 2, 3), (SUB_GROUP, 1, 1),
           lambda rng, with_bias=with_bias: [
               _pixels(rng, 3, 16, 16), rng.integers(-4, 5, (3, 3, 16, 32)).astype(np.float16),
               np.arange(-16, 16, dtype=np.float32) if with_bias else None, np.zeros((3, 16, 32), np.float32),
               16, 16, 32], _convolution)
      for with_bias in (False, True)),
    Case(EXAMPLES / "gemm_w4a16.cl", "gemm", (2 * SUB_GROUP, 2), (SUB_GROUP, 1),
         lambda rng: _four_bits(rng, 32, 32, 96, 32), _product_of_four_bits),
    Case(EXAMPLES / "dot_products.cl", "signed_signed", (20, 6), (5, 2),
         lambda rng: [_bytes_as_words(rng, 6, 9), _bytes_as_words(rng, 9, 20), _ints(rng, -1000, 1000, 6, 20), 20, 36],
         _packed_b),
    *(Case(EXAMPLES / "matrix_int8.cl", kernel, *sizes,
           lambda rng: [_bytes_as_words(rng, 16, 16).view(np.int8), _bytes_as_words(rng, 16, 32),
                        np.zeros((16, 32), np.int32), 32, 64], _packed_b)
      for kernel, *sizes in (("packed_m2_n16", (32, 8), (16, 1)), ("blocks_packed_m8_n16", (32, 2), (16, 1)),
                             ("tiled_2x2_m8_n16", (16, 1), (16, 1)), ("shared_m8_n16", (32, 2), (32, 2)))),
    *(Case(EXAMPLES / "matrix_bf16.cl", kernel, (64, 4), (16, 1),
           lambda rng, sizes=sizes: [_small_bf16(rng, 16, 32), _small_bf16(rng, 32, 64),
                                     np.zeros((16, 64), np.float32), *sizes], _bf16_product)
      for kernel, *sizes in (("blocks_rowmajor_m4_n16", 64, 32), ("blocks_2d_m4_n16", 16, 64, 32))),
    Case(EXAMPLES / "matrix_tf32.cl", "rowmajor_m4_n16", (32, 4), (16, 1),
         lambda rng: [rng.integers(-99, 100, (16, 24)).astype(np.float32),
                      rng.integers(-99, 100, (24, 32)).astype(np.float32), np.zeros((16, 32), np.float32), 32, 24],
         lambda args: {2: args[0] @ args[1]}),
)
