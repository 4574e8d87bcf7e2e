"""Imported built-in functions become instructions.

LLVM's back end turns a call of a built-in function that it does not know into a call of an imported
function, and gets some that it does know wrong. Two steps repair that:

* :func:`hidden_names`, before the back end: functions that take or return a cooperative matrix, and those in
  :data:`MISTAKEN`, get names that mean nothing to LLVM.
* :func:`resolve`, after it: every call of an imported function becomes the instruction that its name says.
  By default ``__spirv_<Name>`` is ``Op<Name>``, whose operands the arguments fill in the grammar's order;
  :data:`SPECIAL` has the functions for which more is to be said.

``docs/llvm-ir.md`` describes the names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.llvm.to_spirv import opencl_functions
from coopmat.llvm.to_spirv.calls import ImportedCall
from coopmat.llvm.to_spirv.cleanup import clean_up
from coopmat.llvm.to_spirv.matrix_bytes import with_indices
from coopmat.llvm.to_spirv.names import BuiltinName, PointerCode, parse
from coopmat.spirv.analysis.matrix_addresses import counted_in_bytes
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Decoration, LinkageType, Op, instruction
from coopmat.spirv.module import Module
from coopmat.spirv.module.generators import BY_LLVM
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import decode_string
from coopmat.support.assertions import ASSERTION_FUNCTIONS

MATRIX_TYPE = "spirv.CooperativeMatrixKHR"

MISTAKEN = re.compile("|".join((
    "__spirv_CooperativeMatrixPrefetchINTEL",  # operands get lost
    r"__spirv_\w*Convert\w*_(?:sat|rt[eznp])",  # saturation and rounding get lost
    "convert_u?(?:char|short|int|long)",  # integers are extended by the wrong sign
    "async_work_group_copy",  # the stride gets 32 bits
    "wait_group_events",  # an array of events becomes one event
    r"vloada_half\d",  # becomes vload_halfn, which places vectors of three elsewhere
)))
"""Functions without a matrix that the back end knows, but translates wrongly."""


def hidden_names(declarations: Iterable[tuple[str, str]]) -> dict[str, str]:
    """New names for those of the declared functions (name, LLVM type) that LLVM must not recognise.

    What the old name says about the parameters stays, as the back end reads pointees from it, except pointers
    to events: of an array of them it makes one.
    """
    hidden: dict[str, str] = {}
    for name, type_ in declarations:
        if MATRIX_TYPE in type_ or MISTAKEN.search(name):
            identifier = f"coopmat_import_{len(hidden)}"
            hidden[name] = f"_Z{len(identifier)}{identifier}{_parameter_list(name)}"
    return hidden


_POINTER_TO_EVENT = re.compile(r"P(U3AS\d)?9ocl_event")


def _parameter_list(name: str) -> str:
    mangled = re.match(r"_Z(\d+)", name)
    parameters = name[mangled.end() + int(mangled.group(1)):] if mangled is not None else ""
    return "" if _POINTER_TO_EVENT.search(parameters) else parameters


def resolve(module: Module, hidden: Mapping[str, str], argument_types: Mapping[str, Sequence[str]] | None = None, *,
            keeps_unknown: bool = False) -> Module:
    """The module without imported functions; ``hidden`` is what :func:`hidden_names` gave, and
    ``argument_types`` the OpenCL C types of kernels' parameters, as far as known.

    Raises CompileError naming a function that is called and is no known built-in function, unless such functions
    stay imports (``keeps_unknown``).
    """
    originals = {new: old for old, new in hidden.items()}
    editor = Editor(module)
    imports = {identifier: originals.get(name, name) for identifier, name in _imported_functions(module)}
    with_indices(editor, imports)
    left = _replace_calls(editor, imports, keeps_unknown)
    editor.remove(set(imports) - left)
    for identifier in left:
        editor.rename_import(identifier, imports[identifier])
    clean_up(editor, argument_types or {})
    return editor.finish()


def resolve_known(module: Module) -> Module:
    """A module with calls of built-in functions that are known replaced by instructions; other imports stay. In one
    that LLVM made, matrices behind bytes are found again.

    It is for modules of other producers: clang, too, leaves functions of OpenCL C to whoever runs the module.
    """
    imports = dict(_imported_functions(module))
    in_bytes = module.generator >> 16 in BY_LLVM and bool(counted_in_bytes(module))
    if not imports and not in_bytes:
        return module
    editor = Editor(module)
    if in_bytes:
        with_indices(editor, imports)
    left = _replace_calls(editor, imports, keeps_unknown=True)
    editor.remove(set(imports) - left)
    return editor.finish()


def _replace_calls(editor: Editor, imports: Mapping[int, str], keeps_unknown: bool) -> set[int]:
    """Replace the calls of imported functions; those functions that are still needed."""
    names = {identifier: parse(name) for identifier, name in imports.items()}
    left: set[int] = set()

    def change(item: Instruction) -> list[Instruction] | None:
        if item.opcode != Op.FunctionCall or item.words[0] not in imports:
            return None
        function, *arguments = item.words
        assert item.type_id is not None
        assert item.result_id is not None
        call = ImportedCall(editor, imports[function], names[function], item.type_id, item.result_id, arguments)
        try:
            _replace(call)
        except CompileError:
            if not keeps_unknown and imports[function] not in ASSERTION_FUNCTIONS:
                raise
            left.add(function)
            return None
        return call.code

    editor.rewrite_functions(change)
    if not keeps_unknown:
        _check_no_other_use(editor, {known: name for known, name in imports.items() if known not in left})
    return left | {used for item in editor.functions if item.opcode != Op.Function
                   for used in item.ids() if used in imports}


def _imported_functions(module: Module) -> list[tuple[int, str]]:
    found = []
    for function in module.functions:
        for decoration, words in module.decorations(function.id):
            if decoration == Decoration.LinkageAttributes and words[-1] == LinkageType.Import:
                decoded = decode_string(words, 0)
                found.append((function.id, decoded[0] if decoded is not None else ""))
    return found


def _check_no_other_use(editor: Editor, imports: Mapping[int, str]) -> None:
    for item in editor.functions:
        if item.opcode != Op.Function:
            for used in item.ids():
                if used in imports:
                    raise CompileError([Diagnostic(
                        "error", f"'{imports[used]}' is a built-in function: it can be called, but has no "
                                 f"address ({item.name})", None)])


def _replace(call: ImportedCall) -> None:
    """Append the instructions for a call."""
    call.point_as_named()
    if call.name.family == "spirv":
        special = SPECIAL.get(call.name.name)
        if special is not None:
            special(call)
            return
        op = _operation(call.name)
        row = instruction(op) if op is not None else None
        if row is not None:
            call.instruction(row)
            return
    elif opencl_functions.replace(call):
        return
    raise CompileError([Diagnostic(
        "error", f"function '{call.function}' is called, but not defined, and it is no built-in function that "
                 f"is known", None)])


# --------------------------------------------------------------------------------------
# __spirv_ functions
# --------------------------------------------------------------------------------------

_NO_COMPUTATION = re.compile(
    r"(Type|Constant|SpecConstant|Function|Decorat|Member|GroupDecorat|GroupMember|Execution|Source|Loop|Selection|"
    r"Branch|Return|Terminate|Ext).*|Nop|Undef|Name|String|(No)?Line|MemoryModel|EntryPoint|Capability|Variable|Phi|"
    r"Label|Switch|Kill|Unreachable|ModuleProcessed|Abort\w*")
"""Instructions that declare, annotate or structure: no call can stand for them."""

_CLANG_ARITHMETIC = re.compile(r"CooperativeMatrix([FIUS](?:Add|Sub|Mul|Div|Negate))\Z")


def _operation(name: BuiltinName) -> Op | None:
    """The instruction that a ``__spirv_`` function names; None if there is none that a function can hold."""
    clang = _CLANG_ARITHMETIC.match(name.name)
    member = Op.__members__.get(clang.group(1) if clang is not None else name.name)
    return None if member is None or _NO_COMPUTATION.fullmatch(name.name) else member


def _by_component(floating: Op, integer: Op, operands: int) -> Callable[[ImportedCall], None]:
    """A matrix operation whose name leaves open what the components are."""
    def replace(call: ImportedCall) -> None:
        call.expect(operands)
        is_float = _component(call, 0).opcode == Op.TypeFloat
        call.replace(floating if is_float else integer, *call.arguments)
    return replace


def _matrix_type(call: ImportedCall, index: int) -> Instruction:
    type_ = call.argument_type(index)
    if type_.opcode != Op.TypeCooperativeMatrixKHR:
        raise call.fail(f"expected a cooperative matrix as argument {index + 1}")
    return type_


def _component(call: ImportedCall, index: int) -> Instruction:
    return call.editor.component(_matrix_type(call, index))


def _times_scalar(call: ImportedCall) -> None:
    """``matrix * scalar``; the RFC's example passes an int for a matrix of floats, which C converts.

    OpMatrixTimesScalar needs a capability that OpenCL does not have: the scalar fills a matrix.
    """
    call.expect(2)
    if call.argument_type(0).opcode != Op.TypeCooperativeMatrixKHR:
        call.arguments.reverse()
    component = _component(call, 0)
    scalar = _as_component(call, component)
    factor = call.value(Op.CompositeConstruct, call.result_type, scalar)
    call.replace(Op.FMul if component.opcode == Op.TypeFloat else Op.IMul, call.arguments[0], factor)


def _as_component(call: ImportedCall, component: Instruction) -> int:
    """The scalar argument 1 in the component's type."""
    scalar = call.argument_type(1)
    assert component.result_id is not None
    if scalar.result_id == component.result_id:
        return call.arguments[1]
    conversions = {
        (Op.TypeInt, Op.TypeFloat): Op.ConvertSToF, (Op.TypeFloat, Op.TypeInt): Op.ConvertFToS,
        (Op.TypeInt, Op.TypeInt): Op.SConvert, (Op.TypeFloat, Op.TypeFloat): Op.FConvert,
    }
    op = conversions.get((Op(scalar.opcode), Op(component.opcode)))
    if op is None:
        raise call.fail("expected a number as the scalar factor")
    return call.value(op, component.result_id, call.arguments[1])


