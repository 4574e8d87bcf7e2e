"""What a module consists of: instructions in order, and views of functions, blocks and annotations made on demand.

Text, analyses and the validator work on it; :class:`coopmat.spirv.module.Module` offers all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self, TypeVar

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.grammar import (
    TERMINATORS,
    Capability,
    Decoration,
    ExecutionMode,
    ExecutionModel,
    Op,
    StorageClass,
)
from coopmat.spirv.module import binary
from coopmat.spirv.module.generators import GENERATOR
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.literals import decode_float, float_layout
from coopmat.spirv.module.operands import decode_number, decode_string
from coopmat.support.cached import cached_property

BUILT_IN_STORAGE = (StorageClass.Input, StorageClass.UniformConstant, StorageClass.CrossWorkgroup)
"""Where the built-in variables of kernels are: some producers put them into constant or global memory."""

_E = TypeVar("_E", Capability, Decoration, ExecutionMode, ExecutionModel)


@dataclass(slots=True)
class Block:
    """A basic block: the id of its OpLabel, and its other instructions, of which the last is a terminator."""

    label: int
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def terminator(self) -> Instruction:
        """The instruction that ends the block."""
        return self.instructions[-1]


@dataclass(slots=True)
class Function:
    """A function; without blocks it is a declaration."""

    instruction: Instruction
    parameters: list[Instruction] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    @property
    def id(self) -> int:
        """The function's result id."""
        assert self.instruction.result_id is not None
        return self.instruction.result_id

    @property
    def type_id(self) -> int:
        """The id of the return type."""
        assert self.instruction.type_id is not None
        return self.instruction.type_id

    @property
    def function_type_id(self) -> int:
        """The id of the OpTypeFunction."""
        return self.instruction.words[1]

    def block(self, label: int) -> Block:
        """The block with this label; ValidationError if the function has none."""
        for block in self.blocks:
            if block.label == label:
                return block
        raise ValidationError("block-label", f"function %{self.id} has no block with label %{label}",
                              self.instruction.offset)


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """An OpEntryPoint; ``interface`` is the ids of the global variables that it lists."""

    model: ExecutionModel | int
    function_id: int
    name: str
    interface: tuple[int, ...]


