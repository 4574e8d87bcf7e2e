"""The builder that writes LLVM IR in the form of the cooperative-matrix RFC (its sections 4.3 to 4.6).

Cooperative matrices are target types, the scope first among the numbers, and matrix operations are calls of
``__spirv_`` functions; everything else is plain IR for LLVM's SPIR-V target, and calls of OpenCL C functions.
``docs/llvm-ir.md`` describes the form. The text is not optimised: variables stay in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from coopmat.diagnostics import SourceLocation
from coopmat.lowering.builder import BasicBlock, LoopMerge, Value, Window
from coopmat.lowering.llvm.names import (
    EVENT_INSTRUCTIONS,
    WORK_ITEM_FUNCTIONS,
    conversion_name,
    event_call,
    instruction_name,
    matrix_instruction_name,
    opencl_call,
)
from coopmat.lowering.llvm.operations import BINARY, CONVERT, MATRIX_BINARY, conversion_instruction
from coopmat.lowering.llvm.text import FunctionText, Metadata, Names
from coopmat.lowering.llvm.types import (
    DATA_LAYOUT,
    TRIPLE,
    TypeText,
    composite_constant,
    identifier,
    quoted,
    scalar_constant,
    zero_text,
)
from coopmat.lowering.mangling import function_name, mangled
from coopmat.lowering.memory import is_bool, member_index, memory_type, physical_record
from coopmat.lowering.walk import lower
from coopmat.spirv.grammar import ID_KINDS, Decoration, Op, instruction
from coopmat.tree import types as t
from coopmat.tree.nodes import BinaryOperator, Function, Program, UnaryOperator, Variable

OPENCL_VERSION = (3, 0)
_CONVERGENT = "#0"  # what every function has that the work-items of a group carry out together
_PLAIN = "#1"
_ATTRIBUTE_GROUPS = (f"attributes {_CONVERGENT} = {{ convergent nounwind }}",
                     f"attributes {_PLAIN} = {{ nounwind }}")
_VOID_VALUE = Value(t.VOID, "")
_TRANSPOSED = (Decoration.CooperativeMatrixTransposeEXT,)


def to_llvm_ir(program: Program, *, source_name: str = "<source>") -> str:
    """The program as LLVM IR; ``source_name`` is what the IR gives as its source file.

    Raises :class:`coopmat.diagnostics.CompileError` for what only lowering can see: a call of a function
    without definition, a program-scope initialiser that is not a constant.
    """
    builder = LlvmBuilder(source_name)
    lower(program, builder)
    return builder.finish()


class LlvmBuilder:
    """Implements :class:`coopmat.lowering.builder.Builder`; :meth:`finish` gives the text.

    A value's handle is the operand as LLVM writes it, without its type: ``%add``, ``4``, ``zeroinitializer``.
    """

    def __init__(self, source_name: str) -> None:
        self._source_name = source_name
        self._types = TypeText()
        self._metadata = Metadata()
        self._names = Names()  # of globals and functions
        self._globals: list[str] = []
        self._declarations: dict[str, str] = {}
        self._functions: list[FunctionText] = []
        self._function_names: dict[Function, str] = {}
        self._defined: frozenset[str] = frozenset()  # the names of all functions of the program
        self._unroll_hints: dict[str, str] = {}  # loop header -> its metadata
        self._resized: dict[str, tuple[str, Value]] = {}  # result of a trunc or sext -> which, and its operand
        self._constant_addresses: dict[str, tuple[str, int]] = {}  # an operand -> the variable and the offset in bytes
        self._contract = True
        self._location: SourceLocation | None = None

    @property
    def _text(self) -> FunctionText:
        return self._functions[-1]

    def finish(self) -> str:
        """The module's text, complete."""
        version = self._metadata.node(f"i32 {number}" for number in OPENCL_VERSION)
        named = [f"!opencl.ocl.version = !{{{version}}}"]
        if self._contract:
            named.append("!opencl.enable.FP_CONTRACT = !{}")
        sections = [
            [f"source_filename = {quoted(self._source_name)}", f'target datalayout = "{DATA_LAYOUT}"',
             f'target triple = "{TRIPLE}"'],
            [f"{name} = type {text}" for name, text in self._types.definitions.items()],
            self._globals,
            *([function.text()] for function in self._callers_first()),
            list(self._declarations.values()),
            list(_ATTRIBUTE_GROUPS),
            [*named, *self._metadata.lines()],
        ]
        return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"

    def _callers_first(self) -> list[FunctionText]:
        """The functions in order, those that take pointers to matrices behind their callers: LLVM's back end learns
        from the calls that it has seen what such a pointer points to."""
        others = [function for function in self._functions if not function.takes_matrix_pointers]
        return others + [function for function in reversed(self._functions) if function.takes_matrix_pointers]

    # -- Program and functions -----------------------------------------------------------

    def begin_program(self, program: Program) -> None:
        self._contract = program.contract_floating_point
        for function in sorted(program.functions, key=lambda function: not function.is_kernel):
            # A user's name is kept, a kernel's above all; others make way.
            self._function_names[function] = identifier("@", self._names.take(function_name(function)))
        self._defined = frozenset(self._function_names.values())

    def module_variable(self, variable: Variable, initializer: Value | None) -> Value:
        name = identifier("@", self._names.take(variable.name or "variable"))
        space = variable.address_space
        kind = "constant" if space is t.AddressSpace.CONSTANT else "global"
        if initializer is not None:
            value = initializer.handle
        else:
            value = "poison" if space is t.AddressSpace.LOCAL else zero_text(memory_type(variable.type))
        alignment = max(variable.alignment or 1, t.layout_of(variable.type).alignment)
        self._globals.append(f"{name} = internal addrspace({space.value}) {kind} "
                             f"{self._types.memory(variable.type)} {value}, align {alignment}")
        return Value(t.Pointer(variable.type, space, variable.const), name)

    def local_variable(self, variable: Variable) -> Value:
        name = self._text.name(variable.name or "temporary")
        alignment = max(variable.alignment or 1, t.layout_of(variable.type).alignment)
        self._text.add_variable(f"{name} = alloca {self._types.memory(variable.type)}, align {alignment}")
        return Value(t.Pointer(variable.type, t.AddressSpace.PRIVATE, variable.const), name)

    def declare_function(self, function: Function) -> None:
        """Nothing to be done: LLVM's order of functions is free."""

    def import_function(self, function: Function) -> None:
        name = self._function_names[function] = identifier("@", self._names.take(function.name))
        types = ", ".join(self._types.value(parameter.type) for parameter in function.parameters)
        self._declarations[name] = f"declare spir_func {self._types.value(function.result)} {name}({types}) {_PLAIN}"

    def begin_function(self, function: Function) -> list[Value]:
        text = FunctionText("", any(map(_points_to_matrix, function.parameters)))
        text.locate(self._location)
        self._functions.append(text)
        self._resized.clear()
        handles = [text.name(parameter.name or "parameter") for parameter in function.parameters]
        parameters = ", ".join(f"{self._parameter(function, parameter)} {handle}"
                               for parameter, handle in zip(function.parameters, handles, strict=True))
        kind = "spir_kernel" if function.is_kernel else "spir_func"
        linkage = "" if function.is_kernel else "internal "
        inline = " alwaysinline" if function.inline else ""
        text.head = (f"define {linkage}{kind} {self._types.value(function.result)} "
                     f"{self._function_names[function]}({parameters}){inline} {_CONVERGENT}"
                     f"{self._kernel_metadata(function) if function.is_kernel else ''}")
        text.open(text.name("entry"))
        return [self._parameter_value(function, parameter, handle)
                for parameter, handle in zip(function.parameters, handles, strict=True)]

    def _parameter(self, function: Function, parameter: Variable) -> str:
        """Type and attributes of a parameter; a kernel takes records by address and bools as bytes."""
        type_ = parameter.type
        if not function.is_kernel:
            return self._types.value(type_)
        if isinstance(type_, t.Record):
            return f"ptr noundef byval({self._types.memory(type_)}) align {t.layout_of(type_).alignment}"
        attributes = [" noundef"]
        if isinstance(type_, t.Pointer):
            attributes += [" noalias"] * parameter.restrict + [" readonly"] * type_.const
            if _has_layout(type_.pointee):
                attributes.append(f" align {t.layout_of(type_.pointee).alignment}")
        return self._types.memory(type_) + "".join(attributes)

    def _parameter_value(self, function: Function, parameter: Variable, handle: str) -> Value:
        type_ = parameter.type
        if not function.is_kernel:
            return Value(type_, handle)
        if isinstance(type_, t.Record):
            return self.load(Value(t.Pointer(type_, t.AddressSpace.PRIVATE), handle),
                             t.layout_of(type_).alignment)
        if is_bool(type_):
            held = Value(memory_type(type_), handle)
            return replace(self.binary(BinaryOperator.NOT_EQUAL, held, self.zero(held.type)), type=type_)
        return Value(type_, handle)

    def _kernel_metadata(self, kernel: Function) -> str:
        types = [parameter.type for parameter in kernel.parameters]
        names = [quoted(_source_type(type_)) for type_ in types]
        node = self._metadata.node
        entries = {
            "kernel_arg_addr_space": node(f"i32 {_argument_space(type_)}" for type_ in types),
            "kernel_arg_access_qual": node('!"none"' for _ in types),
            "kernel_arg_type": node(f"!{name}" for name in names),
            "kernel_arg_base_type": node(f"!{name}" for name in names),
            "kernel_arg_type_qual": node(f"!{quoted(_qualifiers(p))}" for p in kernel.parameters),
        }
        for name, size in (("reqd_work_group_size", kernel.required_work_group_size),
                           ("work_group_size_hint", kernel.work_group_size_hint)):
            if size is not None:
                entries[name] = node(f"i32 {extent}" for extent in size)
        if kernel.required_sub_group_size is not None:
            entries["intel_reqd_sub_group_size"] = node([f"i32 {kernel.required_sub_group_size}"])
        return "".join(f" !{name} {number}" for name, number in entries.items())

    def end_function(self) -> None:
        self._unroll_hints.clear()

    def locate(self, location: SourceLocation | None) -> None:
        self._location = location
        if self._functions:
            self._text.locate(location)

    # -- Blocks --------------------------------------------------------------------------

    def new_block(self, purpose: str) -> BasicBlock:
        return BasicBlock(self._text.name(purpose))

    def open_block(self, block: BasicBlock) -> None:
        self._text.open(block.handle)

    @property
    def current_block(self) -> BasicBlock:
        return BasicBlock(self._text.block)

    def branch(self, target: BasicBlock, loop: LoopMerge | None = None) -> None:
        self._note_loop(loop)
        self._text.add(f"br label {target.handle}{self._hint(target)}")

    def branch_if(self, condition: Value, if_true: BasicBlock, if_false: BasicBlock,
                  merge: BasicBlock | LoopMerge | None = None) -> None:
        self._note_loop(merge)
        self._text.add(f"br i1 {condition.handle}, label {if_true.handle}, label {if_false.handle}"
                       f"{self._hint(if_true) or self._hint(if_false)}")

    def _note_loop(self, merge: BasicBlock | LoopMerge | None) -> None:
        """Remember an unroll hint until the jump back to the loop's header, which carries it in LLVM."""
        if isinstance(merge, LoopMerge) and merge.unroll is not None:
            hint = self._metadata.node(_unroll_hint(merge.unroll))
            self._unroll_hints[self._text.block] = self._metadata.loop([hint])

    def _hint(self, target: BasicBlock) -> str:
        node = self._unroll_hints.get(target.handle)
        return f", !llvm.loop {node}" if node is not None and self._text.has_opened(target.handle) else ""

    def switch(self, value: Value, cases: Sequence[tuple[int, BasicBlock]], default: BasicBlock,
               merge: BasicBlock | None) -> None:
        type_ = self._types.value(value.type)
        arms = " ".join(f"{type_} {number}, label {block.handle}" for number, block in cases)
        self._text.add(f"switch {self._typed(value)}, label {default.handle} [ {arms} ]")

    def return_value(self, value: Value | None) -> None:
        self._text.add("ret void" if value is None else f"ret {self._typed(value)}")

    def unreachable(self) -> None:
        self._text.add("unreachable")

    def phi(self, type_: t.Type, incoming: Sequence[tuple[Value, BasicBlock]]) -> Value:
        pairs = ", ".join(f"[ {value.handle}, {block.handle} ]" for value, block in incoming)
        return self._value(type_, "phi", f"phi {self._types.value(type_)} {pairs}")

    # -- Writing -------------------------------------------------------------------------

    def _typed(self, value: Value) -> str:
        return f"{self._types.value(value.type)} {value.handle}"

    def _value(self, type_: t.Type, name: str, text: str) -> Value:
        handle = self._text.name(name)
        self._text.add(f"{handle} = {text}")
        return Value(type_, handle)

    def _call(self, name: str, type_: t.Type, arguments: Sequence[Value], *, attributes: str = _CONVERGENT,
              result_name: str = "call", fixed: int | None = None, decorations: Sequence[Decoration] = ()) -> Value:
        """A call of a built-in function, which is declared by the way; if only ``fixed`` parameters are
        declared, the function is variadic. ``decorations`` are those of the result."""
        result = self._types.value(type_)
        parameters = [self._types.value(argument.type) for argument in arguments[:fixed]]
        list_ = f"({', '.join([*parameters, '...'] if fixed is not None else parameters)})"
        function = self._declared(name, f"{result} {{}}{list_}", attributes)
        called = function if fixed is None else f"{list_} {function}"
        text = f"call spir_func {result} {called}({', '.join(map(self._typed, arguments))})"
        if decorations:
            nodes = [self._metadata.node([f"i32 {decoration}"]) for decoration in decorations]
            text += f", !spirv.Decorations {self._metadata.node(nodes)}"
        if isinstance(type_, t.Void):
            self._text.add(text)
            return _VOID_VALUE
        return self._value(type_, result_name, text)

    def _declared(self, name: str, signature: str, attributes: str) -> str:
        """The function's ``@name``. Mangling leaves out the result: where two functions of one name
        differ in that, LLVM's usual ``.n`` tells them apart, and from a function of the program."""
        candidate, count = name, 0
        while True:
            function = identifier("@", candidate)
            line = f"declare spir_func {signature.format(function)} {attributes}"
            if function not in self._defined and self._declarations.setdefault(function, line) == line:
                return function
            count += 1
            candidate = f"{name}.{count}"

    # -- Constants -----------------------------------------------------------------------

    def constant(self, type_: t.Type, value: int | float | bool) -> Value:
        assert isinstance(type_, t.Scalar)
        return Value(type_, scalar_constant(type_, value))

    def zero(self, type_: t.Type) -> Value:
        if isinstance(type_, t.Matrix):  # the back end does not take a constant of a target type everywhere
            return self.matrix_fill(type_, self.zero(type_.scalar))
        return Value(type_, zero_text(type_))

    def undefined(self, type_: t.Type) -> Value:
        return Value(type_, "undef")

    def constant_composite(self, type_: t.Type, elements: Sequence[Value]) -> Value:
        if not isinstance(type_, t.Record):
            item = self._types.value(elements[0].type)
            return Value(type_, composite_constant(type_, item, (e.handle for e in elements)))
        physical = physical_record(type_)
        members = [f"{self._types.memory(member)} zeroinitializer" for member in physical.members]
        positions: Sequence[int | None] = range(len(members)) if type_.is_union else physical.index_of
        for position, element in zip(positions, elements, strict=True):
            if position is not None:
                members[position] = self._typed(element)
        return Value(type_, composite_constant(type_, "", members))

    def constant_offset(self, pointer: Value, steps: int) -> Value:
        """One offset in bytes from the variable: LLVM's back end fails on constant addresses inside one another."""
        pointee = _pointee(pointer)
        size = 1 if isinstance(pointee, t.Void) else t.size_of(pointee)
        variable, offset = self._constant_addresses.get(pointer.handle, (pointer.handle, 0))
        offset += steps * size
        handle = variable
        if offset:
            handle = f"getelementptr (i8, {self._types.value(pointer.type)} {variable}, i64 {offset})"
        self._constant_addresses[handle] = variable, offset
        return replace(pointer, handle=handle)

    def constant_cast(self, pointer: Value, type_: t.Type) -> Value:
        assert isinstance(pointer.type, t.Pointer)
        if not isinstance(type_, t.Pointer):
            return Value(type_, f"ptrtoint ({self._typed(pointer)} to {self._types.value(type_)})")
        if type_.address_space is pointer.type.address_space:
            return replace(pointer, type=type_)
        return Value(type_, f"addrspacecast ({self._typed(pointer)} to {self._types.value(type_)})")

    # -- Memory --------------------------------------------------------------------------

    def load(self, pointer: Value, alignment: int, volatile: bool = False) -> Value:
        type_ = memory_type(_pointee(pointer))
        return self._value(type_, "load", f"load {'volatile ' * volatile}{self._types.value(type_)}, "
                                          f"{self._typed(pointer)}, align {alignment}")

    def store(self, pointer: Value, value: Value, alignment: int, volatile: bool = False) -> None:
        self._text.add(f"store {'volatile ' * volatile}{self._typed(value)}, {self._typed(pointer)}, "
                       f"align {alignment}")

    def access(self, pointer: Value, indices: Sequence[Value | int]) -> Value:
        for position in range(len(indices)):
            part = _part(_pointee(pointer), indices[:position])
            if isinstance(part, t.Matrix):
                matrix = self._element_pointer(pointer, indices[:position])
                return self._matrix_component_pointer(part, matrix, indices[position])
        return self._element_pointer(pointer, indices)

    def _element_pointer(self, pointer: Value, indices: Sequence[Value | int]) -> Value:
        if not indices:
            return pointer
        assert isinstance(pointer.type, t.Pointer)
        texts, inner = ["i64 0"], _pointee(pointer)
        for index in indices:
            texts.append(self._index(inner, index))
            inner = _part(inner, [index])
        return self._value(replace(pointer.type, pointee=inner), "element",
                           f"getelementptr inbounds {self._types.memory(_pointee(pointer))}, "
                           f"{self._typed(pointer)}, {', '.join(texts)}")

    def _index(self, type_: t.Type, index: Value | int) -> str:
        if isinstance(index, Value):
            return self._typed(index)
        if isinstance(type_, t.Record):
            return f"i32 {member_index(type_, index)}"
        return f"i64 {index}"

    def _matrix_component_pointer(self, matrix: t.Matrix, pointer: Value, index: Value | int) -> Value:
        """A component of this work-item's share: LLVM has no address arithmetic on target types."""
        assert isinstance(pointer.type, t.Pointer)
        at = index if isinstance(index, Value) else self.constant(t.LONG, index)
        return self._call(matrix_instruction_name("AccessChain", [matrix]),
                          replace(pointer.type, pointee=matrix.scalar), [pointer, at], result_name="component")

    def offset_pointer(self, pointer: Value, offset: Value) -> Value:
        pointee = self._types.memory(_pointee(pointer))
        return self._value(pointer.type, "pointer", f"getelementptr inbounds {_pointable(pointee)}, "
                                                    f"{self._typed(pointer)}, {self._typed(offset)}")

    def cast_address_space(self, pointer: Value, type_: t.Type) -> Value:
        return self._value(type_, "cast",
                           f"addrspacecast {self._typed(pointer)} to {self._types.value(type_)}")

    def with_cache_controls(self, pointer: Value, loads: Sequence[tuple[int, int]],
                            stores: Sequence[tuple[int, int]]) -> Value:
        """Decorations as metadata of a getelementptr that goes nowhere: so LLVM and the SPIR-V translator read them."""
        kinds = ((Decoration.CacheControlLoadINTEL, loads), (Decoration.CacheControlStoreINTEL, stores))
        nodes = [self._metadata.node((f"i32 {decoration}", f"i32 {level}", f"i32 {control}"))
                 for decoration, controls in kinds for level, control in controls]
        pointee = self._types.memory(_pointee(pointer))
        hints = f", !spirv.Decorations {self._metadata.node(nodes)}" if nodes else ""
        return self._value(pointer.type, "hinted", f"getelementptr inbounds {_pointable(pointee)}, "
                                                   f"{self._typed(pointer)}, i64 0{hints}")

    # -- Scalars and vectors -------------------------------------------------------------

    def unary(self, operator: UnaryOperator, operand: Value) -> Value:
        typed = self._typed(operand)
        if operator is not UnaryOperator.NEGATE:
            ones = _splat(operand.type, "true" if operator is UnaryOperator.NOT else "-1", self._types)
            return self._value(operand.type, "not", f"xor {typed}, {ones}")
        if isinstance(operand.type, t.Matrix):
            return self._matrix_call("CooperativeMatrixScalarNeg", operand.type, [operand])
        if operand.type.element.is_float:
            return self._value(operand.type, "neg", f"fneg {typed}")
        zero = zero_text(operand.type)
        return self._value(operand.type, "neg", f"sub {self._types.value(operand.type)} {zero}, {operand.handle}")

    def binary(self, operator: BinaryOperator, left: Value, right: Value) -> Value:
        kind = _kind(left)
        if isinstance(left.type, t.Matrix):
            return self._matrix_call(MATRIX_BINARY[operator, kind], left.type, [left, right])
        type_ = _bool_like(left.type) if operator.is_comparison else left.type
        return self._value(type_, operator.name.lower(),
                           f"{BINARY[operator][kind]} {self._typed(left)}, {right.handle}")

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        if condition.handle in ("true", "false"):  # also outside of functions
            return if_true if condition.handle == "true" else if_false
        if isinstance(if_true.type, (t.Array, t.Record)):
            return self._select_aggregate(condition, if_true, if_false)
        return self._value(if_true.type, "select", f"select {self._typed(condition)}, {self._typed(if_true)}, "
                                                   f"{self._typed(if_false)}")

    def _select_aggregate(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        """Through memory: LLVM's SPIR-V back end knows ``select`` of scalars, vectors and pointers only."""
        pointers = []
        for value in (if_true, if_false):
            pointer = self.local_variable(Variable("selected", value.type, None))
            self.store(pointer, value, t.layout_of(value.type).alignment)
            pointers.append(pointer)
        return self.load(self.select(condition, *pointers), t.layout_of(if_true.type).alignment)

    def convert(self, value: Value, type_: t.Type, rounding: str | None = None,
                saturate: bool = False, transposed: bool = False) -> Value:
        source, target = value.type.element, type_.element
        assert isinstance(source, t.Scalar)
        assert isinstance(target, t.Scalar)
        name = conversion_instruction(source, target)
        if isinstance(type_, t.Matrix):
            assert isinstance(value.type, t.Matrix)
            identifier_ = conversion_name(name, type_, rounding, saturate)
            return self._call(matrix_instruction_name(identifier_, [value.type, type_]), type_, [value],
                              result_name="convert", decorations=_TRANSPOSED * transposed)
        if rounding is not None or saturate:
            identifier_ = conversion_name(name, type_, rounding, saturate)
            return self._call(instruction_name(identifier_, [value.type]), type_, [value], attributes=_PLAIN,
                              result_name="convert")
        operation = CONVERT[name](source, target)
        if operation == "zext" and value.handle in self._resized:
            return self._low_bits(*self._resized[value.handle], source.bits, type_)
        result = self._value(type_, "convert", f"{operation} {self._typed(value)} to {self._types.value(type_)}")
        if operation in ("trunc", "sext"):
            self._resized[result.handle] = operation, value
        return result

    def _low_bits(self, resized_by: str, value: Value, bits: int, type_: t.Type) -> Value:
        """``zext`` to ``type_`` of ``value`` brought to ``bits`` bits by trunc or sext, without the two in a row:
        LLVM's SPIR-V back end merges them into an operation on operands of different widths, or dies."""
        source, target = value.type.element, type_.element
        assert isinstance(source, t.Scalar)
        assert isinstance(target, t.Scalar)
        if source.bits != target.bits:
            widen = "sext" if resized_by == "sext" else "zext"
            operation = widen if source.bits < target.bits else "trunc"
            if operation == "zext" and value.handle in self._resized:
                return self._low_bits(*self._resized[value.handle], bits, type_)
            value = self._value(type_, "wide", f"{operation} {self._typed(value)} to {self._types.value(type_)}")
        mask = _splat(type_, str((1 << bits) - 1), self._types)
        return self._value(type_, "low", f"and {self._types.value(type_)} {value.handle}, {mask}")

    def bitcast(self, value: Value, type_: t.Type) -> Value:
        if self._types.value(value.type) == self._types.value(type_):
            return replace(value, type=type_)
        operation = "bitcast"
        if isinstance(value.type, t.Pointer):
            operation = "ptrtoint"
        elif isinstance(type_, t.Pointer):
            operation = "inttoptr"
        return self._value(type_, "cast", f"{operation} {self._typed(value)} to {self._types.value(type_)}")

    # -- Composites ----------------------------------------------------------------------

    def composite(self, type_: t.Type, parts: Sequence[Value]) -> Value:
        if isinstance(type_, t.Vector):
            return self._vector(type_, parts)
        positions: Iterable[int | None] = range(len(parts))
        if isinstance(type_, t.Record):
            positions = physical_record(type_).index_of
        whole = Value(type_, "poison")
        for position, part in zip(positions, parts, strict=True):
            if position is None:
                continue
            whole = self._value(type_, "insert",
                                f"insertvalue {self._typed(whole)}, {self._typed(part)}, {position}")
        return whole

    def _vector(self, type_: t.Vector, parts: Sequence[Value]) -> Value:
        whole, position = Value(type_, "poison"), 0
        for part in parts:
            is_vector = isinstance(part.type, t.Vector)
            count = part.type.count if isinstance(part.type, t.Vector) else 1
            for index in range(count):
                scalar = self.extract(part, index) if is_vector else part
                whole = self._value(type_, "insert", f"insertelement {self._typed(whole)}, "
                                                     f"{self._typed(scalar)}, i64 {position}")
                position += 1
        return whole

    def extract(self, value: Value, index: int) -> Value:
        type_ = value.type
        if isinstance(type_, t.Matrix):
            return self._call(matrix_instruction_name("CompositeExtract", [type_]), type_.scalar,
                              [value, self.constant(t.UINT, index)], result_name="component")
        if isinstance(type_, t.Vector):
            return self._value(type_.scalar, "component", f"extractelement {self._typed(value)}, i64 {index}")
        part = memory_type(_part(type_, [index]))
        position = member_index(type_, index) if isinstance(type_, t.Record) else index
        return self._value(part, "member", f"extractvalue {self._typed(value)}, {position}")

    def extract_dynamic(self, vector: Value, index: Value) -> Value:
        return self._value(vector.type.element, "component",
                           f"extractelement {self._typed(vector)}, {self._typed(index)}")

    def shuffle(self, vector: Value, components: Sequence[int | None], type_: t.Vector) -> Value:
        mask = ", ".join("i32 poison" if c is None else f"i32 {c}" for c in components)
        return self._value(type_, "shuffle", f"shufflevector {self._typed(vector)}, "
                                             f"{self._types.value(vector.type)} poison, "
                                             f"<{len(components)} x i32> <{mask}>")

    # -- Calls ---------------------------------------------------------------------------

    def call(self, function: Function, arguments: Sequence[Value]) -> Value:
        text = (f"call spir_func {self._types.value(function.result)} {self._function_names[function]}"
                f"({', '.join(map(self._typed, arguments))}) {_CONVERGENT}")
        if isinstance(function.result, t.Void):
            self._text.add(text)
            return _VOID_VALUE
        return self._value(function.result, "call", text)

    def work_item_query(self, builtin: str, type_: t.Type, dimension: Value | int | None,
                        out_of_range: int) -> Value:
        function, result = WORK_ITEM_FUNCTIONS[builtin]
        arguments = []
        if dimension is not None:
            arguments.append(dimension if isinstance(dimension, Value) else self.constant(t.UINT, dimension))
        value = self._call(mangled(function, [argument.type for argument in arguments]), result, arguments,
                           attributes=_PLAIN)
        return value if value.type == type_ else self.convert(value, type_)

    def std(self, name: str, type_: t.Type, arguments: Sequence[Value], literals: Sequence[int]) -> Value:
        if name == "printf":  # the one variadic function, whose name is not mangled
            return self._call(name, type_, arguments, attributes=_PLAIN, fixed=1)
        function = opencl_call(name, [argument.type for argument in arguments], literals)
        return self._call(function, type_, arguments, attributes=_PLAIN)

    def core(self, name: str, type_: t.Type, arguments: Sequence[Value], literals: Sequence[int]) -> Value:
        if name in EVENT_INSTRUCTIONS:
            function, operands = event_call(name, arguments)
            return self._call(function, type_, operands, result_name="event")
        if name == "AssumeTrueKHR":
            return self._assume(arguments[0])
        row = instruction(Op[name])
        assert row is not None
        values, numbers = list(arguments), [self.constant(t.UINT, literal) for literal in literals]
        operands = []
        for kind, quantifier in row.operands:
            source = values if kind in ID_KINDS else numbers
            count = len(source) if quantifier == "*" else min(1, len(source))
            operands += [source.pop(0) for _ in range(count)]
        operands += values + numbers
        return self._call(instruction_name(name, [operand.type for operand in operands]), type_, operands)

    def _assume(self, condition: Value) -> Value:
        """LLVM's own function for it, which its optimiser knows."""
        self._declarations.setdefault("llvm.assume", "declare void @llvm.assume(i1 noundef)")
        self._text.add(f"call void @llvm.assume({self._typed(condition)})")
        return _VOID_VALUE

    # -- Cooperative matrices ------------------------------------------------------------

    def _matrix_call(self, name: str, type_: t.Type, arguments: Sequence[Value],
                     decorations: Sequence[Decoration] = ()) -> Value:
        """A call named by the matrices in it, those of the arguments first."""
        matrices = [x for x in (*(argument.type for argument in arguments), type_) if isinstance(x, t.Matrix)]
        return self._call(matrix_instruction_name(name, matrices), type_, arguments, result_name="matrix",
                          decorations=decorations)

    def matrix_load(self, type_: t.Matrix, pointer: Value, layout: int, stride: Value,
                    window: Window | None = None) -> Value:
        assert isinstance(pointer.type, t.Pointer)
        instruction_ = "CooperativeMatrixLoadKHR" if window is None else "CooperativeMatrixLoadCheckedINTEL"
        name = matrix_instruction_name(instruction_, [type_], pointer.type)
        arguments = [pointer, *_offsets(window), self.constant(t.UINT, layout), *_sizes(window), self._as_size(stride)]
        return self._call(name, type_, arguments, result_name="matrix")

    def matrix_store(self, pointer: Value, matrix: Value, layout: int, stride: Value,
                     window: Window | None = None) -> None:
        assert isinstance(pointer.type, t.Pointer)
        assert isinstance(matrix.type, t.Matrix)
        instruction_ = "CooperativeMatrixStoreKHR" if window is None else "CooperativeMatrixStoreCheckedINTEL"
        name = matrix_instruction_name(instruction_, [matrix.type], pointer.type)
        self._call(name, t.VOID, [pointer, *_offsets(window), matrix, self.constant(t.UINT, layout), *_sizes(window),
                                  self._as_size(stride)])

    def matrix_prefetch(self, pointer: Value, rows: int, columns: int, level: int, layout: int, stride: Value) -> None:
        """Without X and Y, as DPC++ and LLVM call it."""
        numbers = [self.constant(t.UINT, number) for number in (rows, columns, level, layout)]
        arguments = [pointer, *numbers, self._as_size(stride)]
        self._call(instruction_name("CooperativeMatrixPrefetchINTEL", [argument.type for argument in arguments]),
                   t.VOID, arguments)

    def _as_size(self, stride: Value) -> Value:
        """The RFC's functions take the stride as a size_t."""
        scalar = stride.type
        assert isinstance(scalar, t.Scalar)
        return stride if scalar.bits == t.SIZE_T.bits else self.convert(stride, t.SIZE_T)

    def matrix_multiply_add(self, type_: t.Matrix, a: Value, b: Value, c: Value, operands: int) -> Value:
        return self._matrix_call("CooperativeMatrixMulAddKHR", type_,
                                 [a, b, c, self.constant(t.UINT, operands)])

    def matrix_fill(self, type_: t.Matrix, value: Value, window: Window | None = None) -> Value:
        if window is None:
            return self._matrix_call("CompositeConstruct", type_, [value])
        return self._matrix_call("CooperativeMatrixConstructCheckedINTEL", type_,
                                 [*_offsets(window), *_sizes(window), value])

    def matrix_change_use(self, matrix: Value, type_: t.Matrix, transposed: bool = False) -> Value:
        return self._matrix_call("CooperativeMatrixConvertUseEXT", type_, [matrix], _TRANSPOSED * transposed)

    def matrix_times_scalar(self, matrix: Value, scalar: Value) -> Value:
        return self._matrix_call("CooperativeMatrixScalarMul", matrix.type, [matrix, scalar])

    def matrix_reduce(self, type_: t.Matrix, matrix: Value, axes: int, combine: Function) -> Value:
        return self._matrix_call("CooperativeMatrixReduceEXT", type_,
                                 [matrix, self.constant(t.UINT, axes), self._pointer_to(combine)])

    def matrix_apply(self, matrix: Value, function: Function, arguments: Sequence[Value]) -> Value:
        return self._matrix_call("CooperativeMatrixPerElementOpEXT", matrix.type,
                                 [matrix, self._pointer_to(function), *arguments])

    def _pointer_to(self, function: Function) -> Value:
        return Value(t.Pointer(function.type, t.AddressSpace.PRIVATE), self._function_names[function])

    def matrix_length(self, type_: t.Matrix) -> Value:
        return self._matrix_call("CooperativeMatrixLengthKHR", t.UINT, [Value(type_, "poison")])

    def matrix_coordinates(self, matrix: Value, index: Value) -> Value:
        return self._matrix_call("CooperativeMatrixGetElementCoordINTEL", t.Vector(t.INT, 2),
                                 [matrix, index])


# -- Small questions -----------------------------------------------------------------------


def _offsets(window: Window | None) -> tuple[Value, ...]:
    """X and Y of a checked instruction: the row comes first."""
    return () if window is None else (window.row, window.column)


def _sizes(window: Window | None) -> tuple[Value, ...]:
    return () if window is None else (window.height, window.width)


def _points_to_matrix(parameter: Variable) -> bool:
    return isinstance(parameter.type, t.Pointer) and t.contains_matrix(parameter.type.pointee)


def _kind(value: Value) -> str:
    scalar = value.type.element
    assert isinstance(scalar, t.Scalar)
    return scalar.kind


def _bool_like(type_: t.Type) -> t.Type:
    return replace(type_, scalar=t.BOOL) if isinstance(type_, t.Vector) else t.BOOL


def _pointee(pointer: Value) -> t.Type:
    assert isinstance(pointer.type, t.Pointer)
    return pointer.type.pointee


def _part(type_: t.Type, indices: Sequence[Value | int]) -> t.Type:
    """The type of a part of ``type_``, several levels down."""
    for index in indices:
        match type_:
            case t.Array(item=item):
                type_ = item
            case t.Record(fields=fields):
                assert fields is not None
                assert isinstance(index, int)
                type_ = fields[index].type
            case _:
                type_ = type_.element
    return type_


def _pointable(pointee: str) -> str:
    """The unit of pointer arithmetic: bytes on a pointer to void."""
    return "i8" if pointee == "void" else pointee


def _splat(type_: t.Type, element: str, types: TypeText) -> str:
    """A constant with the same text in each component."""
    if not isinstance(type_, t.Vector):
        return element
    return composite_constant(type_, types.value(type_.scalar), [element] * type_.count)


def _unroll_hint(unroll: int) -> list[str]:
    """The operands of LLVM's metadata for an unroll hint: in full, not at all, or a factor."""
    if unroll > 1:
        return ['!"llvm.loop.unroll.count"', f"i32 {unroll}"]
    return ['!"llvm.loop.unroll.full"' if unroll == 0 else '!"llvm.loop.unroll.disable"']


def _has_layout(type_: t.Type) -> bool:
    return not isinstance(type_, t.Void) and not (isinstance(type_, t.Record) and type_.fields is None)


def _argument_space(type_: t.Type) -> int:
    return type_.address_space.value if isinstance(type_, t.Pointer) else 0


def _source_type(type_: t.Type) -> str:
    """A type as OpenCL's clGetKernelArgInfo names it."""
    return f"{type_.pointee}*" if isinstance(type_, t.Pointer) else str(type_)


def _qualifiers(parameter: Variable) -> str:
    """The qualifiers of what a kernel's parameter points to, as clGetKernelArgInfo lists them."""
    type_ = parameter.type
    if not isinstance(type_, t.Pointer):
        return ""
    facts = (("restrict", parameter.restrict), ("const", type_.const), ("volatile", type_.volatile))
    return " ".join(word for word, holds in facts if holds)
