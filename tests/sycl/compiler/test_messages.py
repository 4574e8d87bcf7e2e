"""Each message of the compiler of Python kernels, with its text and its place."""

from __future__ import annotations

import pytest

from coopmat.sycl.compiler import messages
from tests.kit.sycl.refused import CLOSE, OPEN, Case, check, codes, codes_of, diagnostics_of, loaded, read_cases

CASES = read_cases("messages.txt")
ELSEWHERE = ("vectors.txt", "printing.txt")  # cases of which tests of their own make use
TOO_LONG = {"CM6009", "CM6084"}  # for a file of cases: tests/whole/test_long_tokens.py


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}: {' '.join(case.text.split())}")
@pytest.mark.filterwarnings("ignore:.is. with:SyntaxWarning")
def test_a_message(case: Case) -> None:
    check(case)


def test_every_message_has_a_case() -> None:
    others = [case for name in ELSEWHERE for case in read_cases(name)]
    assert codes_of(messages) <= codes([*CASES, *others]) | TOO_LONG


def test_an_error_in_a_helper_names_the_calls() -> None:
    text = """from coopmat.sycl import *
def inner(p):
    return p.size()
def outer(p):
    return inner(p) + 1
@kernel
def refused(item: nd_item[1], A: ptr[int32]):
    A[0] = outer(A)
"""
    name, (found,) = diagnostics_of(text)
    assert found.header.startswith(f"{name}:3:12: error: ")
    assert [note.header for note in found.notes] == [f"{name}:5:12: note: in the call of 'inner'",
                                                     f"{name}:8:12: note: in the call of 'outer'"]


def test_all_errors_of_a_kernel_are_reported_in_order() -> None:
    text = """from coopmat.sycl import *
@kernel
def refused(item: nd_item[1], A: ptr[int32]):
    x = nothing
    A[0] = x + 1
    for i in range(2.5):
        A[i] = A @ A
    A[1] = item.get_globl_id(0)
"""
    name, found = diagnostics_of(text)
    places = [one.header.removeprefix(f"{name}:").split(":")[0] for one in found]
    assert places == ["4", "6", "8"]


def test_a_column_counts_characters() -> None:
    name, (found,) = diagnostics_of("from coopmat.sycl import *\n@kernel\ndef refused(item: nd_item[1]):\n"
                                    "    größe = 1; α = größe + größse\n")
    assert found.header.startswith(f"{name}:4:28: error: undefined name 'größse'; did you mean 'größe'?")


def test_the_text_of_the_cases_is_accepted_where_nothing_is_wrong() -> None:
    text = Case("joint_matrix_load(sg, ⟦a⟧, A, 32)", "").file.replace(OPEN, "").replace(CLOSE, "")
    _, names = loaded(text)
    assert names["refused"].name == "refused"
    assert diagnostics_of(text)[1] == []
