"""Fourier transforms of length R*R by two products with the R x R matrix of roots of unity, one sub-group for each."""

from dataclasses import dataclass

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("fp16", "fp16", "fp32", "fp32")
TRANSFORMS = 3


@dataclass
class Complex:
    """Two matrices, or two pointers."""

    re: object
    im: object

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)


def root(row, column, order):
    """A power of the first root of unity of an order."""
    turns = 2.0 * float((row * column) % order) / order
    return Complex(cospi(turns), -sinpi(turns))


def load(sg, matrix, memory, offset, stride):
    joint_matrix_load(sg, matrix.re, memory.re + offset, stride)
    joint_matrix_load(sg, matrix.im, memory.im + offset, stride)


def store(sg, matrix, memory, offset, stride, order=layout.row_major):
    joint_matrix_store(sg, matrix.re, memory.re + offset, stride, order)
    joint_matrix_store(sg, matrix.im, memory.im + offset, stride, order)


def mad(sg, total, left, right):
    """total += left * right."""
    joint_matrix_mad(sg, total.re, left.re, right.re, total.re)
    joint_matrix_mad(sg, total.re, -left.im, right.im, total.re)
    joint_matrix_mad(sg, total.im, left.re, right.im, total.im)
    joint_matrix_mad(sg, total.im, left.im, right.re, total.im)


def fft_kernel(m: int, n: int, k: int, radix: int, sub_group_size: int):
    """The kernel for tiles of a shape."""

    def fill_roots(sg, matrix, first_row, first_column, order):
        """The elements of a matrix of roots from a place on."""
        joint_matrix_apply(sg, matrix.re, lambda x, r, c: root(first_row + r, first_column + c, order).re)
        joint_matrix_apply(sg, matrix.im, lambda x, r, c: root(first_row + r, first_column + c, order).im)

    def narrow(sg, matrix, memory):
        """Store a matrix as elements of another type."""

        def keep(x, r, c):
            memory[r * radix + c] = x

        joint_matrix_apply(sg, matrix, keep)

    @kernel(sub_group_size=sub_group_size)
    def fft(item: nd_item[1], re: ptr[half], im: ptr[half], out_re: ptr[float32], out_im: ptr[float32]):
        sg, start = item.get_sub_group(), item.get_group(0) * radix * radix
        x, out = Complex(re + start, im + start), Complex(out_re + start, out_im + start)
        between = Complex(*(group_local_memory_for_overwrite[half, radix * radix](item.get_group()).get_multi_ptr()
                            for _ in range(2)))
        left = Complex(*(joint_matrix(sub_group, half, use.a, m, k, layout.row_major) for _ in range(2)))
        right = Complex(*(joint_matrix(sub_group, half, use.b, k, n, layout.row_major) for _ in range(2)))
        total = Complex(*(joint_matrix(sub_group, float32, use.accumulator, m, n) for _ in range(2)))
        twiddles = Complex(*(joint_matrix(sub_group, float32, use.accumulator, m, n) for _ in range(2)))
        for row in range(0, radix, m):
            for column in range(0, radix, n):
                joint_matrix_fill(sg, total.re, 0)
                joint_matrix_fill(sg, total.im, 0)
                for inner in range(0, radix, k):
                    fill_roots(sg, left, row, inner, radix)
                    load(sg, right, x, inner * radix + column, radix)
                    mad(sg, total, left, right)
                fill_roots(sg, twiddles, row, column, radix * radix)
                turned = total * twiddles
                narrow(sg, turned.re, between.re + row * radix + column)
                narrow(sg, turned.im, between.im + row * radix + column)
        group_barrier(item.get_group())
        for row in range(0, radix, m):
            for column in range(0, radix, n):
                joint_matrix_fill(sg, total.re, 0)
                joint_matrix_fill(sg, total.im, 0)
                for inner in range(0, radix, k):
                    load(sg, left, between, row * radix + inner, radix)
                    fill_roots(sg, right, inner, column, radix)
                    mad(sg, total, left, right)
                store(sg, total, out, column * radix + row, radix, layout.col_major)

    return fft


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    radix = int(np.lcm.reduce([m, n, k]))
    length, size = radix * radix, device.sub_group_sizes[0]
    rng = np.random.default_rng(0)
    re, im = rng.uniform(-1, 1, (2, TRANSFORMS, length)).astype(np.float16)
    out_re, out_im = np.zeros((2, TRANSFORMS, length), np.float32)
    fft, queue = fft_kernel(m, n, k, radix, size), cm.Queue(device)
    queue.parallel_for(nd_range(TRANSFORMS * size, size), fft, re, im, out_re, out_im).wait()
    expected = np.fft.fft(re.astype(np.float64) + 1j * im)
    np.testing.assert_allclose(out_re + 1j * out_im, expected, atol=2e-3 * length**0.5)
