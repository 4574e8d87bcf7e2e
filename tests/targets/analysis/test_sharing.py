"""What work-groups share: memory that each writes for itself, counters, and what keeps a launch from being split."""

from __future__ import annotations

import pytest

import coopmat as cm
from coopmat.targets.analysis.sharing import Combination, Sharing, sharing_of


def found(body: str, parameters: str = "global int *o, global const int *x, global uint *h") -> Sharing:
    source = f"#pragma OPENCL EXTENSION cl_ext_float_atomics : enable\nkernel void k({parameters}) {{ {body} }}"
    return sharing_of(cm.build(source).module, "k")


def test_what_is_written_and_what_is_counted() -> None:
    sharing = found("o[get_global_id(0)] = x[0]; atomic_add(h + x[1], 2u);")
    assert sharing == Sharing(frozenset({0, 2}), {2: Combination("add", "u4")})


@pytest.mark.parametrize(("call", "expected"), [
    ("atomic_inc(h)", Combination("add", "u4")), ("atomic_sub(h, 1u)", Combination("add", "u4")),
    ("atomic_min(h, 1u)", Combination("min", "u4")),
    ("atomic_max((global int *)h, 1)", Combination("max", "i4")), ("atomic_or(h, 1u)", Combination("or", "u4")),
    ("atomic_and(h, 1u)", Combination("and", "u4")), ("atomic_xor(h, 1u)", Combination("xor", "u4")),
    ("atomic_fetch_add((volatile global atomic_ulong *)h, 1ul)", Combination("add", "u8"))])
def test_kinds_of_counters(call: str, expected: Combination) -> None:
    assert found(f"{call};").combined == {2: expected}


@pytest.mark.parametrize(("body", "reason"), [
    ("o[0] = atomic_inc(h);", "OpAtomicIIncrement on 'h': what it returns is used"),
    ("atomic_cmpxchg(h, 0u, 1u);", "its effects cannot be put together"),
    ("atomic_max(h, 3u); o[0] = h[1];", "'h' is changed by atomic operations and accessed otherwise"),
    ("atomic_max(h, 3u); atomic_add(h, 3u);", "by atomic operations of several kinds"),
    ("global int *p = (global int *)(size_t)x[0]; *p = 1;", "nobody knows where it comes from")])
def test_reasons(body: str, reason: str) -> None:
    (said,) = found(body).reasons
    assert reason in said
    assert said.endswith("(<source>:2)")


def test_variables_of_the_program() -> None:
    module = cm.build("global int total;\nkernel void k() { total = 1; }").module
    (said,) = sharing_of(module, "k").reasons
    assert "'total' is a variable of the program" in said
