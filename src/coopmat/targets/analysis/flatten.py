"""A kernel as one function: every call replaced by the blocks of what it calls.

SPIR-V's kernels cannot recurse, so that this ends; and afterwards every analysis is one of a single function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.control_flow import successors_of, without_dead_ends
from coopmat.spirv.analysis.imports import imported_name, is_assertion, unresolved
from coopmat.spirv.analysis.lock_step import Flow, flow_of, kept_in_loops
from coopmat.spirv.analysis.types import Type, TypeTable
from coopmat.spirv.grammar import Decoration, FunctionParameterAttribute, Op, StorageClass
from coopmat.spirv.module import Block, Function, Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.text.names import source_name
from coopmat.support.cached import cached_property
from coopmat.support.limits import DEEPEST_CALL

MOST_INSTRUCTIONS = 1 << 18  # of a kernel, with everything that it calls
LINES = frozenset({Op.Line, Op.NoLine})


@dataclass
class Flat:
    """A kernel without calls. ``types`` are those of its values; ``definitions`` are its own instructions by their ids;
    ``origin`` is the id in the module of each id that stands for it in a copy of its function (decorations and names
    are found by it); ``kept`` are the labels of what ``kept_in_loops`` gives for each function; ``full_rounds`` are the
    heads of loops that are left when a work-item would leave them, by their labels, with the block to which all
    work-items go then."""

    module: Module
    types: TypeTable
    parameters: list[Instruction]
    blocks: list[Block]
    definitions: dict[int, Instruction] = field(default_factory=dict)
    origin: dict[int, int] = field(default_factory=dict)
    kept: list[tuple[int, int]] = field(default_factory=list)
    full_rounds: dict[int, int] = field(default_factory=dict)

    @cached_property
    def has_assertions(self) -> bool:
        """Whether it may end by a failed assertion."""
        return any(row.opcode == Op.FunctionCall for block in self.blocks for row in block.instructions)

    @cached_property
    def flow(self) -> Flow:
        """The order of the blocks, without the ways that never return."""
        dead = [number for number, block in enumerate(self.blocks) if block.terminator.opcode == Op.Unreachable]
        numbers = labels_of(self.blocks)
        kept = [(numbers[one], numbers[other]) for one, other in self.kept]
        return flow_of(without_dead_ends(successors_of(self.blocks), dead), kept)

    def definition(self, identifier: int) -> Instruction:
        """The instruction whose result an id is, of this kernel or of the module."""
        found = self.definitions.get(identifier)
        return found if found is not None else self.module.definition(identifier)

    def original(self, identifier: int) -> int:
        """The id that the module has for an id."""
        return self.origin.get(identifier, identifier)

    def type_of(self, identifier: int) -> Type:
        """The type of a value."""
        row = self.definition(identifier)
        if row.type_id is None:
            raise ValidationError("operand-value", f"{row.name} %{identifier} is not a value", row.offset)
        return self.types[row.type_id]

    def pointee(self, pointer: int) -> Type:
        """What a pointer points to."""
        return self.types.pointee(self.type_of(pointer))

    def constant_of(self, identifier: int) -> int | None:
        """The value of an integer constant (unsigned where its type has no sign), or None."""
        value = self.module.constant_value(identifier) if identifier not in self.definitions else None
        return int(value) if isinstance(value, int) else None


def flatten(module: Module, function_id: int, types: TypeTable) -> Flat:
    """The kernel without calls; ``types``: of the module. Error for recursion, for functions without a body, and for a
    kernel too large."""
    flattener = _Flattener(module)
    source = module.function(function_id)
    if not source.blocks:
        raise _unresolved(module, function_id)
    blocks = flattener.body(source, {}, (function_id,))
    flat = Flat(module, types, list(source.parameters), blocks, origin=flattener.origin, kept=flattener.kept)
    for row in (*source.parameters, *(row for block in blocks for row in block.instructions)):
        if row.result_id is not None:
            if row.result_id in flat.definitions:
                raise ValidationError("id-unique", f"{row.name} defines id {row.result_id} again", row.offset)
            flat.definitions[row.result_id] = row
    return flat


class _Flattener:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.bound = module.bound
        self.origin: dict[int, int] = {}
        self.kept: list[tuple[int, int]] = []
        self.count = 0

    def fresh(self) -> int:
        self.bound += 1
        return self.bound - 1

    def body(self, source: Function, renames: dict[int, int], calls: tuple[int, ...]) -> list[Block]:
        """The blocks of a function with other ids, and without calls."""
        result: list[Block] = []
        last: dict[int, int] = {}  # label of a block → label of what its end became, where calls cut it
        for block in source.blocks:
            label = renames.get(block.label, block.label)
            current = Block(label)
            result.append(current)
            for row in block.instructions:
                self._count(source)
                renamed = self._renamed(row, renames)
                if row.opcode != Op.FunctionCall or is_assertion(self.module, row.words[0]):
                    current.instructions.append(renamed)
                    continue
                after = Block(self.fresh())
                line = next((row for row in reversed(current.instructions) if row.opcode in LINES), None)
                result += self._inlined(renamed, current, after, calls)
                if line is not None:
                    after.instructions.append(line)
                result.append(after)
                current = after
            if current.label != label:
                last[label] = current.label
        for edge in kept_in_loops(source.blocks):
            leaving, latch = (renames.get(label, label) for label in (source.blocks[one].label for one in edge))
            self.kept.append((last.get(leaving, leaving), latch))
        return [with_parents(block, last) for block in result] if last else result

    def _count(self, source: Function) -> None:
        self.count += 1
        if self.count > MOST_INSTRUCTIONS:
            raise Error(f"the kernel has more than {MOST_INSTRUCTIONS} instructions once its calls are replaced by "
                        f"what they call; function '{self._name(source.id)}' is the last of them")

    def _renamed(self, row: Instruction, renames: dict[int, int]) -> Instruction:
        if not renames or row.opcode in LINES:
            return row
        found = row.with_ids(lambda identifier: renames.get(identifier, identifier))
        found.offset = row.offset
        return found

    def _inlined(self, call: Instruction, before: Block, after: Block, calls: tuple[int, ...]) -> list[Block]:
        callee, *arguments = call.words
        if callee in calls:
            chain = " calls ".join(self._name(one) for one in (*calls[calls.index(callee):], callee))
            raise Error(f"recursion is not possible: {chain}")
        if len(calls) >= DEEPEST_CALL:
            raise Error(f"calls are nested more than {DEEPEST_CALL} deep")
        source = self.module.function(callee)
        if not source.blocks:
            raise _unresolved(self.module, callee)
        if len(arguments) != len(source.parameters):
            raise ValidationError("call-arguments", f"function '{self._name(callee)}' takes {len(source.parameters)} "
                                  f"arguments, found {len(arguments)}", call.offset)
        renames = self._fresh_ids(source)
        renames |= {parameter.result_id or 0: self._passed(parameter, argument, before)
                    for parameter, argument in zip(source.parameters, arguments, strict=True)}
        blocks = self.body(source, renames, (*calls, callee))
        before.instructions.append(Instruction(Op.Branch, None, None, (blocks[0].label,), call.offset))
        returned: list[int] = []
        for block in blocks:
            end = block.instructions[-1]
            if end.opcode in (Op.Return, Op.ReturnValue):
                if end.opcode == Op.ReturnValue:
                    returned += [end.words[0], block.label]
                block.instructions[-1] = Instruction(Op.Branch, None, None, (after.label,), end.offset)
        if returned:
            after.instructions.append(Instruction(Op.Phi, call.type_id, call.result_id, tuple(returned), call.offset))
        elif self.module.definition(call.type_id or 0).opcode != Op.TypeVoid:  # it never returns
            after.instructions.append(Instruction(Op.Undef, call.type_id, call.result_id, (), call.offset))
        return blocks

    def _passed(self, parameter: Instruction, argument: int, before: Block) -> int:
        """What stands for a parameter: the argument, or a copy of what it points to that is the function's own."""
        if not any(decoration == Decoration.FuncParamAttr and words[0] == FunctionParameterAttribute.ByVal
                   for decoration, words in self.module.decorations(parameter.result_id or 0)):
            return argument
        copy = self.fresh()
        self.origin[copy] = parameter.result_id or 0
        before.instructions += [
            Instruction(Op.Variable, parameter.type_id, copy, (StorageClass.Function,), parameter.offset),
            Instruction(Op.CopyMemory, None, None, (copy, argument), parameter.offset)]
        return copy

    def _fresh_ids(self, source: Function) -> dict[int, int]:
        renames = {}
        for block in source.blocks:
            for identifier in (block.label, *(row.result_id for row in block.instructions)):
                if identifier is not None:
                    renames[identifier] = self.fresh()
                    self.origin[renames[identifier]] = identifier
        return renames

    def _name(self, identifier: int) -> str:
        return source_name(self.module.names.get(identifier) or f"%{identifier}")


def with_parents(block: Block, last: dict[int, int]) -> Block:
    """The block with phis that name the blocks that control really comes from."""
    def changed(row: Instruction) -> Instruction:
        if row.opcode != Op.Phi:
            return row
        words = tuple(last.get(word, word) if place % 2 else word for place, word in enumerate(row.words))
        return Instruction(row.opcode, row.type_id, row.result_id, words, row.offset)

    return Block(block.label, [changed(row) for row in block.instructions])


def _unresolved(module: Module, identifier: int) -> Error:
    name = imported_name(module, identifier) or module.names.get(identifier) or f"%{identifier}"
    return unresolved("function", name)


def labels_of(blocks: Sequence[Block]) -> dict[int, int]:
    """Label → number of each block."""
    return {block.label: number for number, block in enumerate(blocks)}
