"""Compiled kernels as bytes: what is saved comes back, and what is damaged is nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.spirv.analysis.types import FloatType, IntType, VectorType
from coopmat.targets.llvm.print_buffer import PrintCall
from coopmat.targets.llvm.saved import canonical, from_bytes, to_bytes
from coopmat.targets.llvm.threads.launch import Slot


@dataclass(frozen=True)
class Code:
    """What a target's code consists of."""

    ir: str
    symbol: str
    numbers: tuple[int, ...]
    places: dict[int, Slot]
    texts: list[str]
    raw: bytes = b""
    nothing: None = None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1 << 70, 1 << 70) | st.text() | st.binary()
    | st.builds(Slot, st.integers(), st.integers()) | st.sampled_from([FloatType(32), IntType(8)]),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.integers() | st.text(), inner),
    max_leaves=12)


@dataclass(frozen=True)
class Anything:
    """A member of any kind."""

    value: Any


@settings(max_examples=100)
@given(VALUES, st.binary())
def test_what_is_saved_comes_back(value: Any, made: bytes) -> None:
    found = from_bytes(Anything, to_bytes(Anything(value), made, ()), (Slot,))
    assert found == (Anything(value), made)
    assert type(found[0].value) is type(value)


CODE = Code("a lot of text", "k", (1, 2, 3), {7: Slot(128, 8)}, ["x > 0 (at k.cl:3)"], b"\xff\x00")


def test_members_that_only_the_compiler_needs() -> None:
    """They are not among the bytes, and are what the reader says."""
    data = to_bytes(CODE, b"PTX", ("ir",))
    assert b"a lot of text" not in data
    found = from_bytes(Code, data, (Slot,), ir="")
    assert found is not None
    code, made = found
    assert made == b"PTX"
    assert (code.ir, code.symbol, code.numbers, code.places, code.texts, code.raw) == (
        "", "k", (1, 2, 3), {7: Slot(128, 8)}, ["x > 0 (at k.cl:3)"], b"\xff\x00")


def test_calls_of_printf() -> None:
    """With the types of what they print."""
    call = PrintCall(*(VectorType(FloatType(32), 4) if field.name == "type" else 3 for field in fields(PrintCall)))
    found = from_bytes(Anything, to_bytes(Anything([call]), b"", ()))
    assert found is not None
    assert found[0].value == [call]


@settings(max_examples=200)
@given(st.data())
def test_damaged_bytes_are_nothing_or_other_values(data: st.DataObject) -> None:
    """No exception, whatever is cut off or changed."""
    whole = bytearray(to_bytes(CODE, b"PTX", ("ir",)))
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole))):]
    else:
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    found = from_bytes(Code, bytes(whole), (Slot,), ir="")
    assert found is None or isinstance(found[0], Code)


@pytest.mark.parametrize("head", [
    {"symbol": "k"}, {"unknown": 1}, [], None, {"value": {"record": ["os", 1]}}, {"value": {"tuple": 3}},
    {"value": {"set": []}}, {"value": {"record": ["Slot", 1, 2, 3]}}, {"value": {"a": 1, "b": 2}}])
def test_what_is_none(head: Any) -> None:
    """Members that are missing or too many, and records that nobody knows."""
    text = json.dumps(head).encode()
    assert from_bytes(Anything, len(text).to_bytes(8, "little") + text, (Slot,)) is None
    assert from_bytes(Anything, b"", (Slot,)) is None


def test_a_record_that_the_reader_does_not_name() -> None:
    assert from_bytes(Anything, to_bytes(Anything(Slot(1, 2)), b"", ())) is None


def test_equal_values_have_the_same_text() -> None:
    """Sets in any order; different values have different texts."""
    assert canonical({"b", "a"}) == canonical({"a", "b"}) == "{'a', 'b'}"
    assert canonical(frozenset({3, 1, 2})) == "{1, 2, 3}"
    assert canonical(Anything(Slot(1, 2))) == "Anything(value=Slot(offset=1, size=2))"
    assert canonical(Anything({Slot(2, 1), Slot(1, 2)})) == canonical(Anything({Slot(1, 2), Slot(2, 1)}))
    assert canonical(Slot(1, 2)) != canonical(Slot(2, 1))