class Content:
    """What a module consists of: the five header words and the instructions in order.

    ``is_valid``: the instructions need no check of their operands.
    """

    def __init__(self, instructions: Iterable[Instruction] = (), *, version: int = 0x00010400,
                 generator: int = GENERATOR, bound: int | None = None, schema: int = 0,
                 is_valid: bool = False) -> None:
        self._instructions: list[Instruction] | None = list(instructions)
        self._saved = b""
        self.version = version
        self.generator = generator
        self.schema = schema
        self._is_valid = is_valid
        self.names_in_text: Mapping[int, str] = {}  # of ids, if the module was a text
        self.bound = bound if bound is not None else self._least_bound()

    # -- reading and writing ---------------------------------------------------------

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """Read a binary of either byte order.  Raises ValidationError if it is malformed."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise Error(f"a SPIR-V binary is bytes, not {type(data).__name__} (Module.from_text takes text)")
        module = cls._of(binary.read(bytes(data)))
        module._is_valid = True
        return module

    @property
    def instructions(self) -> list[Instruction]:
        """The instructions in order."""
        if self._instructions is None:
            self._instructions = binary.read(self._saved, is_valid=True).instructions
        return self._instructions

    def to_bytes(self) -> bytes:
        """The module as a little-endian binary."""
        return binary.write(self.header, self.instructions) if self._instructions is not None else self._saved

    @classmethod
    def _of(cls, contents: binary.Parsed) -> Self:
        header, instructions, definitions, names = contents
        module = cls(instructions, version=header.version, generator=header.generator, bound=header.bound,
                     schema=header.schema)
        module.names_in_text = names
        module.__dict__["_definitions"] = definitions
        return module

    def __repr__(self) -> str:
        entries = ", ".join(entry.name for entry in self.entry_points)
        return f"<SPIR-V {self.version_text} module of {len(self.instructions)} instructions: {entries or 'no kernel'}>"

    @property
    def header(self) -> binary.Header:
        """The header words after the magic number."""
        return binary.Header(self.version, self.generator, self.bound, self.schema)

    @property
    def version_text(self) -> str:
        """The version as people write it: ``"1.4"``."""
        return f"{self.version >> 16}.{self.version >> 8 & 0xFF}"

    def _least_bound(self) -> int:
        largest = 0
        for item in self.instructions:
            largest = max(largest, item.result_id or 0, *item.ids())
        return largest + 1

    def check_operands(self) -> None:
        """Raise ValidationError if an instruction lacks an operand that it needs, or has one too many."""
        if not self._is_valid:
            for item in self.instructions:
                _ = item.operands  # decoding checks them
            self._is_valid = True

    # -- passes ----------------------------------------------------------------------

    def with_instructions(self, instructions: Iterable[Instruction]) -> Self:
        """A new module with this one's header and other instructions; the bound grows with their ids."""
        items = list(instructions)
        bound = self.bound
        for item in items:
            if not isinstance(item, Instruction):
                raise TypeError(f"a module holds instructions, not {type(item).__name__}")
            for identifier in (*item.ids(), *(() if item.result_id is None else (item.result_id,))):
                if not 0 < identifier < binary.MAX_BOUND:
                    raise ValueError(f"{item.name} has the id {identifier}: ids run from 1 to {binary.MAX_BOUND - 1}")
                bound = max(bound, identifier + 1)
        return type(self)(items, version=self.version, generator=self.generator, bound=bound, schema=self.schema)

    def rewritten(self, change: Callable[[Instruction], Instruction | Iterable[Instruction] | None]) -> Self:
        """A new module in which ``change(item)`` stands for each instruction: another one, none or several, or None
        to keep it.  Fresh ids begin at :attr:`bound`."""
        found: list[Instruction] = []
        for item in self.instructions:
            changed = change(item)
            if changed is None or isinstance(changed, Instruction):
                found.append(item if changed is None else changed)
            else:
                found += changed
        return self.with_instructions(found)

    # -- definitions -----------------------------------------------------------------

    @cached_property
    def _definitions(self) -> dict[int, Instruction]:
        found: dict[int, Instruction] = {}
        for item in self.instructions:
            if item.result_id is not None:
                if item.result_id in found:
                    raise ValidationError("id-unique", f"{item.name} defines id {item.result_id} again",
                                          item.offset)
                found[item.result_id] = item
        return found

    def definition(self, identifier: int) -> Instruction:
        """The instruction whose result is ``identifier``; ValidationError if there is none."""
        found = self._definitions.get(identifier)
        if found is None:
            raise ValidationError("id-defined", f"id {identifier} is used, but no instruction defines it")
        return found

    def defines(self, identifier: int) -> bool:
        """Whether an instruction of the module has this result id."""
        return identifier in self._definitions

    @cached_property
    def _uses(self) -> dict[int, list[Instruction]]:
        found: dict[int, list[Instruction]] = {}
        for item in self.instructions:
            for identifier in dict.fromkeys(item.ids()):
                found.setdefault(identifier, []).append(item)
        return found

    def uses(self, identifier: int) -> list[Instruction]:
        """The instructions that use an id, as their result type or an operand, each once, in order."""
        return self._uses.get(identifier, [])

    def of_opcode(self, *opcodes: Op) -> Iterator[Instruction]:
        """All instructions with one of these opcodes, in order."""
        wanted = {int(op) for op in opcodes}
        return (item for item in self.instructions if item.opcode in wanted)

    # -- module-level declarations ---------------------------------------------------

    @cached_property
    def capabilities(self) -> tuple[Capability | int, ...]:
        """The declared capabilities in order; one that the tables do not know is its number."""
        return tuple(_member(Capability, item.words[0]) for item in self.of_opcode(Op.Capability))

    @cached_property
    def extensions(self) -> tuple[str, ...]:
        """The names of the declared extensions, in order."""
        return tuple(_string(item) for item in self.of_opcode(Op.Extension))

    @cached_property
    def instruction_sets(self) -> dict[int, str]:
        """Id → name of the imported extended instruction sets."""
        return {item.result_id or 0: _string(item) for item in self.of_opcode(Op.ExtInstImport)}

    @cached_property
    def entry_points(self) -> tuple[EntryPoint, ...]:
        """The entry points in order."""
        return tuple(_entry_point(item) for item in self.of_opcode(Op.EntryPoint))

    @cached_property
    def _execution_modes(self) -> dict[int, list[tuple[ExecutionMode | int, tuple[int, ...]]]]:
        found: dict[int, list[tuple[ExecutionMode | int, tuple[int, ...]]]] = {}
        for item in self.of_opcode(Op.ExecutionMode, Op.ExecutionModeId):
            function_id, mode, *rest = item.words
            found.setdefault(function_id, []).append((_member(ExecutionMode, mode), tuple(rest)))
        return found

    def execution_modes(self, function_id: int) -> list[tuple[ExecutionMode | int, tuple[int, ...]]]:
        """The execution modes of an entry point, each with its operand words."""
        return self._execution_modes.get(function_id, [])

    @cached_property
    def names(self) -> dict[int, str]:
        """Id → the name that OpName gives it."""
        return {item.words[0]: _string(item, 1) for item in self.of_opcode(Op.Name)}

    @cached_property
    def member_names(self) -> dict[tuple[int, int], str]:
        """(structure type id, member index) → the name that OpMemberName gives it."""
        return {(item.words[0], item.words[1]): _string(item, 2) for item in self.of_opcode(Op.MemberName)}

    @cached_property
    def strings(self) -> dict[int, str]:
        """Id → the text of an OpString."""
        return {item.result_id or 0: _string(item) for item in self.of_opcode(Op.String)}

    @cached_property
    def processed(self) -> list[str]:
        """The texts of OpModuleProcessed."""
        return [_string(item) for item in self.of_opcode(Op.ModuleProcessed)]

    # -- annotations -----------------------------------------------------------------

    @cached_property
    def _decorations(self) -> dict[int, list[tuple[Decoration | int, tuple[int, ...]]]]:
        found: dict[int, list[tuple[Decoration | int, tuple[int, ...]]]] = {}
        for item in self.of_opcode(Op.Decorate, Op.DecorateId, Op.DecorateString):
            target, decoration, *rest = item.words
            found.setdefault(target, []).append((_member(Decoration, decoration), tuple(rest)))
        for item in self.of_opcode(Op.GroupDecorate):
            group, *targets = item.words
            for target in targets:
                found.setdefault(target, []).extend(found.get(group, []))
        return found

    def decorations(self, identifier: int) -> list[tuple[Decoration | int, tuple[int, ...]]]:
        """The decorations of an id, each with its operand words; decoration groups are applied."""
        return self._decorations.get(identifier, [])

    def rounding_mode(self, identifier: int) -> int | None:
        """The FPRoundingMode that decorates a result, if one does."""
        return next((words[0] for decoration, words in self.decorations(identifier)
                     if decoration == Decoration.FPRoundingMode), None)

    def is_built_in(self, variable: Instruction) -> bool:
        """Whether an OpVariable stands for a built-in value of a kernel."""
        storage = variable.words[0]
        return storage == StorageClass.Input or (storage in BUILT_IN_STORAGE and any(
            decoration == Decoration.BuiltIn for decoration, _ in self.decorations(variable.result_id or 0)))

    @cached_property
    def _member_decorations(self) -> dict[tuple[int, int], list[tuple[Decoration | int, tuple[int, ...]]]]:
        found: dict[tuple[int, int], list[tuple[Decoration | int, tuple[int, ...]]]] = {}
        for item in self.of_opcode(Op.MemberDecorate, Op.MemberDecorateString):
            structure, member, decoration, *rest = item.words
            found.setdefault((structure, member), []).append((_member(Decoration, decoration), tuple(rest)))
        for item in self.of_opcode(Op.GroupMemberDecorate):
            group, *pairs = item.words
            for target in zip(pairs[::2], pairs[1::2], strict=True):
                found.setdefault(target, []).extend(self._decorations.get(group, []))
        return found

    def member_decorations(self, structure: int,
                           member: int) -> list[tuple[Decoration | int, tuple[int, ...]]]:
        """The decorations of a structure's member, each with its operand words."""
        return self._member_decorations.get((structure, member), [])

    # -- constants -------------------------------------------------------------------

    def constant_value(self, identifier: int) -> int | float | bool | None:
        """The value of a scalar constant; a specialisation constant has its default.

        An integer type without sign gives the unsigned value, a signed one the signed value.  None for
        what is no scalar constant, or has a type whose values have no Python equivalent.
        """
        item = self.definition(identifier)
        if item.opcode in (Op.ConstantTrue, Op.SpecConstantTrue):
            return True
        if item.opcode in (Op.ConstantFalse, Op.SpecConstantFalse):
            return False
        if item.opcode not in (Op.Constant, Op.SpecConstant, Op.ConstantNull) or item.type_id is None:
            return None
        kind = self.definition(item.type_id)
        bits = decode_number(item.words)
        if kind.opcode == Op.TypeBool:
            return bool(bits)
        if kind.opcode == Op.TypeInt and 0 < kind.words[0] <= 64:
            return _integer(bits, kind.words[0], bool(kind.words[1]))
        if kind.opcode == Op.TypeFloat:
            layout = float_layout(*kind.words)
            return decode_float(bits, layout) if layout is not None else None
        return None

    # -- functions -------------------------------------------------------------------

    @cached_property
    def functions(self) -> list[Function]:
        """The functions in order.  Raises ValidationError if functions or blocks are not well nested."""
        return _functions(self.instructions)

    def function(self, identifier: int) -> Function:
        """The function with this result id; ValidationError if there is none."""
        for function in self.functions:
            if function.id == identifier:
                return function
        raise ValidationError("function-defined", f"id {identifier} is used as a function, but is none")


