"""The builder that writes SPIR-V for the OpenCL environment.

The module runs on 64-bit devices (Physical64, OpenCL memory model) and is not optimised: variables stay
in memory, every operation knows its source line, and structured control flow names its merge blocks.

What a consumer should know: a record that a kernel takes by value arrives as a Function pointer with the
attribute ``ByVal``; ``const`` pointers of kernels carry ``NoWrite``, ``restrict`` ones ``NoAlias``; a
string ``kernel_arg_type.<kernel>.<types>,`` holds the parameters' OpenCL C types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coopmat.diagnostics import SourceLocation
from coopmat.lowering.builder import BasicBlock, LoopMerge, Value, Window
from coopmat.lowering.mangling import function_name
from coopmat.lowering.memory import is_bool, member_index, memory_type, natural_alignment, physical_record
from coopmat.lowering.spirv.blocks import BlockWriter
from coopmat.lowering.spirv.operations import BINARY, CONVERT, HAS_FAST_MATH, MAY_OVERFLOW, ROUNDING_MODES, UNARY
from coopmat.lowering.spirv.types import STORAGE_CLASSES, TypeLowering
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import (
    ID_KINDS,
    OPENCL_STD,
    BuiltIn,
    Capability,
    Decoration,
    ExecutionMode,
    FPFastMathMode,
    FunctionControl,
    FunctionParameterAttribute,
    LinkageType,
    LoopControl,
    MemoryAccess,
    Op,
    SelectionControl,
    SourceLanguage,
    instruction,
)
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.operands import encode_number
from coopmat.tree import types as t
from coopmat.tree.nodes import BinaryOperator, Function, Language, Program, UnaryOperator, Variable

VERSIONS = {Language.OPENCL_C: 300000, Language.SYCL: 100000}
"""The version of each source language, as OpSource has it."""
_VEC3_SIZE = t.Vector(t.SIZE_T, 3)  # type of the built-ins that take a dimension
_UNDEFINED_COMPONENT = 0xFFFFFFFF


class SpirvBuilder:
    """Implements :class:`coopmat.lowering.builder.Builder`; :meth:`finish` gives the module. ``marks_overflow``: signed
    arithmetic says that it must not overflow. ``fast_math``: what that of floating-point numbers and their functions
    may assume, names of FPFastMathMode."""

    def __init__(self, *, marks_overflow: bool = False, fast_math: Sequence[str] = ()) -> None:
        self._marks_overflow = marks_overflow
        self._fast_math = sum(FPFastMathMode[name] for name in fast_math)
        self._module = ModuleBuilder()
        self._types = TypeLowering(self._module)
        self._function_ids: dict[Function, int] = {}
        self._computed: set[int] = set()
        self._contract = True
        self._blocks = BlockWriter(self._module)
        self._location: SourceLocation | None = None

    def finish(self) -> Module:
        """The module, complete; one without kernels is a library (2.16.1, universal validation rules)."""
        module = self._module.finish()
        if module.entry_points:
            return module
        linkage = make(Op.Capability, Capability.Linkage)
        return Module([linkage, *module.instructions], version=module.version, bound=module.bound)

    # -- Program and functions -----------------------------------------------------------

    def begin_program(self, program: Program) -> None:
        self._contract = program.contract_floating_point
        located = next((f.location for f in program.functions if f.location is not None), None)
        file = None if located is None else self._module.string(located.name)
        self._module.source(SourceLanguage[program.language.value], VERSIONS[program.language], file)

    def module_variable(self, variable: Variable, initializer: Value | None) -> Value:
        storage = STORAGE_CLASSES[variable.address_space]
        identifier = self._module.global_variable(storage, self._types.memory(variable.type),
                                                  None if initializer is None else initializer.handle)
        if variable.const or variable.address_space is t.AddressSpace.CONSTANT:
            self._module.decorate(identifier, Decoration.Constant)
        return self._named_variable(variable, identifier)

    def local_variable(self, variable: Variable) -> Value:
        return self._named_variable(variable, self._module.local_variable(self._types.memory(variable.type)))

    def _named_variable(self, variable: Variable, identifier: int) -> Value:
        if variable.name:
            self._module.name(identifier, variable.name)
        alignment = max(t.layout_of(variable.type).alignment, variable.alignment or 1)
        if alignment > natural_alignment(memory_type(variable.type)):
            self._module.decorate(identifier, Decoration.Alignment, alignment)
        return Value(t.Pointer(variable.type, variable.address_space, variable.const), identifier)

    def declare_function(self, function: Function) -> None:
        identifier = self._function_ids[function] = self._module.new_id()
        self._module.name(identifier, function_name(function))
        if function.is_kernel:
            self._declare_kernel(function, identifier)

    def import_function(self, function: Function) -> None:
        module = self._module
        identifier = self._function_ids[function] = module.new_id()
        module.name(identifier, function.name)
        module.export(identifier, function.name, LinkageType.Import)
        types = [self._types.value(parameter.type) for parameter in function.parameters]
        result = self._types.value(function.result)
        module.begin_function(result, module.type_function(result, types), identifier=identifier)
        for type_id in types:
            module.parameter(type_id)
        module.end_function()

    def _declare_kernel(self, kernel: Function, identifier: int) -> None:
        module = self._module
        module.entry_point(identifier, kernel.name)
        sizes = ((ExecutionMode.LocalSize, kernel.required_work_group_size),
                 (ExecutionMode.LocalSizeHint, kernel.work_group_size_hint))
        for mode, size in sizes:
            if size is not None:
                module.execution_mode(identifier, mode, *size)
        if kernel.required_sub_group_size is not None:
            module.execution_mode(identifier, ExecutionMode.SubgroupSize, kernel.required_sub_group_size)
        if not self._contract:
            module.execution_mode(identifier, ExecutionMode.ContractionOff)
        types = "".join(f"{_source_type(parameter.type)}," for parameter in kernel.parameters)
        module.string(f"kernel_arg_type.{kernel.name}.{types}")

    def begin_function(self, function: Function) -> list[Value]:
        module = self._module
        result = self._types.value(function.result)
        types = [self._types.value(_parameter_type(function, p)) for p in function.parameters]
        control = FunctionControl.Inline if function.inline else FunctionControl.None_
        module.begin_function(result, module.type_function(result, types), control=control,
                              identifier=self._function_ids[function])
        identifiers = [module.parameter(type_id) for type_id in types]
        self._blocks = BlockWriter(module)
        self._blocks.begin(module.new_id())
        self._blocks.locate(self._location)
        return [self._parameter(function, parameter, identifier)
                for parameter, identifier in zip(function.parameters, identifiers, strict=True)]

    def _parameter(self, function: Function, parameter: Variable, identifier: int) -> Value:
        """Name and decorate a parameter; its value."""
        self._module.name(identifier, parameter.name)
        value = Value(_parameter_type(function, parameter), identifier)
        if not function.is_kernel:
            return value
        for decoration in _parameter_decorations(parameter):
            self._module.decorate(identifier, *decoration)
        if isinstance(parameter.type, t.Record):
            return self.load(value, t.layout_of(parameter.type).alignment)
        if is_bool(parameter.type):
            return replace(self.binary(BinaryOperator.NOT_EQUAL, value, self.zero(value.type)),
                           type=parameter.type)
        return value

    def end_function(self) -> None:
        self._blocks.write()
        self._module.end_function()

    def locate(self, location: SourceLocation | None) -> None:
        self._location = location
        self._blocks.locate(location)

    # -- Blocks --------------------------------------------------------------------------

    def new_block(self, purpose: str) -> BasicBlock:
        return BasicBlock(self._module.new_id())

    def open_block(self, block: BasicBlock) -> None:
        self._blocks.begin(block.handle)

    @property
    def current_block(self) -> BasicBlock:
        return BasicBlock(self._blocks.label)

    def branch(self, target: BasicBlock, loop: LoopMerge | None = None) -> None:
        self._blocks.terminate(make(Op.Branch, target.handle), (target.handle,), _merge(loop))

    def branch_if(self, condition: Value, if_true: BasicBlock, if_false: BasicBlock,
                  merge: BasicBlock | LoopMerge | None = None) -> None:
        targets = (if_true.handle, if_false.handle)
        self._blocks.terminate(make(Op.BranchConditional, condition.handle, *targets), targets, _merge(merge))

    def switch(self, value: Value, cases: Sequence[tuple[int, BasicBlock]], default: BasicBlock,
               merge: BasicBlock | None) -> None:
        scalar = value.type
        assert isinstance(scalar, t.Scalar)
        count = max(1, scalar.bits // 32)
        words = [word for number, block in cases
                 for word in (*encode_number(number % (1 << scalar.bits), count), block.handle)]
        targets = (*(block.handle for _, block in cases), default.handle)
        self._blocks.terminate(make(Op.Switch, value.handle, default.handle, *words, context=count),
                               tuple(dict.fromkeys(targets)), _merge(merge))

    def return_value(self, value: Value | None) -> None:
        item = make(Op.Return) if value is None else make(Op.ReturnValue, value.handle)
        self._blocks.terminate(item, ())

    def unreachable(self) -> None:
        self._blocks.terminate(make(Op.Unreachable), ())

    def phi(self, type_: t.Type, incoming: Sequence[tuple[Value, BasicBlock]]) -> Value:
        pairs = [word for value, block in incoming for word in (value.handle, block.handle)]
        return self._value(Op.Phi, type_, *pairs)

    # -- Constants -----------------------------------------------------------------------

    def constant(self, type_: t.Type, value: int | float | bool) -> Value:
        return Value(type_, self._module.constant(self._types.value(type_), value))

    def zero(self, type_: t.Type) -> Value:
        match type_:
            case t.Scalar():
                return self.constant(type_, 0)
            case t.Matrix(scalar=scalar):
                return self.matrix_fill(type_, self.constant(scalar, 0))
        return Value(type_, self._module.constant_null(self._types.value(type_)))

    def undefined(self, type_: t.Type) -> Value:
        return Value(type_, self._module.undef(self._types.value(type_)))

    def constant_composite(self, type_: t.Type, elements: Sequence[Value]) -> Value:
        parts = self._members(type_, elements)
        type_id = self._types.value(type_)
        if self._computed.isdisjoint(parts):
            return Value(type_, self._module.constant_composite(type_id, parts))
        return self._compute(type_, self._module.spec_constant_composite(type_id, parts))

    def constant_offset(self, pointer: Value, steps: int) -> Value:
        if not steps:
            return pointer
        return self._operation(pointer.type, Op.PtrAccessChain, pointer.handle, self.constant(t.LONG, steps).handle)

    def constant_cast(self, pointer: Value, type_: t.Type) -> Value:
        assert isinstance(pointer.type, t.Pointer)
        if not isinstance(type_, t.Pointer):
            return self._operation(type_, Op.ConvertPtrToU, pointer.handle)
        same_space = replace(type_, address_space=pointer.type.address_space)
        if self._types.value(same_space) != self._types.value(pointer.type):
            pointer = self._operation(same_space, Op.Bitcast, pointer.handle)
        if type_.address_space is not same_space.address_space:
            return self._operation(type_, Op.PtrCastToGeneric, pointer.handle)
        return replace(pointer, type=type_)

    def _operation(self, type_: t.Type, op: Op, *operands: int) -> Value:
        return self._compute(type_, self._module.constant_operation(self._types.value(type_), op, *operands))

    def _compute(self, type_: t.Type, identifier: int) -> Value:
        """A constant that SPIR-V counts among the specialisation constants, as it is the result of an operation."""
        self._computed.add(identifier)
        return Value(type_, identifier)

    def _members(self, type_: t.Type, elements: Sequence[Value]) -> list[int]:
        """The ids of a composite's parts, those for a record's padding included."""
        handles: list[int] = [element.handle for element in elements]
        if not isinstance(type_, t.Record):
            return handles
        physical = physical_record(type_)
        if type_.is_union:
            return handles
        position = {member: handles[field] for field, member in enumerate(physical.index_of) if member is not None}
        return [position[i] if i in position else self.zero(member).handle
                for i, member in enumerate(physical.members)]

    # -- Emitting ------------------------------------------------------------------------

    def _value(self, op: Op, type_: t.Type, *operands: int) -> Value:
        identifier = self._module.new_id()
        self._blocks.append(make(op, *operands, type_id=self._types.value(type_), result_id=identifier))
        return Value(type_, identifier)

    def _emit(self, op: Op, *operands: int) -> None:
        self._blocks.append(make(op, *operands))

    # -- Memory --------------------------------------------------------------------------

    def load(self, pointer: Value, alignment: int, volatile: bool = False) -> Value:
        type_ = memory_type(_pointee(pointer))
        return self._value(Op.Load, type_, pointer.handle, *_memory_access(type_, alignment, volatile))

    def store(self, pointer: Value, value: Value, alignment: int, volatile: bool = False) -> None:
        self._emit(Op.Store, pointer.handle, value.handle, *_memory_access(value.type, alignment, volatile))

    def access(self, pointer: Value, indices: Sequence[Value | int]) -> Value:
        assert isinstance(pointer.type, t.Pointer)
        ids, inner = [], pointer.type.pointee
        for index in indices:
            ids.append(self._index(inner, index))
            inner = _part(inner, index)
        return self._value(Op.AccessChain, replace(pointer.type, pointee=inner), pointer.handle, *ids)

    def _index(self, type_: t.Type, index: Value | int) -> int:
        if isinstance(index, Value):
            return index.handle
        if isinstance(type_, t.Record):
            index = member_index(type_, index)
        index_type = t.INT if -(1 << 31) <= index < 1 << 31 else t.LONG
        return self.constant(index_type, index).handle

    def offset_pointer(self, pointer: Value, offset: Value) -> Value:
        return self._value(Op.PtrAccessChain, pointer.type, pointer.handle, offset.handle)

    def cast_address_space(self, pointer: Value, type_: t.Type) -> Value:
        assert isinstance(type_, t.Pointer)
        to_generic = type_.address_space is t.AddressSpace.GENERIC
        return self._value(Op.PtrCastToGeneric if to_generic else Op.GenericCastToPtr, type_, pointer.handle)

    def with_cache_controls(self, pointer: Value, loads: Sequence[tuple[int, int]],
                            stores: Sequence[tuple[int, int]]) -> Value:
        """The id of an access chain that goes nowhere is decorated, as the SPIR-V translator does."""
        same = self._access_to_same(pointer)
        for decoration, controls in ((Decoration.CacheControlLoadINTEL, loads),
                                     (Decoration.CacheControlStoreINTEL, stores)):
            for level, control in controls:
                self._module.decorate(same.handle, decoration, level, control)
        return same

    def _access_to_same(self, pointer: Value) -> Value:
        return self._value(Op.PtrAccessChain, pointer.type, pointer.handle, self.constant(t.LONG, 0).handle)

    # -- Scalars and vectors -------------------------------------------------------------

    def unary(self, operator: UnaryOperator, operand: Value) -> Value:
        return self._arithmetic(UNARY[operator][_kind(operand)], operand.type, operand.handle)

    def binary(self, operator: BinaryOperator, left: Value, right: Value) -> Value:
        type_ = _bool_like(left.type) if operator.is_comparison else left.type
        return self._arithmetic(BINARY[operator][_kind(left)], type_, left.handle, right.handle)

    def _arithmetic(self, op: Op, type_: t.Type, *operands: int) -> Value:
        result = self._value(op, type_, *operands)
        if self._marks_overflow and op in MAY_OVERFLOW and _kind(result) == "sint" and not isinstance(type_, t.Matrix):
            self._module.decorate(result.handle, Decoration.NoSignedWrap)
        if op in HAS_FAST_MATH:
            self._decorate_fast_math(result)
        return result

    def _decorate_fast_math(self, result: Value) -> None:
        if self._fast_math and not isinstance(result.type, t.Matrix) and _kind(result) == "float":
            self._module.decorate(result.handle, Decoration.FPFastMathMode, self._fast_math)

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        return self._value(Op.Select, if_true.type, condition.handle, if_true.handle, if_false.handle)

    def convert(self, value: Value, type_: t.Type, rounding: str | None = None,
                saturate: bool = False, transposed: bool = False) -> Value:
        target = type_.element
        assert isinstance(target, t.Scalar)
        result = self._value(CONVERT[_kind(value), target.kind], type_, value.handle)
        if transposed:
            self._module.decorate(result.handle, Decoration.CooperativeMatrixTransposeEXT)
        if rounding is not None:
            self._module.decorate(result.handle, Decoration.FPRoundingMode, ROUNDING_MODES[rounding])
        if saturate:
            self._module.decorate(result.handle, Decoration.SaturatedConversion)
        return result

    def bitcast(self, value: Value, type_: t.Type) -> Value:
        if self._types.value(value.type) == self._types.value(type_):
            return replace(value, type=type_)
        from_pointer, to_pointer = (isinstance(x, t.Pointer) for x in (value.type, type_))
        op = Op.Bitcast
        if from_pointer and not to_pointer:
            op = Op.ConvertPtrToU
        elif to_pointer and not from_pointer:
            op = Op.ConvertUToPtr
        return self._value(op, type_, value.handle)

    # -- Composites ----------------------------------------------------------------------

    def composite(self, type_: t.Type, parts: Sequence[Value]) -> Value:
        if isinstance(type_, t.Vector):
            # SPIR-V allows vectors as constituents of a vector; Intel's CPU driver fails on them.
            parts = [component for part in parts for component in self._components(part)]
        return self._value(Op.CompositeConstruct, type_, *self._members(type_, parts))

    def _components(self, value: Value) -> list[Value]:
        count = value.type.count if isinstance(value.type, t.Vector) else 0
        return [self.extract(value, index) for index in range(count)] or [value]

    def extract(self, value: Value, index: int) -> Value:
        literal = member_index(value.type, index) if isinstance(value.type, t.Record) else index
        part = _part(value.type, index)
        type_ = part if is_bool(value.type) else memory_type(part)
        return self._value(Op.CompositeExtract, type_, value.handle, literal)

    def extract_dynamic(self, vector: Value, index: Value) -> Value:
        return self._value(Op.VectorExtractDynamic, vector.type.element, vector.handle, index.handle)

    def shuffle(self, vector: Value, components: Sequence[int | None], type_: t.Vector) -> Value:
        literals = [_UNDEFINED_COMPONENT if c is None else c for c in components]
        return self._value(Op.VectorShuffle, type_, vector.handle, vector.handle, *literals)

    # -- Calls ---------------------------------------------------------------------------

    def call(self, function: Function, arguments: Sequence[Value]) -> Value:
        handles = [argument.handle for argument in arguments]
        return self._value(Op.FunctionCall, function.result, self._function_ids[function], *handles)

    def work_item_query(self, builtin: str, type_: t.Type, dimension: Value | int | None,
                        out_of_range: int) -> Value:
        variable_type = type_ if dimension is None else _VEC3_SIZE
        variable = self._module.builtin(BuiltIn[builtin], self._types.value(variable_type))
        held = self._value(Op.Load, variable_type, variable,
                           *_memory_access(variable_type, t.layout_of(variable_type).alignment, False))
        if dimension is None:
            return held
        if isinstance(dimension, int):
            value = self.extract(held, dimension)
        else:
            value = self._dynamic_dimension(held, dimension, out_of_range)
        return value if value.type == type_ else self.convert(value, type_)

    def _dynamic_dimension(self, held: Value, dimension: Value, out_of_range: int) -> Value:
        in_range = self.binary(BinaryOperator.LESS, dimension, self.constant(dimension.type, 3))
        safe = self.select(in_range, dimension, self.zero(dimension.type))
        component = self.extract_dynamic(held, safe)
        return self.select(in_range, component, self.constant(component.type, out_of_range))

    def std(self, name: str, type_: t.Type, arguments: Sequence[Value], literals: Sequence[int]) -> Value:
        identifier = self._module.new_id()
        words = [self._module.extended_set(), OPENCL_STD[name], *(a.handle for a in arguments), *literals]
        self._blocks.append(make(Op.ExtInst, *words, type_id=self._types.value(type_), result_id=identifier,
                                 context="OpenCL.std"))
        result = Value(type_, identifier)
        self._decorate_fast_math(result)
        return result

    def core(self, name: str, type_: t.Type, arguments: Sequence[Value], literals: Sequence[int]) -> Value:
        op = Op[name]
        row = instruction(op)
        assert row is not None
        ids, numbers = [a.handle for a in arguments], list(literals)
        words: list[int] = []
        for kind, quantifier in row.operands:
            source = ids if kind in ID_KINDS else numbers
            count = len(source) if quantifier == "*" else min(1, len(source))
            words += [source.pop(0) for _ in range(count)]
        words += ids + numbers
        if row.has_result:
            return self._value(op, type_, *words)
        self._emit(op, *words)
        return Value(t.VOID, None)

    # -- Cooperative matrices ------------------------------------------------------------

    def matrix_load(self, type_: t.Matrix, pointer: Value, layout: int, stride: Value,
                    window: Window | None = None) -> Value:
        if window is None:
            return self._value(Op.CooperativeMatrixLoadKHR, type_, pointer.handle, self._uint(layout),
                               stride.handle)
        return self._value(Op.CooperativeMatrixLoadCheckedINTEL, type_, pointer.handle, *_offsets(window),
                           self._uint(layout), *_sizes(window), stride.handle)

    def matrix_store(self, pointer: Value, matrix: Value, layout: int, stride: Value,
                     window: Window | None = None) -> None:
        if window is None:
            self._emit(Op.CooperativeMatrixStoreKHR, pointer.handle, matrix.handle, self._uint(layout),
                       stride.handle)
        else:
            self._emit(Op.CooperativeMatrixStoreCheckedINTEL, pointer.handle, *_offsets(window), matrix.handle,
                       self._uint(layout), *_sizes(window), stride.handle)

    def matrix_prefetch(self, pointer: Value, rows: int, columns: int, level: int, layout: int, stride: Value) -> None:
        """In the form without offsets: the other one, of the extension's text, crashes Intel's graphics compiler.

        That also wants an access chain, by which it finds out what the pointer points to.
        """
        self._emit(Op.CooperativeMatrixPrefetchINTEL, self._access_to_same(pointer).handle, self._uint(rows),
                   self._uint(columns), level, self._uint(layout), stride.handle)

    def matrix_multiply_add(self, type_: t.Matrix, a: Value, b: Value, c: Value, operands: int) -> Value:
        literal = (operands,) if operands else ()
        return self._value(Op.CooperativeMatrixMulAddKHR, type_, a.handle, b.handle, c.handle, *literal)

    def matrix_fill(self, type_: t.Matrix, value: Value, window: Window | None = None) -> Value:
        if window is None:
            return self._value(Op.CompositeConstruct, type_, value.handle)
        return self._value(Op.CooperativeMatrixConstructCheckedINTEL, type_, *_offsets(window), *_sizes(window),
                           value.handle)

    def matrix_change_use(self, matrix: Value, type_: t.Matrix, transposed: bool = False) -> Value:
        """With SPV_EXT_cooperative_matrix_maintenance1: SPV_NV_cooperative_matrix2 cannot make accumulators."""
        result = self._value(Op.CooperativeMatrixConvertUseEXT, type_, matrix.handle)
        if transposed:
            self._module.decorate(result.handle, Decoration.CooperativeMatrixTransposeEXT)
        return result

    def matrix_times_scalar(self, matrix: Value, scalar: Value) -> Value:
        """By a filled matrix: OpMatrixTimesScalar is not generally available in OpenCL environments
        (SPV_KHR_cooperative_matrix, issue 9)."""
        assert isinstance(matrix.type, t.Matrix)
        return self.binary(BinaryOperator.MULTIPLY, matrix, self.matrix_fill(matrix.type, scalar))

    def matrix_reduce(self, type_: t.Matrix, matrix: Value, axes: int, combine: Function) -> Value:
        return self._value(Op.CooperativeMatrixReduceEXT, type_, matrix.handle, axes, self._function_ids[combine])

    def matrix_apply(self, matrix: Value, function: Function, arguments: Sequence[Value]) -> Value:
        return self._value(Op.CooperativeMatrixPerElementOpEXT, matrix.type, matrix.handle,
                           self._function_ids[function], *(argument.handle for argument in arguments))

    def matrix_length(self, type_: t.Matrix) -> Value:
        return self._value(Op.CooperativeMatrixLengthKHR, t.UINT, self._types.value(type_))

    def matrix_coordinates(self, matrix: Value, index: Value) -> Value:
        return self._value(Op.CooperativeMatrixGetElementCoordINTEL, t.Vector(t.INT, 2), matrix.handle,
                           index.handle)

    def _uint(self, value: int) -> int:
        return self.constant(t.UINT, value).handle


# -- Small questions -----------------------------------------------------------------------


def _offsets(window: Window) -> tuple[int, int]:
    """X and Y of a checked instruction: the row comes first."""
    return window.row.handle, window.column.handle


def _sizes(window: Window) -> tuple[int, int]:
    return window.height.handle, window.width.handle


def _kind(value: Value) -> str:
    scalar = value.type.element
    assert isinstance(scalar, t.Scalar)
    return scalar.kind


def _bool_like(type_: t.Type) -> t.Type:
    return replace(type_, scalar=t.BOOL) if isinstance(type_, t.Vector) else t.BOOL


def _pointee(pointer: Value) -> t.Type:
    assert isinstance(pointer.type, t.Pointer)
    return pointer.type.pointee


def _part(type_: t.Type, index: Value | int) -> t.Type:
    """The type of a part of ``type_``."""
    match type_:
        case t.Array(item=item):
            return item
        case t.Record(fields=fields):
            assert fields is not None
            assert isinstance(index, int)
            return fields[index].type
    return type_.element


def _memory_access(type_: t.Type, alignment: int, volatile: bool) -> tuple[int, ...]:
    """The Memory Operands; cooperative matrices have no alignment."""
    mask = MemoryAccess.Volatile if volatile else MemoryAccess.None_
    if t.contains_matrix(type_):
        return (mask,) if volatile else ()
    return mask | MemoryAccess.Aligned, alignment


def _merge(merge: BasicBlock | LoopMerge | None) -> Instruction | None:
    """The merge instruction of a header."""
    if merge is None:
        return None
    if isinstance(merge, BasicBlock):
        return make(Op.SelectionMerge, merge.handle, SelectionControl.None_)
    return make(Op.LoopMerge, merge.merge.handle, merge.continue_target.handle, *_loop_control(merge.unroll))


def _loop_control(unroll: int | None) -> tuple[int, ...]:
    if unroll is None:
        return (LoopControl.None_,)
    if unroll <= 1:
        return (LoopControl.Unroll if unroll == 0 else LoopControl.DontUnroll,)
    return LoopControl.PartialCount, unroll


def _parameter_type(function: Function, parameter: Variable) -> t.Type:
    """The type of a parameter: kernels take records by address and bools as bytes."""
    if function.is_kernel and isinstance(parameter.type, t.Record):
        return t.Pointer(parameter.type, t.AddressSpace.PRIVATE)
    if function.is_kernel:
        return memory_type(parameter.type)
    return parameter.type


def _parameter_decorations(parameter: Variable) -> list[tuple[Decoration, *tuple[int, ...]]]:
    """What a kernel's parameter promises."""
    type_, attribute = parameter.type, FunctionParameterAttribute
    if isinstance(type_, t.Record):
        return [(Decoration.FuncParamAttr, attribute.ByVal),
                (Decoration.Alignment, t.layout_of(type_).alignment)]
    if not isinstance(type_, t.Pointer):
        return []
    facts: list[tuple[bool, tuple[Decoration, *tuple[int, ...]]]] = [
        (type_.const, (Decoration.FuncParamAttr, attribute.NoWrite)),
        (parameter.restrict, (Decoration.FuncParamAttr, attribute.NoAlias)),
        (type_.volatile, (Decoration.Volatile,)),
        (_has_layout(type_.pointee), (Decoration.Alignment, _alignment(type_.pointee))),
    ]
    return [decoration for holds, decoration in facts if holds]


def _has_layout(type_: t.Type) -> bool:
    return not isinstance(type_, t.Void) and not (isinstance(type_, t.Record) and type_.fields is None)


def _alignment(type_: t.Type) -> int:
    return t.layout_of(type_).alignment if _has_layout(type_) else 1


def _source_type(type_: t.Type) -> str:
    """A type as OpenCL's clGetKernelArgInfo names it."""
    return f"{type_.pointee}*" if isinstance(type_, t.Pointer) else str(type_)