def _load(call: ImportedCall) -> None:
    """A matrix load; where the name does not tell the pointee, the stride counts the matrix's elements."""
    matrix = call.editor.definition(call.result_type)
    if matrix.opcode != Op.TypeCooperativeMatrixKHR:
        raise call.fail("expected a function that returns a cooperative matrix")
    _memory_access(call, matrix, Op.CooperativeMatrixLoadKHR, layout=1)


def _store(call: ImportedCall) -> None:
    """A matrix store; the pointee is found as for a load."""
    _memory_access(call, _matrix_type(call, 1), Op.CooperativeMatrixStoreKHR, layout=2)


def _memory_access(call: ImportedCall, matrix: Instruction, op: Op, layout: int) -> None:
    call.argument_type(layout)
    call.literal(call.arguments[layout], "the layout")
    code = call.name.parameters[0] if call.name.parameters else None
    if not isinstance(code, PointerCode) or code.pointee is None:
        call.point_to(0, matrix.words[0])
    row = instruction(op)
    assert row is not None
    call.instruction(row)


def _load_checked(call: ImportedCall) -> None:
    """A load from a window of a matrix in memory."""
    matrix = call.editor.definition(call.result_type)
    if matrix.opcode != Op.TypeCooperativeMatrixKHR:
        raise call.fail("expected a function that returns a cooperative matrix")
    _memory_access(call, matrix, Op.CooperativeMatrixLoadCheckedINTEL, layout=3)


