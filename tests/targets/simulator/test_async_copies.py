"""OpGroupAsyncCopy and OpGroupWaitEvents with operands that OpenCL C cannot write (tests/opencl has the others)."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.module import Module

TEXT = cm.build("""
kernel void k(global int *out, global int *in, local int *t) {
    event_t e = async_work_group_strided_copy(t, in, (size_t)4, (size_t)2, 0);
    wait_group_events(1, &e);
    out[get_global_id(0)] = t[get_local_id(0)];
}""").spirv_asm


def run(text: str) -> np.ndarray:
    kernel = cm.build(Module.from_text(text).to_bytes()).kernel("k")
    out = np.zeros(4, np.int32)
    cm.Queue("sim:generic").enqueue(kernel, 4, 4, out, np.arange(8, dtype=np.int32), cm.local(16)).wait()
    return out


def line_of(opcode: str) -> list[str]:
    """The words of the one line with an instruction."""
    (line,) = [line for line in TEXT.splitlines() if f" {opcode} " in f" {line} "]
    return line.split()


COPY, WAIT = line_of("OpGroupAsyncCopy"), line_of("OpGroupWaitEvents")


def changed(words: list[str], index: int, word: str) -> str:
    """The module with one word of a line replaced."""
    (line,) = [line for line in TEXT.splitlines() if line.split() == words]
    new = list(words)
    new[index] = word
    return TEXT.replace(line, " ".join(new))


def test_unchanged() -> None:
    assert run(TEXT).tolist() == [0, 2, 4, 6]


def type_id(*words: str) -> str:
    """The id of the type that these words declare."""
    return next(line.split()[0] for line in TEXT.splitlines() if line.split()[2:] == list(words))


def with_declarations(text: str, *declarations: str) -> str:
    """The module with more types and constants."""
    lines = text.splitlines()
    place = next(index for index, line in enumerate(lines) if " OpFunction " in f" {line} ")
    return "\n".join([*lines[:place], *declarations, *lines[place:]])


def with_new_constant(text: str, value: int) -> str:
    """The module with a constant ``%new``."""
    return with_declarations(text, f"%new = OpConstant {type_id('OpTypeInt', '32', '0')} {value}")


@pytest.mark.parametrize("words", [COPY, WAIT], ids=["copy", "wait"])
def test_scope(words: list[str]) -> None:
    index = words.index("OpGroupAsyncCopy") + 2 if words is COPY else 1
    with pytest.raises(Error, match="with execution scope Subgroup is not supported; possible: Workgroup"):
        run(with_new_constant(changed(words, index, "%new"), 3))


def test_both_sides_in_one_memory() -> None:
    """Destination and source must be in local and in global memory, one each."""
    with pytest.raises(ValidationError, match="copies between Workgroup and CrossWorkgroup memory") as caught:
        run(changed(COPY, 5, COPY[6]))
    assert caught.value.rule == "async-copy-storage"


def test_sides_of_different_types() -> None:
    event = WAIT[-1]
    with pytest.raises(ValidationError, match="copies scalars or vectors of one type, not event to int32") as caught:
        run(changed(COPY, 6, event))
    assert caught.value.rule == "async-copy-type"


def test_waiting_for_what_is_no_event() -> None:
    with pytest.raises(ValidationError, match="OpGroupWaitEvents needs a pointer to events, not to int32") as caught:
        run(changed(WAIT, 3, COPY[6]))
    assert caught.value.rule == "wait-events-type"


def test_too_many_events() -> None:
    with pytest.raises(Error, match="of 100000 events is not supported; at most 65536 are possible"):
        run(with_new_constant(changed(WAIT, 2, "%new"), 100000))


def test_a_vector_of_events() -> None:
    copy = next(line for line in TEXT.splitlines() if line.split() == COPY)
    text = with_declarations(TEXT.replace(copy, f"%same = OpCopyObject %vector %null\n{copy}"),
                             f"%vector = OpTypeVector {type_id('OpTypeEvent')} 2", "%null = OpConstantNull %vector")
    with pytest.raises(ValidationError, match="a vector of event is not possible"):
        run(text)
