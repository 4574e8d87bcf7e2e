"""The examples of docs/llvm-ir.md."""

from __future__ import annotations

import re

import pytest

from coopmat.llvm.to_spirv.names import parse
from coopmat.spirv.grammar import Op
from tests.kit.llvm.modules import code, compiled
from tests.kit.paths import ROOT

PAGE = (ROOT / "docs" / "llvm-ir.md").read_text()
BLOCKS = re.findall(r"^```llvm\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
FULL_NAMES = sorted(set(re.findall(r"`(_Z\d+__spirv_[A-Za-z]+)", PAGE)))


def test_the_types_are_types() -> None:
    for type_ in re.findall(r"target\([^)]*\)", BLOCKS[0]):
        compiled(f"define spir_func void @f({type_} %x) {{\n  ret void\n}}\n")


def test_the_kernel_compiles() -> None:
    assert [line.split()[0] for line in code(compiled(BLOCKS[1]))] == [
        "CooperativeMatrixLoadKHR", "CompositeConstruct", "FMul", "FAdd", "CooperativeMatrixStoreKHR"]


@pytest.mark.parametrize("name", FULL_NAMES)
def test_the_names_name_something(name: str) -> None:
    """With a wrong length the identifier would be cut elsewhere."""
    known = parse(name).name
    assert known in Op.__members__ or re.fullmatch("CooperativeMatrix(Binary(Add|Sub|Mul|Div)|Scalar(Mul|Neg))", known)
