"""The lowering tests once more: each kernel as LLVM IR, compiled by LLVM's own SPIR-V back end."""

from __future__ import annotations

from functools import wraps
from types import FunctionType, ModuleType
from typing import Any

import pytest

from coopmat import llvm
from coopmat.lowering import to_llvm_ir
from coopmat.spirv.module import Module
from coopmat.tree.nodes import Program
from tests.kit.lowering import trees
from tests.lowering import (
    test_control_flow,
    test_joint_matrices,
    test_matrix_lowering,
    test_number_conversions,
    test_places,
    test_record_layout,
)


def through_llvm(program: Program) -> Module:
    """The module that LLVM makes from our IR."""
    return Module.from_bytes(llvm.to_spirv(to_llvm_ir(program)))


@pytest.fixture(autouse=True)
def _run_through_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "to_spirv", through_llvm)


def _tests_of(module: ModuleType) -> dict[str, Any]:
    prefix = module.__name__.rpartition(".")[2]
    return {f"{prefix}_{name.removeprefix('test_')}": test for name, test in vars(module).items()
            if name.startswith("test_") and isinstance(test, FunctionType)}


def _slow(test: FunctionType) -> Any:
    """The test as one of the long form; the original, which shares its marks with its copies, stays as it is."""
    @pytest.mark.slow
    @wraps(test, updated=())
    def copy(*arguments: object, **named: object) -> None:
        test(*arguments, **named)

    copy.pytestmark = [*copy.pytestmark, *getattr(test, "pytestmark", ())]
    return copy


for _module in (test_control_flow, test_joint_matrices, test_matrix_lowering, test_places, test_record_layout):
    globals().update(_tests_of(_module))
globals().update({name: _slow(test) for name, test in _tests_of(test_number_conversions).items()})
