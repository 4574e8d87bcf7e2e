"""Invalid modules: which are refused before code is made, which after, and in whose words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coopmat.diagnostics import CompileError, Diagnostic, Error, SourceFile, SourceLocation, ValidationError
from coopmat.spirv.module import Module
from coopmat.targets.base.validity import TOLERATED, UNDECLARED, Validity

HEAD = """OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "kernel"
%void = OpTypeVoid
%int = OpTypeInt 32 0
%five = OpConstant %int 5
%kind = OpTypeFunction %void
%kernel = OpFunction %void None %kind
%entry = OpLabel
"""
VALID = HEAD + "OpReturn\nOpFunctionEnd"
WRONG = HEAD + "%sum = OpFAdd %int %five %five\nOpReturn\nOpFunctionEnd"
UNDECLARED_CAPABILITY = VALID.replace("%five", "%long = OpTypeInt 64 0\n%five", 1)


def made(text: str, step: Callable[[], None] = lambda: None, *, validates: bool = True) -> None:
    """What a compiler does: a step within the guard."""
    with Validity(Module.from_text(text), validates=validates).of_kernel("kernel"):
        step()


def failing(error: Exception) -> Callable[[], None]:
    def step() -> None:
        raise error

    return step


def test_a_valid_module() -> None:
    made(VALID)


def test_a_broken_rule_is_refused_before_code_is_made() -> None:
    """By its name, with the validator's message and place."""
    with pytest.raises(ValidationError) as caught:
        made(WRONG, failing(AssertionError("never")))
    assert caught.value.rule not in TOLERATED
    assert "OpFAdd" in str(caught.value)
    made(WRONG, validates=False)


def test_what_producers_leave_out_is_tolerated() -> None:
    """What the module does stays clear: a capability that is not declared."""
    assert {"capability-missing"} <= UNDECLARED <= TOLERATED
    made(UNDECLARED_CAPABILITY)


def test_where_no_code_can_be_made_the_validator_says_why() -> None:
    """Its words, if it finds anything that matters; otherwise the compiler's own."""
    error = CompileError([Diagnostic("error", "LLVM: no", SourceLocation.whole(SourceFile("k", "")))])
    with pytest.raises(CompileError, match="LLVM: no"):
        made(VALID, failing(error))
    with pytest.raises(CompileError, match="LLVM: no"):
        made(UNDECLARED_CAPABILITY, failing(error))  # what is undeclared is no reason


@pytest.mark.parametrize("error", [IndexError("x"), KeyError(3), ValueError("y")])
def test_malformed_modules(error: Exception) -> None:
    """What trips over words that are missing is an error of ours, which names the kernel."""
    with pytest.raises(Error, match="kernel 'kernel'"):
        made(VALID, failing(error))


def test_other_errors_pass() -> None:
    with pytest.raises(Error, match=r"^the arguments take 5000 bytes$"):
        made(VALID, failing(Error("the arguments take 5000 bytes")))