def _store_checked(call: ImportedCall) -> None:
    """A store to a window of a matrix in memory."""
    _memory_access(call, _matrix_type(call, 3), Op.CooperativeMatrixStoreCheckedINTEL, layout=4)


PLACE_AND_ELEMENT = 3  # parameters of a function for each element, before those of further operands


def _calling(op: Op, place: int) -> Callable[[ImportedCall], None]:
    """An instruction that calls a function for the elements of a matrix: the function's address is an argument."""
    def replace(call: ImportedCall) -> None:
        _matrix_type(call, 0)
        call.argument_type(place)
        pointer = call.editor.definition(_typed_pointer(call.editor, call.arguments[place]))
        if pointer.opcode != Op.ConstantFunctionPointerINTEL:
            raise call.fail(f"expected the address of a function as argument {place + 1}")
        function = call.arguments[place] = pointer.words[0]
        further = range(place + 1, len(call.arguments))
        for index, type_id in zip(further, _parameter_types(call.editor, function)[PLACE_AND_ELEMENT:], strict=False):
            wanted = call.editor.definition(type_id)
            if wanted.opcode == Op.TypePointer and call.argument_type(index).opcode == Op.TypePointer:
                call.point_to(index, wanted.words[1])
        row = instruction(op)
        assert row is not None
        call.instruction(row)
    return replace


def _parameter_types(editor: Editor, function: int) -> tuple[int, ...]:
    """The types of a function's parameters."""
    return editor.definition(editor.definition(function).words[1]).words[1:]


def _length(call: ImportedCall) -> None:
    """The call's operand is a value, the instruction's its type."""
    call.expect(1)
    matrix = _matrix_type(call, 0)
    assert matrix.result_id is not None
    call.replace(Op.CooperativeMatrixLengthKHR, matrix.result_id)


def _access_chain(op: Op, *, with_element: bool) -> Callable[[ImportedCall], None]:
    """An access chain: the result's type follows from what the pointer points to."""
    def replace(call: ImportedCall) -> None:
        call.argument_type(0)
        base = _typed_pointer(call.editor, call.arguments[0])
        pointer = call.editor.type_of(base)
        if pointer.opcode != Op.TypePointer:
            raise call.fail("expected a pointer as argument 1")
        pointee = pointer.words[1]
        named = _named_matrix(call)
        if call.editor.definition(pointee).opcode == Op.TypeInt and named is not None:
            pointee = named
            base = call.value(Op.Bitcast, call.editor.type_pointer(pointer.words[0], pointee), base)
        for index in call.arguments[2 if with_element else 1:]:
            pointee = _part(call, pointee, index)
        type_id = call.editor.type_pointer(pointer.words[0], pointee)
        part = call.value(op, type_id, base, *call.arguments[1:])
        call.value(Op.Bitcast, call.result_type, part, result=call.result)
    return replace


