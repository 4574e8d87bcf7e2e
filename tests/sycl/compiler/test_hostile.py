"""Whatever stands in a kernel: it is compiled into a valid module, or refused at a place, soon."""

from __future__ import annotations

import re
import sys

import pytest

import coopmat as cm
from tests.kit.sycl.refused import Case, loaded, read_cases
from tests.sycl.compiler.test_mutants import time_limit

HEAD = "from coopmat.sycl import *\nimport coopmat as cm\nimport numpy as np\n"
KERNEL = "@kernel\ndef k(item: nd_item[1], y: ptr[int32]):\n"
CASES = read_cases("hostile.txt")


def outcome(text: str) -> str:
    """The codes of a kernel's messages, each of which has a place; "built" if it is compiled."""
    name, names = loaded(HEAD + text)
    try:
        with time_limit():
            program = cm.build(names["k"])
    except cm.CompileError as error:
        assert all(re.match(rf"{re.escape(name)}:\d+:\d+: ", one.header) for one in error.diagnostics)  # noqa: PT017
        return " ".join(dict.fromkeys(one.code for one in error.diagnostics if one.code))
    assert program.module.validate() == []
    return "built"


def in_kernel(statements: str) -> str:
    return KERNEL + "".join(f"    {line}\n" for line in statements.splitlines())


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.text.split())[:60])
def test_statements(case: Case) -> None:
    assert outcome(in_kernel(case.text)) == case.message


def nested(count: int, opening: str, inside: str) -> str:
    """Blocks inside of blocks; ``{i}`` is the depth."""
    lines = [" " * i + opening.format(i=i) for i in range(count)]
    return "\n".join([*lines, " " * count + inside])


DEEP = {
    "terms": ("y[0] = " + " + ".join(["y[1]"] * 3000), "built"),
    "conditions": ("y[0] = " + " and ".join(["y[1]"] * 3000), "built"),
    "chained comparisons": ("y[0] = " + " < ".join(["y[1]"] * 1000), "built"),
    "ternaries": ("y[0] = " + "".join(f"{i} if y[0] == {i} else " for i in range(500)) + "0", "built"),
    "signs": ("y[0] = " + "-" * 500 + "y[1]", "built"),
    "parentheses": ("y[0] = " + "(" * 150 + "1" + ")" * 150, "built"),
    "subscripts": ("y[0] = " + "y[" * 90 + "0" + "]" * 90, "built"),
    "lists": ("y[0] = " + "[" * 90 + "1" + "]" * 90 + "[0]" * 90, "built"),
    "elif": ("if y[0] == 0: pass\n" + "\n".join(f"elif y[0] == {i}: y[0] = {i}" for i in range(1, 500)), "built"),
    "ifs": (nested(90, "if y[{i}]:", "y[0] = 1"), "built"),
    "loops": (nested(19, "for i{i} in range(y[{i}]):", "y[0] = 1"), "built"),
    "whiles": (nested(19, "while y[{i}]:", "break"), "built"),
    "unrolled loops": ("a = [0, 1]\n" + nested(19, "for i{i} in range(2):", "y[0] = a[i18]"), "built"),
    "too many copies": ("a = [0, 1.5]\n" + nested(19, "for i{i} in range(2):", "y[0] = a[(" + "+".join(
        f"i{i}" for i in range(19)) + ") % 2]"), "CM6064"),
    "local functions": (nested(40, "def f{i}():", "return 1\n" + "\n".join(
        " " * i + f"return f{i}()" for i in range(39, 0, -1)) + "\ny[0] = f0()"), "built"),
    "calls of local functions": ("def f0(x): return x\n" + "\n".join(
        f"def f{i}(x): return f{i - 1}(x) + f{i - 1}(x)" for i in range(1, 60)) + "\ny[0] = f59(y[0])", "built"),
    "statements": ("\n".join(f"x{i} = y[{i}] * {i}" for i in range(3000)), "built"),
    "updates": ("x = 1\n" + "x = x + 1\n" * 2000 + "y[0] = x", "built"),
    "long loops": ("for i in range(-2**63, 2**63 - 1): y[0] = i", "built"),
}


@pytest.mark.parametrize("what", DEEP)
def test_deep_and_long_kernels(what: str) -> None:
    text, expected = DEEP[what]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # for Python's own compiler
    try:
        assert outcome(in_kernel(text)) == expected
    finally:
        sys.setrecursionlimit(limit)


def test_chains_of_helpers() -> None:
    chain = "def f0(x): return x\n" + "\n".join(
        f"def f{i}(x): return f{i - 1}(x + 0) + f{i - 1}(x + 0.5)" for i in range(1, 250)) + "\n"
    assert outcome(chain + in_kernel("y[0] = f249(y[0])")) == "built"
    constants = "def f0(x): return 1\n" + "\n".join(
        f"def f{i}(x): return f{i - 1}(x * 2) + f{i - 1}(x * 2 + 1)" for i in range(1, 16)) + "\n"
    assert outcome(constants + in_kernel("y[0] = f15(1)")) == "CM6062"


@pytest.mark.parametrize(("special", "use"), [
    ("__getattr__(self, name)", "y[0] = held.a"),
    ("__repr__(self)", "y[0] = held"),
    ("__eq__(self, other)", "y[0] = held == 1"),
    ("__bool__(self)", "y[0] = 1 if held else 2"),
    ("__hash__(self)", "y[0] = held()"),
    ("__len__(self)", "y[0] = len(held)"),
    ("__getitem__(self, index)", "y[0] = held[1]"),
    ("__iter__(self)", "for i in held: y[0] = i"),
    ("__call__(self)", "y[0] = held()"),
    ("__index__(self)", "y[0] = [1, 2][held]"),
    ("__float__(self)", "y[0] = float(held)"),
    ("__contains__(self, other)", "y[0] = 1 in held"),
    ("__add__(self, other)", "y[0] = held + 1"),
])
def test_objects_that_raise(special: str, use: str) -> None:
    text = f"class Held:\n    def {special}: raise RuntimeError('a secret')\nheld = Held()\n"
    assert outcome(text + in_kernel(use)).startswith("CM60")
