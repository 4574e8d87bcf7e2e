"""Matrices as sub-group code: it computes what matrices compute, with every size of sub-groups."""

from __future__ import annotations

import pytest

from coopmat.spirv import Module
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.goal import Goal, MatrixSupport
from coopmat.targets import simulator
from tests.kit.spirv.borrowed import OF_WHOLE_MATRICES, borrowed_tests
from tests.spirv.transform.test_cut import cut

NOTHING = MatrixSupport("a driver without matrices")

@pytest.mark.parametrize(("function", "values"), borrowed_tests(OF_WHOLE_MATRICES))
def test_as_sub_group_code(function: object, values: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    compile_ = simulator.compile

    def plain(module: Module, *more: object) -> object:
        declared = Editor(module).finish()  # the short kernels of these tests declare few capabilities
        if not any(found.severity == "error" for found in declared.validate()):
            module, _ = cut(declared, Goal(driver=NOTHING), ("matrices", "fold"))
            assert not any(True for _ in module.of_opcode(Op.TypeCooperativeMatrixKHR))
            print("XX")
        return compile_(module, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(simulator, "compile", plain)
    function(**values)  # type: ignore[operator]
