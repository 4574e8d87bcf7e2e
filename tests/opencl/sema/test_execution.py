"""Random expressions compute what clang's code computes: the same kernel, compiled by clang for this machine
and run natively, and compiled by the package and run in the simulator."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tests.kit.oracles import native

INTEGERS = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
            "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
FLOATS = {"float": np.float32, "double": np.float64}
NUMBERS = INTEGERS | FLOATS
VECTOR_SCALARS = ("char", "uchar", "short", "int", "uint", "long", "float")
SPECIAL = (0, 1, -1, 2, 7, 100, 127, -128, 255, 32767, 65535, 2**31 - 1, -2**31, 2**32 - 1, 2**63 - 1, -2**63)
VALUES = 4
"""Variables of each type."""

ARITHMETIC = ("+", "-", "*")
BITWISE = ("&", "|", "^")
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
SHIFTS = ("<<", ">>")
INTEGER_LITERALS = ("0", "1", "2", "3u", "5l", "7ul", "255", "65535", "0x7fffffff", "0x80000000u", "'a'")
FLOAT_LITERALS = ("1.5f", "0.1f", "0.1", "3.0", "1e10f", "0.0f")

EXPRESSIONS = 150

PRELUDE = """
#pragma OPENCL FP_CONTRACT OFF
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
""" + "\n".join(f"typedef {scalar} {scalar}4 __attribute__((ext_vector_type(4)));" for scalar in VECTOR_SCALARS)


# ------------------------------------------------------------------ generating


class Generator:
    """Expressions in the variables ``int0`` … and ``int4_0`` …, free of what C leaves undefined."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def number(self, depth: int) -> str:
        """An expression of some scalar type."""
        return self.floating(depth) if self.rng.random() < 0.25 else self.integer(depth)

    def integer(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return self._integer_leaf()
        match rng.randrange(10):
            case 0:
                return f"({self.integer(depth - 1)} {rng.choice(ARITHMETIC)} {self.integer(depth - 1)})"
            case 1:
                return f"({self.integer(depth - 1)} {rng.choice(BITWISE)} {self.integer(depth - 1)})"
            case 2:
                return f"({self.number(depth - 1)} {rng.choice(COMPARISONS)} {self.number(depth - 1)})"
            case 3:
                return f"({self.integer(depth - 1)} {rng.choice(SHIFTS)} {self.integer(depth - 1)})"
            case 4:
                return f"({self.integer(depth - 1)} {rng.choice('/%')} (({self.integer(depth - 1)} & 7) + 1))"
            case 5:
                return f"({rng.choice('-~!+')} {self.integer(depth - 1)})"
            case 6:
                return f"(({rng.choice(list(INTEGERS))}){self.integer(depth - 1)})"
            case 7:
                return f"({self.number(depth - 1)} {rng.choice(('&&', '||'))} {self.number(depth - 1)})"
            case 8:
                return f"({self.integer(depth - 1)} ? {self.integer(depth - 1)} : {self.integer(depth - 1)})"
        inner = self.floating(depth - 1)  # only what an integer can hold is converted
        return f"({inner} > -100 && {inner} < 100 ? ({rng.choice(('int', 'long', 'short'))}){inner} : 7)"

    def _integer_leaf(self) -> str:
        if self.rng.random() < 0.7:
            return f"{self.rng.choice(list(INTEGERS))}{self.rng.randrange(VALUES)}"
        return self.rng.choice(INTEGER_LITERALS)

    def floating(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            if rng.random() < 0.7:
                return f"{rng.choice(list(FLOATS))}{rng.randrange(VALUES)}"
            return rng.choice(FLOAT_LITERALS)
        match rng.randrange(5):
            case 0:
                return f"({self.floating(depth - 1)} {rng.choice('+-*/')} {self.number(depth - 1)})"
            case 1:
                return f"({self.number(depth - 1)} {rng.choice('+-*/')} {self.floating(depth - 1)})"
            case 2:
                return f"(({rng.choice(list(FLOATS))}){self.number(depth - 1)})"
            case 3:
                return f"({self.integer(depth - 1)} ? {self.floating(depth - 1)} : {self.number(depth - 1)})"
        return f"(- {self.floating(depth - 1)})"

    def vector(self, scalar: str, depth: int) -> str:
        """An expression of the type ``scalar4``."""
        rng = self.rng
        if depth == 0:
            return f"{scalar}4_{rng.randrange(2)}"
        operators = ARITHMETIC if scalar == "float" else ARITHMETIC + BITWISE + SHIFTS
        match rng.randrange(6):
            case 0:
                return f"({self.vector(scalar, depth - 1)} {rng.choice(operators)} {self.vector(scalar, depth - 1)})"
            case 1:
                return f"({self.vector(scalar, depth - 1)} {rng.choice(ARITHMETIC)} ({scalar}){self._integer_leaf()})"
            case 2:
                inner, picked = self.vector(scalar, depth - 1), "".join(rng.choice("xyzw") for _ in range(4))
                return f"{inner}.{picked}"
            case 3:
                one, two = self.vector(scalar, depth - 1), self.vector(scalar, depth - 1)
                return f"({one} {rng.choice(COMPARISONS)} {two} ? {two} : {one})"
            case 4:
                half = rng.choice(("lo", "hi", "even", "odd", "wx"))
                return (f"(({scalar}4)({self.vector(scalar, depth - 1)}.{half}, "
                        f"({scalar}){self._integer_leaf()}, ({scalar}){self._integer_leaf()}))")
        return f"(- {self.vector(scalar, depth - 1)})"

    def statement(self, slot: int) -> str:
        """A statement that stores an expression's value, or a variable's after an assignment, and its size."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.45:
            text = self.number(rng.randrange(1, 4))
        elif kind < 0.7:
            name = rng.choice(list(INTEGERS))
            operator = rng.choice(("+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "="))
            return (f"{{ {name} z = {name}{rng.randrange(VALUES)}; z {operator} {self.integer(2)}; "
                    f"{'z++; ' if rng.random() < 0.5 else '--z; '}out[{slot}] = z; size[{slot}] = 0; }}")
        else:
            scalar = rng.choice(VECTOR_SCALARS)
            part = rng.choice(("x", "y", "z", "w", "s3"))
            text = f"{self.vector(scalar, rng.randrange(1, 4))}.{part}"
        return f"out[{slot}] = {text}; size[{slot}] = sizeof({text});"


def kernel(seed: int) -> str:
    """A kernel that stores the values and sizes of many expressions."""
    generator = Generator(seed)
    parameters = ["__global double *out", "__global long *size"]
    parameters += [f"__global const {name} *{name}_in" for name in NUMBERS]
    lines = [f"{name} {name}{i} = {name}_in[{i}];" for name in NUMBERS for i in range(VALUES)]
    lines += [f"{name}4 {name}4_{i} = ({name}4)({', '.join(f'{name}_in[{(j * (i + 1)) % VALUES}]' for j in range(4))});"
              for name in VECTOR_SCALARS for i in range(2)]
    lines += [generator.statement(slot) for slot in range(EXPRESSIONS)]
    return f"{PRELUDE}\n__kernel void k({', '.join(parameters)}) {{\n" + "\n".join(lines) + "\n}\n"


def inputs(seed: int) -> list[np.ndarray]:
    """Values of each type, among them the smallest and largest."""
    rng = random.Random(seed)
    arrays = []
    for name, dtype in NUMBERS.items():
        if name in FLOATS:
            values = [rng.choice((0.0, -1.5, 3.25, 1e6, 0.1, -7.0, 99.75)) for _ in range(VALUES)]
            arrays.append(np.array(values, dtype))
        else:
            bits = np.dtype(dtype).itemsize * 8
            chosen = [rng.choice((*SPECIAL, rng.getrandbits(bits))) & (2**bits - 1) for _ in range(VALUES)]
            arrays.append(np.array(chosen, np.dtype(f"u{bits // 8}")).view(dtype))
    return arrays


@native.needed
@pytest.mark.parametrize("seed", range(4))
def test_expressions_compute_what_clang_computes(seed: int, tmp_path: Path) -> None:
    source = kernel(seed)
    results = []
    for run in (native.run_natively(tmp_path), native.run_simulated):
        out, size = np.zeros(EXPRESSIONS), np.zeros(EXPRESSIONS, np.int64)
        run(source, [out, size, *inputs(seed)])
        results.append((out, size))
    (expected, expected_sizes), (found, sizes) = results
    lines = [line for line in source.splitlines() if "out[" in line]
    wrong = [f"{line}\n  clang {expected[slot]!r}, size {expected_sizes[slot]}; here {found[slot]!r}, {sizes[slot]}"
             for slot, line in enumerate(lines)
             if not np.array_equal(expected[slot], found[slot], equal_nan=True) or expected_sizes[slot] != sizes[slot]]
    assert not wrong, "\n".join(wrong[:5])
    assert len(set(expected.tolist())) > EXPRESSIONS // 4  # the expressions are not all trivial
