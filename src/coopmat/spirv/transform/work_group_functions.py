"""Functions of work-groups (SPIR-V's Group instructions of that scope) by way of local memory and barriers.

For drivers that have none, or wrong ones. Neither sub-groups nor more than core SPIR-V are needed: each work-item puts
its value into local memory, where scans double their reach round by round.
"""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.edit.editor import Editor, substitute
from coopmat.spirv.edit.linker import link
from coopmat.spirv.grammar import GroupOperation, Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.operands import decode_string
from coopmat.spirv.transform.opencl_std.code import Code, Imports
from coopmat.spirv.transform.opencl_std.replacing import without_exports


@dataclass(frozen=True)
class _Combination:
    """How two values become one, as text of an instruction's operation and first operands, and what changes nothing:
    of floats a number; of integers whether all bits but the sign are 1, and the sign."""

    operation: str
    identity: str | tuple[bool, bool]


_COMBINATIONS: dict[Op, _Combination] = {
    Op.GroupIAdd: _Combination("OpIAdd {value}", (False, False)),
    Op.GroupUMin: _Combination("OpExtInst {value} %std u_min", (True, True)),
    Op.GroupUMax: _Combination("OpExtInst {value} %std u_max", (False, False)),
    Op.GroupSMin: _Combination("OpExtInst {value} %std s_min", (True, False)),
    Op.GroupSMax: _Combination("OpExtInst {value} %std s_max", (False, True)),
    Op.GroupFAdd: _Combination("OpFAdd {value}", "0"),
    Op.GroupFMin: _Combination("OpExtInst {value} %std fmin", "0x1p+{infinity}"),
    Op.GroupFMax: _Combination("OpExtInst {value} %std fmax", "-0x1p+{infinity}"),
}
_VOTES = {Op.GroupAll: Op.GroupUMin, Op.GroupAny: Op.GroupUMax}
"""Votes are reductions of 0 and 1."""
WORK_GROUP_FUNCTIONS = frozenset({*_COMBINATIONS, *_VOTES, Op.GroupBroadcast})
_INFINITY = {16: 16, 32: 128, 64: 1024}  # of a float of so many bits, its exponent in SPIR-V's text
_SHARED = "values of a work-group"
_CAPABILITIES = {"f16": "Float16", "f64": "Float64", "i8": "Int8", "i16": "Int16"}