def _string(item: Instruction, start: int = 0) -> str:
    """The literal string among an instruction's words."""
    return _string_and_end(item, start)[0]


def _string_and_end(item: Instruction, start: int) -> tuple[str, int]:
    decoded = decode_string(item.words, start)
    if decoded is None:
        raise ValidationError("string-terminator", f"the string of {item.name} has no terminating zero",
                              item.offset)
    return decoded


def _member(kind: type[_E], value: int) -> _E | int:
    """The enumeration's member, or the number itself if it has none."""
    return kind(value) if value in kind._value2member_map_ else value


def _entry_point(item: Instruction) -> EntryPoint:
    model, function_id = item.words[:2]
    name, end = _string_and_end(item, 2)
    return EntryPoint(_member(ExecutionModel, model), function_id, name, item.words[end:])


def _integer(bits: int, width: int, signed: bool) -> int:
    value = bits & (1 << width) - 1
    return value - (1 << width) if signed and value >> width - 1 else value


_FREE_STANDING = frozenset({Op.Line, Op.NoLine, Op.ExtInst, Op.ExtInstWithForwardRefsKHR})
"""What may stand between functions and before the first block: lines, non-semantic information."""


def _functions(instructions: list[Instruction]) -> list[Function]:
    """Sort the instructions from the first OpFunction on into functions and blocks."""
    functions: list[Function] = []
    function: Function | None = None
    block: Block | None = None
    for item in instructions:
        opcode = item.opcode
        if block is not None:
            if opcode in (Op.Label, Op.Function, Op.FunctionEnd, Op.FunctionParameter):
                raise _misplaced(item, f"block %{block.label} has no terminator before it")
            block.instructions.append(item)
            if opcode in TERMINATORS:
                block = None
        elif opcode == Op.Function:
            if function is not None:
                raise _misplaced(item, f"function %{function.id} has no OpFunctionEnd before it")
            function = Function(item)
            functions.append(function)
        elif opcode in (Op.Label, Op.FunctionParameter, Op.FunctionEnd):
            if function is None:
                raise _misplaced(item, "it stands outside of a function")
            if opcode == Op.Label:
                block = Block(item.result_id or 0)
                function.blocks.append(block)
            elif opcode == Op.FunctionEnd:
                function = None
            elif function.blocks:
                raise _misplaced(item, "it stands after a block")
            else:
                function.parameters.append(item)
        elif functions and opcode not in _FREE_STANDING:
            raise _misplaced(item, "it stands outside of a block")
    if block is not None:
        raise ValidationError("block-terminator", f"block %{block.label}, the last one, has no terminator")
    if function is not None:
        raise ValidationError("function-end", f"function %{function.id} has no OpFunctionEnd",
                              function.instruction.offset)
    return functions


def _misplaced(item: Instruction, reason: str) -> ValidationError:
    return ValidationError("function-layout", f"{item.name} is misplaced: {reason}", item.offset)