_MATRIX_CODE = re.compile(r"_(s|u|f|bf)(\d+)_sc(\d+)_(\d+)x(\d+)_u(\d+)")


def _named_matrix(call: ImportedCall) -> int | None:
    """The matrix type that the function's name tells, where the module has it."""
    code = _MATRIX_CODE.search(call.function)
    if code is None:
        return None
    kind, *numbers = code.groups()
    wanted = (Op.TypeInt if kind in "su" else Op.TypeFloat, *map(int, numbers))
    for item in call.editor.head:
        if item.opcode == Op.TypeCooperativeMatrixKHR:
            component = call.editor.component(item)
            if (component.opcode, component.words[0], *map(call.editor.integer, item.words[1:5])) == wanted:
                return item.result_id
    return None


def _explicit_cast(call: ImportedCall) -> None:
    """A generic pointer as one to a storage class: what it points to stays."""
    call.expect(2)
    base = _typed_pointer(call.editor, call.arguments[0])
    source, target = call.editor.type_of(base), call.editor.definition(call.result_type)
    if source.opcode != Op.TypePointer or target.opcode != Op.TypePointer:
        raise call.fail("expected a pointer as argument and result")
    type_id = call.editor.type_pointer(target.words[0], source.words[1])
    storage = call.literal(call.arguments[1], "the storage class")
    pointer = call.value(Op.GenericCastToPtrExplicit, type_id, base, storage)
    call.value(Op.Bitcast, call.result_type, pointer, result=call.result)


def _typed_pointer(editor: Editor, pointer: int) -> int:
    """What a pointer was before it was cast."""
    item = editor.definition(pointer)
    while item.opcode == Op.Bitcast and editor.type_of(item.words[0]).opcode == Op.TypePointer:
        pointer = item.words[0]
        item = editor.definition(pointer)
    return pointer


def _part(call: ImportedCall, type_id: int, index: int) -> int:
    """The type of a part of a composite type."""
    composite = call.editor.definition(type_id)
    if composite.opcode == Op.TypeStruct:
        member = call.literal(index, "the index of a member")
        if member < len(composite.words):
            return composite.words[member]
    elif composite.opcode in (Op.TypeArray, Op.TypeVector, Op.TypeCooperativeMatrixKHR):
        return composite.words[0]
    raise call.fail(f"the pointer points to {composite.name}, which has no part for the index; expected a "
                    f"pointer to a cooperative matrix or another composite")


SPECIAL: dict[str, Callable[[ImportedCall], None]] = {
    "CooperativeMatrixLoadKHR": _load,
    "CooperativeMatrixStoreKHR": _store,
    "CooperativeMatrixLoadCheckedINTEL": _load_checked,
    "CooperativeMatrixStoreCheckedINTEL": _store_checked,
    "CooperativeMatrixLengthKHR": _length,
    **{f"CooperativeMatrixReduce{vendor}": _calling(Op.CooperativeMatrixReduceEXT, 2) for vendor in ("EXT", "NV")},
    **{f"CooperativeMatrixPerElementOp{vendor}": _calling(Op.CooperativeMatrixPerElementOpEXT, 1)
       for vendor in ("EXT", "NV")},
    "CooperativeMatrixBinaryAdd": _by_component(Op.FAdd, Op.IAdd, 2),
    "CooperativeMatrixBinarySub": _by_component(Op.FSub, Op.ISub, 2),
    "CooperativeMatrixBinaryMul": _by_component(Op.FMul, Op.IMul, 2),
    "CooperativeMatrixBinaryDiv": _by_component(Op.FDiv, Op.SDiv, 2),
    "CooperativeMatrixScalarNeg": _by_component(Op.FNegate, Op.SNegate, 1),
    "CooperativeMatrixScalarMul": _times_scalar,
    "CooperativeMatrixScalarMulKHR": _times_scalar,
    "MatrixTimesScalar": _times_scalar,
    "GenericCastToPtrExplicit": _explicit_cast,
    "AccessChain": _access_chain(Op.AccessChain, with_element=False),
    "InBoundsAccessChain": _access_chain(Op.InBoundsAccessChain, with_element=False),
    "PtrAccessChain": _access_chain(Op.PtrAccessChain, with_element=True),
    "InBoundsPtrAccessChain": _access_chain(Op.InBoundsPtrAccessChain, with_element=True),
}
"""Functions whose instruction is more than their name and arguments."""