_HEAD = """
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Linkage
    OpCapability Int64
    {capability}
    %std = OpExtInstImport "OpenCL.std"
    OpMemoryModel Physical64 OpenCL
    OpName %values "{shared}"
    OpDecorate %function LinkageAttributes "{name}" Export
    OpDecorate %in_item BuiltIn LocalInvocationId
    OpDecorate %in_size BuiltIn WorkgroupSize
    OpDecorate %in_item Constant
    OpDecorate %in_size Constant
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %ulong = OpTypeInt 64 0
    {type}
    %triple = OpTypeVector %ulong 3
    %input = OpTypePointer Input %triple
    %in_item = OpVariable %input Input
    %in_size = OpVariable %input Input
    %scope = OpConstant %uint {scope}
    %order = OpConstant %uint 272
    %length = OpConstant %uint {length}
    %zero = OpConstant %ulong 0
    %one = OpConstant %ulong 1
    %array = OpTypeArray {value} %length
    %to_array = OpTypePointer Workgroup %array
    %to_value = OpTypePointer Workgroup {value}
    %values = OpVariable %to_array Workgroup
"""
_ITEM = """
    %start = OpLabel
    %item = OpLoad %triple %in_item Aligned 32
    %size = OpLoad %triple %in_size Aligned 32
    %item_x = OpCompositeExtract %ulong %item 0
    %item_y = OpCompositeExtract %ulong %item 1
    %item_z = OpCompositeExtract %ulong %item 2
    %size_x = OpCompositeExtract %ulong %size 0
    %size_y = OpCompositeExtract %ulong %size 1
    %size_z = OpCompositeExtract %ulong %size 2
    %row = OpIMul %ulong %item_z %size_y
    %rows = OpIAdd %ulong %row %item_y
    %before = OpIMul %ulong %rows %size_x
    %index = OpIAdd %ulong %before %item_x
"""
_SCAN = """
    %identity = OpConstant {value} {identity}
    %signature = OpTypeFunction {value} {value}
    %function = OpFunction {value} None %signature
    %given = OpFunctionParameter {value}
""" + _ITEM + """
    %plane = OpIMul %ulong %size_x %size_y
    %count = OpIMul %ulong %plane %size_z
    %own = OpInBoundsAccessChain %to_value %values %index
    OpStore %own %given Aligned {bytes}
    OpControlBarrier %scope %scope %order
    OpBranch %head
    %head = OpLabel
    %reach = OpPhi %ulong %one %start %further %next
    %goes_on = OpULessThan %bool %reach %count
    OpLoopMerge %end %next None
    OpBranchConditional %goes_on %round %end
    %round = OpLabel
    %has_other = OpUGreaterThanEqual %bool %index %reach
    %away = OpISub %ulong %index %reach
    %other = OpSelect %ulong %has_other %away %index
    %place = OpInBoundsAccessChain %to_value %values %other
    %theirs = OpLoad {value} %place Aligned {bytes}
    %mine = OpLoad {value} %own Aligned {bytes}
    %both = {operation} %theirs %mine
    %new = OpSelect {value} %has_other %both %mine
    OpControlBarrier %scope %scope %order
    OpStore %own %new Aligned {bytes}
    OpControlBarrier %scope %scope %order
    OpBranch %next
    %next = OpLabel
    %further = OpIAdd %ulong %reach %reach
    OpBranch %head
    %end = OpLabel
    %is_first = OpIEqual %bool %index %zero
    %previous = OpISub %ulong %index %one
    %last = OpISub %ulong %count %one
    %wanted = {wanted}
    %found_at = OpInBoundsAccessChain %to_value %values %wanted
    %found = OpLoad {value} %found_at Aligned {bytes}
    OpControlBarrier %scope %scope %order
    %result = {result}
    OpReturnValue %result
    OpFunctionEnd
"""
_WANTED: dict[int, tuple[str, str]] = {
    GroupOperation.Reduce: ("OpCopyObject %ulong %last", "OpCopyObject {value} %found"),
    GroupOperation.InclusiveScan: ("OpCopyObject %ulong %index", "OpCopyObject {value} %found"),
    GroupOperation.ExclusiveScan: ("OpSelect %ulong %is_first %index %previous",
                                   "OpSelect {value} %is_first %identity %found"),
}
"""Which element of the inclusive scan is wanted, and what comes of it."""
_BROADCAST = """
    %signature = OpTypeFunction {value} {value} %triple
    %function = OpFunction {value} None %signature
    %given = OpFunctionParameter {value}
    %source = OpFunctionParameter %triple
""" + _ITEM + """
    %source_x = OpCompositeExtract %ulong %source 0
    %source_y = OpCompositeExtract %ulong %source 1
    %source_z = OpCompositeExtract %ulong %source 2
    %is_x = OpIEqual %bool %source_x %item_x
    %is_y = OpIEqual %bool %source_y %item_y
    %is_z = OpIEqual %bool %source_z %item_z
    %is_xy = OpLogicalAnd %bool %is_x %is_y
    %is_it = OpLogicalAnd %bool %is_xy %is_z
    %shared = OpInBoundsAccessChain %to_value %values %zero
    OpSelectionMerge %stored None
    OpBranchConditional %is_it %store %stored
    %store = OpLabel
    OpStore %shared %given Aligned {bytes}
    OpBranch %stored
    %stored = OpLabel
    OpControlBarrier %scope %scope %order
    %result = OpLoad {value} %shared Aligned {bytes}
    OpControlBarrier %scope %scope %order
    OpReturnValue %result
    OpFunctionEnd
"""


def has_work_group_functions(module: Module) -> bool:
    """Whether work-groups reduce, scan, vote or broadcast."""
    return any(_is_of_work_group(module, row) for row in module.of_opcode(*WORK_GROUP_FUNCTIONS))


def without_work_group_functions(module: Module, most_items: int) -> Module:
    """The module whose functions of work-groups are its own. most_items: work-items of the largest work-group.

    Raises KernelNotSupported for those of vectors, which OpenCL C does not have.
    """
    if not has_work_group_functions(module):
        return module
    editor = Editor(module)
    imports = Imports(editor)
    made: dict[str, Module] = {}

    def change(row: Instruction) -> list[Instruction] | None:
        if row.opcode not in WORK_GROUP_FUNCTIONS or not _is_of_work_group(module, row):
            return None
        return _Call(module, Code(imports, row), made, most_items).rows()

    editor.rewrite_functions(change)
    editor.functions[:0] = imports.declarations
    editor.sweep()
    return _sharing(without_exports(link([editor.finish(), *made.values()]), imports.names))


