"""Functions with any control flow, and a small interpreter of one work-item: what it logs on its way.

``module(edges)`` gives a kernel whose block i goes to the blocks ``edges[i]`` by a decision that it reads from memory;
without targets it returns, or ends with OpUnreachable where i is in ``dead``. Each block logs a value that is made of
those of the block that it came from and of one that dominates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coopmat.spirv import Module
from coopmat.spirv.analysis.control_flow import predecessors_of, switch_cases
from coopmat.spirv.analysis.dominators import immediate_dominators, preorder
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction

Edges = Sequence[Sequence[int]]
MOST_LOGGED = 80
HEAD = """\
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
%void = OpTypeVoid
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%p = OpTypePointer CrossWorkgroup %u32
%signature = OpTypeFunction %void %p %p
"""


def module(edges: Edges, dead: Sequence[int] = ()) -> Module:
    """The kernel. Blocks that cannot be reached are part of it, too."""
    order, _ = preorder(0, edges.__getitem__)
    sources = predecessors_of([list(dict.fromkeys(found)) for found in edges])
    above = immediate_dominators(0, edges.__getitem__, sources.__getitem__)
    blocks = [*order, *(block for block in range(len(edges)) if block not in order)]
    lines = [HEAD, *(f"%c{number} = OpConstant %u32 {number}" for number in range(len(edges) + 4)),
             "%k = OpFunction %void None %signature", "%log = OpFunctionParameter %p",
             "%decisions = OpFunctionParameter %p", "%start = OpLabel", "OpBranch %b0"]
    for block in blocks:
        before = [*(["%c3", "%start"] if block == 0 else []),
                  *(word for source in sources[block] for word in (f"%v{source}", f"%b{source}"))]
        lines += [f"%b{block} = OpLabel",
                  f"%x{block} = OpPhi %u32 {' '.join(before)}" if before else f"%x{block} = OpIAdd %u32 %c1 %c2",
                  f"%w{block} = OpIMul %u32 %x{block} %c3",
                  f"%v{block} = OpIAdd %u32 %w{block} %{f'v{above[block]}' if above.get(block, -1) >= 0 else 'c2'}",
                  f"%l{block} = OpIAdd %u32 %v{block} %c{block}", f"OpStore %log %l{block}",
                  *_end(block, edges[block], block in dead)]
    return Module.from_text("\n".join([*lines, "OpFunctionEnd"]) + "\n")


def _end(block: int, targets: Sequence[int], is_dead: bool) -> Iterator[str]:
    if not targets:
        yield "OpUnreachable" if is_dead else "OpReturn"
    elif len(targets) == 1:
        yield f"OpBranch %b{targets[0]}"
    else:
        yield f"%d{block} = OpLoad %u32 %decisions Volatile"
        yield f"%m{block} = OpUMod %u32 %d{block} %c{len(targets)}"
        if len(targets) == 2 and targets[0] != targets[1]:
            yield f"%n{block} = OpIEqual %bool %m{block} %c0"
            yield f"OpBranchConditional %n{block} %b{targets[0]} %b{targets[1]}"
        else:
            cases = " ".join(f"{number} %b{target}" for number, target in enumerate(targets[1:], 1))
            yield f"OpSwitch %m{block} %b{targets[0]} {cases}"


def trace(program: Module, decisions: Sequence[int]) -> list[int | str]:
    """What the kernel logs with these decisions, until it ends, makes one more or has logged enough."""
    return _Interpreter(program, decisions).run()


class _Interpreter:
    def __init__(self, program: Module, decisions: Sequence[int]) -> None:
        self.module = program
        self.decisions = list(reversed(decisions))
        self.function = program.functions[0]
        self.log, self.choices = (row.result_id for row in self.function.parameters)
        self.values: dict[int, int] = {}
        self.memory: dict[int, int] = {}
        self.logged: list[int | str] = []

    def run(self) -> list[int | str]:
        before, label = 0, self.function.blocks[0].label
        while len(self.logged) < MOST_LOGGED:
            block = self.function.block(label)
            phis = {row.result_id: self._value(dict(zip(row.words[1::2], row.words[::2], strict=True))[before])
                    for row in block.instructions if row.opcode == Op.Phi}
            self.values |= phis  # type: ignore[arg-type]
            for row in block.instructions[:-1]:
                if row.opcode == Op.Load and row.words[0] == self.choices and not self.decisions:
                    return self.logged
                self._run(row)
            before, following = label, self._next(block.terminator)
            if following is None:
                return [*self.logged, block.terminator.name]
            label = following
        return self.logged

    def _value(self, identifier: int) -> int:
        if identifier in self.values:
            return self.values[identifier]
        return int(self.module.constant_value(identifier) or 0)

    def _run(self, row: Instruction) -> None:
        if row.opcode in (Op.Phi, Op.Variable, Op.SelectionMerge, Op.LoopMerge):
            return
        if row.opcode == Op.Store:
            self.logged.append(self._value(row.words[1])) if row.words[0] == self.log else self.memory.update(
                {row.words[0]: self._value(row.words[1])})
            return
        assert row.result_id is not None
        if row.opcode == Op.Load:
            is_decision = row.words[0] == self.choices
            self.values[row.result_id] = self.decisions.pop() if is_decision else self.memory[row.words[0]]
        else:
            one, other = map(self._value, row.words)
            self.values[row.result_id] = _OPERATIONS[row.opcode](one, other) & 0xFFFFFFFF

    def _next(self, end: Instruction) -> int | None:
        if end.opcode == Op.Branch:
            return end.words[0]
        if end.opcode == Op.BranchConditional:
            return end.words[1 if self._value(end.words[0]) else 2]
        if end.opcode == Op.Switch:
            default, cases = switch_cases(end, 4)
            return cases.get(self._value(end.words[0]), default)
        return None


_OPERATIONS = {Op.IAdd: int.__add__, Op.IMul: int.__mul__, Op.UMod: int.__mod__, Op.IEqual: lambda a, b: int(a == b),
               Op.LogicalOr: int.__or__}
