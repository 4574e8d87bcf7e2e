"""Damaged modules: random mutations, of which nothing is known, and directed ones, which break a rule for certain."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

import coopmat as cm
from coopmat.spirv import Instruction, Module, Op
from coopmat.spirv.grammar import TERMINATORS, Capability, ExecutionModel
from tests.kit.paths import EXAMPLES
from tests.kit.spirv.corpus import CASES

KERNELS = {"gemm.cl": "-DTM=8 -DTN=16 -DTK=32", "scale_rows.cl": "", "dot_products.cl": ""}
HEADER = 5
NOTABLE = (0, 1, 2, 3, 4, 8, 32, 64, 0x7F, 0x80, 0xFF, 0xFFFF, 0x10000, 0x3FFFFF, 0x400000, 0x7FFFFFFF, 0x80000000,
           0xFFFFFFFE, 0xFFFFFFFF)


@cache
def originals() -> tuple[bytes, ...]:
    """Valid modules: those of the corpus, and compiled examples."""
    compiled = [cm.build(EXAMPLES / name, options).spirv for name, options in KERNELS.items()]
    return (*(case.binary for case in CASES if not case.rules), *compiled)


@dataclass(frozen=True)
class Mutant:
    """A damaged module; ``seed`` makes it again.  ``is_broken``: it breaks a rule for certain."""

    seed: int
    what: str
    data: bytes
    is_broken: bool


def mutants(first: int, count: int) -> Iterator[Mutant]:
    """The mutants of so many seeds."""
    return (mutant(seed) for seed in range(first, first + count))


def mutant(seed: int) -> Mutant:
    """The mutant of a seed: every third one breaks a rule for certain."""
    random = Random(seed)
    data = random.choice(originals())
    if seed % 3 == 0:
        for name in random.sample(sorted(DIRECTED), len(DIRECTED)):
            broken = DIRECTED[name](Module.from_bytes(data), random)
            if broken is not None:
                return Mutant(seed, name, broken if isinstance(broken, bytes) else broken.to_bytes(), True)
    names = [random.choice(sorted(RANDOM)) for _ in range(random.choice((1, 1, 1, 2, 3, 5)))]
    for name in names:
        data = RANDOM[name](data, random)
    return Mutant(seed, ", ".join(names), data, False)


# --------------------------------------------------------------------------------------
# Random mutations of bytes, words and instructions
# --------------------------------------------------------------------------------------


def _words(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}I", data[:len(data) // 4 * 4]))


def _bytes(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _starts(words: list[int]) -> list[int]:
    """Where instructions begin, as far as the word counts lead."""
    found, position = [], HEADER
    while position < len(words):
        found.append(position)
        position += words[position] >> 16 or len(words)
    return found


def _cut(data: bytes) -> list[list[int]]:
    """Header and instructions."""
    words = _words(data)
    edges = [0, *_starts(words), len(words)]
    return [words[start:end] for start, end in itertools.pairwise(edges)]


def flip_bits(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def truncate(data: bytes, random: Random) -> bytes:
    return data[:random.randrange(len(data) + 1)]


def append(data: bytes, random: Random) -> bytes:
    return data + random.randbytes(random.choice((1, 4, 4, 8, 40)))


def swap_bytes(data: bytes, _: Random) -> bytes:
    return struct.pack(f">{len(data) // 4}I", *_words(data))


def notable_word(data: bytes, random: Random) -> bytes:
    words = _words(data)
    if words:
        words[random.randrange(len(words))] = random.choice(NOTABLE)
    return _bytes(words)


def another_word(data: bytes, random: Random) -> bytes:
    """One word of the module in the place of another: often an id of another kind."""
    words = _words(data)
    if words:
        words[random.randrange(len(words))] = random.choice(words)
    return _bytes(words)


def word_count(data: bytes, random: Random) -> bytes:
    words = _words(data)
    starts = _starts(words)
    if starts:
        start = random.choice(starts)
        old = words[start] >> 16
        count = random.choice((0, 1, 2, min(old + 1, 0xFFFF), max(0, old - 1), 0xFFFF))
        words[start] = count << 16 | words[start] & 0xFFFF
    return _bytes(words)


def opcode(data: bytes, random: Random) -> bytes:
    words = _words(data)
    starts = _starts(words)
    if starts:
        start = random.choice(starts)
        words[start] = words[start] & 0xFFFF0000 | random.choice([int(op) for op in Op])
    return _bytes(words)


def _rearranged(change: Callable[[list[list[int]], Random], None]) -> Callable[[bytes, Random], bytes]:
    def mutate(data: bytes, random: Random) -> bytes:
        parts = _cut(data)
        if len(parts) > 2:
            change(parts, random)
        return _bytes([word for part in parts for word in part])

    return mutate


def _delete(parts: list[list[int]], random: Random) -> None:
    del parts[random.randrange(1, len(parts))]


def _double(parts: list[list[int]], random: Random) -> None:
    parts.insert(random.randrange(1, len(parts) + 1), list(random.choice(parts[1:])))


def _exchange(parts: list[list[int]], random: Random) -> None:
    one, other = random.randrange(1, len(parts)), random.randrange(1, len(parts))
    parts[one], parts[other] = parts[other], parts[one]


def _splice(parts: list[list[int]], random: Random) -> None:
    foreign = _cut(random.choice(originals()))[1:]
    parts.insert(random.randrange(1, len(parts) + 1), list(random.choice(foreign)))


RANDOM: dict[str, Callable[[bytes, Random], bytes]] = {
    "flip bits": flip_bits, "truncate": truncate, "append": append, "swap bytes": swap_bytes,
    "notable word": notable_word, "another word": another_word, "word count": word_count, "opcode": opcode,
    "delete": _rearranged(_delete), "double": _rearranged(_double), "exchange": _rearranged(_exchange),
    "splice": _rearranged(_splice),
}


# --------------------------------------------------------------------------------------
# Directed mutations
# --------------------------------------------------------------------------------------

_ABOUT_IDS = (Op.Name, Op.MemberName, Op.Decorate, Op.MemberDecorate, Op.DecorateId, Op.EntryPoint)
_WITHOUT_KERNEL = (Capability.Addresses, Capability.Int8, Capability.Int16, Capability.Int64, Capability.Float16,
                   Capability.Float64, Capability.Linkage)
"""Capabilities that do not imply Kernel."""
_ARITHMETIC = (Op.IAdd, Op.ISub, Op.IMul, Op.FAdd, Op.FSub, Op.FMul, Op.BitwiseAnd, Op.ShiftLeftLogical)


def _without(module: Module, gone: Instruction) -> Module:
    return module.rewritten(lambda item: () if item is gone else None)


def undefined_operand(module: Module, random: Random) -> Module | None:
    """An id that nothing defines."""
    users = [item for item in module.instructions if item.id_places() and item.opcode not in _ABOUT_IDS]
    chosen = random.choice(users)
    place = random.choice(chosen.id_places())
    missing = module.bound
    module.bound += 1
    chosen.words = (*chosen.words[:place], missing, *chosen.words[place + 1:])
    return Module(module.instructions, version=module.version, bound=module.bound)


def second_definition(module: Module, random: Random) -> Module:
    """An id with two definitions."""
    chosen = random.choice([item for item in module.instructions if item.result_id is not None])
    return module.rewritten(lambda item: (item, item) if item is chosen else None)


def no_definition(module: Module, random: Random) -> Module | None:
    """A definition that is used is missing."""
    used = [item for item in module.instructions if item.result_id is not None and
            any(user.opcode not in _ABOUT_IDS for user in module.uses(item.result_id))]
    return _without(module, random.choice(used))


def no_end(module: Module, random: Random) -> Module | None:
    """A function without end, or a block without terminator."""
    ends = [item for item in module.instructions if item.opcode == Op.FunctionEnd or item.opcode in TERMINATORS]
    return _without(module, random.choice(ends)) if ends else None


def no_memory_model(module: Module, _: Random) -> Module | None:
    return _without(module, next(module.of_opcode(Op.MemoryModel)))


def cut_off(module: Module, random: Random) -> bytes | None:
    """Any part of a module that ends with a function."""
    data = module.to_bytes()
    ends_with_function = module.instructions[-1].opcode == Op.FunctionEnd
    return data[:random.randrange(len(data))] if ends_with_function else None


def another_result_type(module: Module, random: Random) -> Module | None:
    """Arithmetic with a result of another kind: a pointer or function type, or none at all."""
    chosen = [item for item in module.instructions if item.opcode in _ARITHMETIC]
    kinds = [item.result_id for item in module.of_opcode(Op.TypeVoid, Op.TypeFunction, Op.TypePointer)]
    if not chosen or not kinds:
        return None
    random.choice(chosen).type_id = random.choice(kinds)
    return module


def a_type_as_value(module: Module, random: Random) -> Module | None:
    chosen = [item for item in module.instructions if item.opcode in _ARITHMETIC]
    kinds = [item.result_id for item in module.of_opcode(Op.TypeInt, Op.TypeFloat, Op.TypeVoid)]
    if not chosen or not kinds:
        return None
    item = random.choice(chosen)
    item.words = (random.choice(kinds) or 0, *item.words[1:])
    return module


def no_kernel_capability(module: Module, _: Random) -> Module | None:
    """A kernel without the capability for kernels, nor another that implies it."""
    declared = {item.words[0]: item for item in module.of_opcode(Op.Capability)}
    has_kernel = any(item.words[0] == ExecutionModel.Kernel for item in module.of_opcode(Op.EntryPoint))
    is_alone = declared.keys() <= {Capability.Kernel, *_WITHOUT_KERNEL}
    return _without(module, declared[Capability.Kernel]) if has_kernel and is_alone else None


def branch_to_nowhere(module: Module, random: Random) -> Module | None:
    """A branch to an id that is no block."""
    branches = list(module.of_opcode(Op.Branch))
    kinds = [item.result_id or 0 for item in module.of_opcode(Op.TypeVoid)]
    if not branches or not kinds:
        return None
    random.choice(branches).words = (kinds[0],)
    return module


DIRECTED: dict[str, Callable[[Module, Random], Module | bytes | None]] = {
    function.__name__.replace("_", " "): function
    for function in (undefined_operand, second_definition, no_definition, no_end, no_memory_model, cut_off,
                     another_result_type, a_type_as_value, no_kernel_capability, branch_to_nowhere)
}