def _sharing(module: Module) -> Module:
    """The module whose functions use one array for all values of one type: none of them is left while another one is
    at work."""
    first: dict[int | None, int] = {}
    same: dict[int, int] = {}
    for row in module.of_opcode(Op.Name):
        if decode_string(row.words, 1) == (_SHARED, len(row.words)):
            same[row.words[0]] = first.setdefault(module.definition(row.words[0]).type_id, row.words[0])
    gone = {old for old, new in same.items() if old != new}
    rows = []
    for row in module.instructions:
        if row.opcode == Op.EntryPoint:
            entry = next(one for one in module.entry_points if one.function_id == row.words[1])
            row = make(Op.EntryPoint, entry.model, entry.function_id, entry.name,
                       *dict.fromkeys(same.get(one, one) for one in entry.interface))
        elif row.result_id in gone or (row.opcode == Op.Name and row.words[0] in gone):
            continue
        rows.append(substitute(row, same))
    return module.with_instructions(rows)


def _is_of_work_group(module: Module, row: Instruction) -> bool:
    return module.constant_value(row.words[0]) == Scope.Workgroup


@dataclass
class _Call:
    """What takes the place of one instruction: a call of a function, which goes to ``made``."""

    module: Module
    code: Code
    made: dict[str, Module]
    most_items: int

    def rows(self) -> list[Instruction]:
        code, row = self.code, self.code.row
        opcode = Op(row.opcode)
        if opcode in _VOTES:
            word = code.integer(32)
            given = code.value(Op.Select, word, row.words[1], code.constant(1, word), code.constant(0, word))
            found = self._reduced(_VOTES[opcode], GroupOperation.Reduce, word, given)
            return code.named(code.value(Op.INotEqual, code.boolean(1), found, code.constant(0, word)))
        kind = row.type_id or 0
        if code.count(kind) > 1:
            raise KernelNotSupported(f"{row.name} of vectors in a work-group: the driver has none, and what takes its "
                                     "place is for numbers: let each component be one",
                                     location=place_of(self.module, row))
        if opcode == Op.GroupBroadcast:
            return code.named(self._broadcast(kind, *row.words[1:]))
        return code.named(self._reduced(opcode, row.words[1], kind, row.words[2]))

    def _reduced(self, opcode: Op, operation: int, kind: int, value: int) -> int:
        """The function of a reduction or scan."""
        combination, width = _COMBINATIONS[opcode], self.code.width(kind)
        if isinstance(combination.identity, str):
            identity = combination.identity.format(infinity=_INFINITY[width])
        else:
            low, sign = combination.identity
            identity = str((((1 << width - 1) - 1) if low else 0) | sign << width - 1)
        name = f"work_group_{opcode.name}_{operation}_{self.code.kind(kind)}"
        wanted, result = _WANTED[operation]
        self._make(name, kind, _SCAN, self.most_items, identity=identity, operation=combination.operation,
                   wanted=wanted, result=result)
        return self.code.call(name, kind, value)

    def _broadcast(self, kind: int, value: int, source: int) -> int:
        """The function of a broadcast; the work-item is one of three numbers, those that are not given 0."""
        code = self.code
        long, given = code.integer(64), code.type_of(source)
        parts = [code.component(source, place) for place in range(code.count(given))]
        wide = [part if code.width(given) == 64 else code.value(Op.UConvert, long, part) for part in parts]
        name = f"work_group_broadcast_{code.kind(kind)}"
        self._make(name, kind, _BROADCAST, 1)
        triple = code.together([*wide, *[code.constant(0, long)] * (3 - len(wide))])
        return code.call(name, kind, value, triple)

    def _make(self, name: str, kind: int, text: str, length: int, **words: str) -> None:
        if name in self.made:
            return
        width, code = self.code.width(kind), self.code.kind(kind)
        value = {"i32": "%uint", "i64": "%ulong"}.get(code, "%value")
        type_ = f"%value = OpType{'Float' if code[0] == 'f' else 'Int'} {width}{' 0' if code[0] == 'i' else ''}"
        words = {place: word.format(value=value) for place, word in words.items()}
        self.made[name] = Module.from_text("; Version: 1.4\n" + (_HEAD + text).format(
            name=name, shared=_SHARED, bytes=width // 8, length=length, scope=int(Scope.Workgroup), value=value,
            capability=f"OpCapability {_CAPABILITIES[code]}" if code in _CAPABILITIES else "",
            type=type_ if value == "%value" else "", **words))
