"""Binaries: round trips of other producers' modules, both byte orders, malformed input."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.diagnostics import ValidationError
from coopmat.spirv import Module, Op, make
from coopmat.spirv.grammar import MAGIC, StorageClass
from coopmat.spirv.module.binary import MAX_BOUND

FILES = sorted((Path(__file__).parents[1] / "data").glob("*.spv"))
MODULES = {path.stem: path.read_bytes() for path in FILES}
relaxed = settings(derandomize=True, deadline=None, max_examples=120)


def binary(*instructions: list[int], bound: int = 10, version: int = 0x10400) -> bytes:
    """A module from instructions, each a list of an opcode and its operand words."""
    words = [MAGIC, version, 0, bound, 0]
    for opcode, *operands in instructions:
        words += [len(operands) + 1 << 16 | opcode, *operands]
    return struct.pack(f"<{len(words)}I", *words)


def broken(data: bytes) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Module.from_bytes(data)
    return caught.value


def test_there_are_modules_of_other_producers() -> None:
    assert len(FILES) >= 4


@pytest.mark.parametrize("name", MODULES)
def test_round_trip(name: str) -> None:
    data = MODULES[name]
    module = Module.from_bytes(data)
    assert module.to_bytes() == data
    for item in module.instructions:
        word = struct.unpack_from("<I", data, item.offset or 0)[0]
        assert word & 0xFFFF == item.opcode
        assert word >> 16 == len(item.to_words())


@pytest.mark.parametrize("name", MODULES)
def test_big_endian_input(name: str) -> None:
    data = MODULES[name]
    swapped = struct.pack(f">{len(data) // 4}I", *struct.unpack(f"<{len(data) // 4}I", data))
    module = Module.from_bytes(swapped)
    assert module.to_bytes() == data
    assert [item.operands for item in module.instructions] == (
        [item.operands for item in Module.from_bytes(data).instructions])


def test_unknown_instructions_and_enumerants_survive() -> None:
    data = binary([0xFFF0, 1, 2, 0xFFFFFFFF], [0xFFF1], [Op.Capability, 0x12345],
                  [Op.Decorate, 1, 0x7777, 9, 0], [Op.TypePointer, 2, 0x4444, 3])
    module = Module.from_bytes(data)
    assert module.to_bytes() == data
    assert module.capabilities == (0x12345,)
    assert module.decorations(1) == [(0x7777, (9, 0))]
    assert [operand.value for operand in module.instructions[0].operands] == [1, 2, 0xFFFFFFFF]


def test_empty_module() -> None:
    module = Module.from_bytes(binary())
    assert module.instructions == []
    assert module.functions == []


def test_header_words() -> None:
    module = Module.from_bytes(struct.pack("<5I", MAGIC, 0x10300, 0x002B0016, 77, 5))
    assert (module.version, module.generator, module.bound, module.schema) == (0x10300, 0x002B0016, 77, 5)
    assert module.version_text == "1.3"


INT = [Op.TypeInt, 1, 32, 0]

MALFORMED: dict[str, tuple[bytes, str, int | None]] = {
    "not a multiple of four": (binary(INT) + b"\0", "word-size", 36),
    "empty": (b"", "header-size", 0),
    "header cut off": (binary()[:16], "header-size", 16),
    "bad magic": (b"\x7fELF" + binary()[4:], "header-magic", 0),
    "version 2.0": (binary(version=0x20000), "header-version", 4),
    "version 1.7": (binary(version=0x10700), "header-version", 4),
    "bound zero": (binary(bound=0), "header-bound", 12),
    "bound absurd": (binary(bound=0xFFFFFFFF), "header-bound", 12),
    "word count zero": (binary() + struct.pack("<I", Op.Nop), "word-count", 20),
    "last instruction cut off": (binary(INT)[:-4], "word-count", 20),
    "result missing": (binary() + struct.pack("<I", 1 << 16 | Op.TypeVoid), "operand-missing", 20),
    "operand missing": (binary([Op.TypeInt, 1, 32]), "operand-missing", 20),
    "mask parameter missing": (binary(INT, [Op.Store, 2, 3, 2]), "operand-missing", 36),
    "pair cut in half": (binary([Op.Phi, 1, 2, 3]), "operand-missing", 20),
    "surplus word": (binary([Op.TypeVoid, 1, 2]), "operand-surplus", 20),
    "surplus word after an enumerant": (binary([Op.Capability, 1, 2]), "operand-surplus", 20),
    "id zero": (binary([Op.TypeVector, 1, 0, 4]), "id-bound", 20),
    "result id zero": (binary([Op.TypeVoid, 0]), "id-bound", 20),
    "id equal to the bound": (binary([Op.TypeVector, 1, 10, 4]), "id-bound", 20),
    "id beyond the bound in a list": (binary([Op.TypeStruct, 1, 2, 3, 11]), "id-bound", 20),
    "id beyond the bound after a string": (binary([Op.EntryPoint, 6, 1, 0x61, 10]), "id-bound", 20),
    "string without terminator": (binary([Op.Name, 1, 0x61616161]), "string-terminator", 20),
    "id defined twice": (binary(INT, [Op.TypeVoid, 1]), "id-unique", 36),
    "nested constant operation": (binary([Op.SpecConstantOp, 1, 2, Op.SpecConstantOp, Op.SNegate, 3]),
                                  "operand-value", 20),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name: str) -> None:
    data, rule, offset = MALFORMED[name]
    error = broken(data)
    assert (error.rule, error.offset) == (rule, offset)
    assert f"[{rule}]" in str(error)


def test_largest_bound_is_accepted() -> None:
    assert Module.from_bytes(binary(bound=MAX_BOUND)).bound == 0x400000


def test_switch_on_long_has_two_words_a_case() -> None:
    data = binary([Op.TypeInt, 1, 64, 0], [Op.Undef, 1, 2], [Op.Switch, 2, 3, 5, 6, 4, 7, 0, 4])
    switch = Module.from_bytes(data).instructions[-1]
    assert [tuple(operand) for operand in switch.operands] == [
        ("IdRef", 2), ("IdRef", 3), ("LiteralInteger", 6 << 32 | 5), ("IdRef", 4), ("LiteralInteger", 7),
        ("IdRef", 4)]
    assert broken(binary([Op.TypeInt, 1, 64, 0], [Op.Undef, 1, 2],
                         [Op.Switch, 2, 3, 5, 4])).rule == "operand-missing"


def test_too_many_words_cannot_be_written() -> None:
    module = Module([make(Op.TypeStruct, *[1] * 0xFFFF, result_id=2)])
    with pytest.raises(ValidationError, match="at most 65535"):
        module.to_bytes()


def test_a_negative_word_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 0 to"):
        make(Op.TypeInt, -1, 0, result_id=1)
    assert make(Op.TypePointer, StorageClass.Function, 2, result_id=1).words == (7, 2)


# -- mutations ---------------------------------------------------------------------------


def exercise(data: bytes) -> None:
    """Read a binary and use every view of it; only ValidationError may come out."""
    try:
        module = Module.from_bytes(data)
    except ValidationError:
        return
    assert Module.from_bytes(module.to_bytes()).to_bytes() == module.to_bytes()
    for view in VIEWS:
        try:
            view(module)
        except ValidationError:
            continue


def every_constant(module: Module) -> None:
    for item in module.instructions:
        if item.result_id is not None:
            module.constant_value(item.result_id)


def reassemble(module: Module) -> None:
    assert Module.from_text(module.to_text()).to_bytes() == module.to_bytes()


def reassemble_named(module: Module) -> None:
    text = module.to_text(friendly_names=True)
    assert Module.from_text(text).to_text(friendly_names=True) is not None


VIEWS: list[Callable[[Module], object]] = [
    lambda m: m.functions, lambda m: m.names, lambda m: m.member_names, lambda m: m.entry_points,
    lambda m: m.capabilities, lambda m: m.extensions, lambda m: m.strings, lambda m: m.instruction_sets,
    lambda m: m.decorations(1), lambda m: m.member_decorations(1, 0), lambda m: m.execution_modes(1),
    lambda m: [list(item.ids()) for item in m.instructions], every_constant, reassemble, reassemble_named,
]


@relaxed
@given(st.sampled_from(sorted(MODULES)), st.randoms(use_true_random=False), st.integers(1, 4))
def test_mutated_words_raise_nothing_else(name: str, rng: random.Random, changes: int) -> None:
    words = list(struct.unpack(f"<{len(MODULES[name]) // 4}I", MODULES[name]))
    for _ in range(changes):
        index = rng.randrange(len(words))
        words[index] = rng.choice([
            0, 1, 0xFFFFFFFF, rng.getrandbits(32), words[index] ^ 1 << rng.randrange(32), words[index] + 1 & 0xFFFFFFFF,
            rng.choice(words), words[index] & 0xFFFF | rng.randrange(1, 12) << 16])
    exercise(struct.pack(f"<{len(words)}I", *words))


@relaxed
@given(st.sampled_from(sorted(MODULES)), st.randoms(use_true_random=False))
def test_cut_and_spliced_instructions_raise_nothing_else(name: str, rng: random.Random) -> None:
    """Instructions left out, doubled or swapped: well-formed words, broken structure."""
    items = [list(item.to_words()) for item in Module.from_bytes(MODULES[name]).instructions]
    for _ in range(rng.randrange(1, 4)):
        index, other = rng.randrange(len(items)), rng.randrange(len(items))
        match rng.randrange(3):
            case 0:
                del items[index]
            case 1:
                items.insert(other % len(items), items[index])
            case 2:
                items[index], items[other] = items[other], items[index]
    words = [*struct.unpack_from("<5I", MODULES[name]), *(word for item in items for word in item)]
    exercise(struct.pack(f"<{len(words)}I", *words))


@relaxed
@given(st.binary(max_size=200))
def test_noise_raises_nothing_else(noise: bytes) -> None:
    exercise(noise)
    exercise(binary()[:20] + noise)
