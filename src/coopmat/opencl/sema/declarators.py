"""Types as they are written: specifiers and declarators to types (C99 6.7.2 to 6.7.6, OpenCL C 6.3, 6.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.symbols import Declared, QualifiedType, Typedef
from coopmat.opencl.base.types import FP64_FEATURES, MAX_OBJECT_BYTES, UNSIZED, has_size
from coopmat.opencl.base.values import AUTO, ERROR, is_error, qualifiers_of
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.messages import versions as version_messages
from coopmat.opencl.parse import keywords, syntax
from coopmat.opencl.sema import attributes, enumerations, records
from coopmat.opencl.sema.context import Context
from coopmat.opencl.sema.nesting import check_nesting
from coopmat.tree.nodes import Expression
from coopmat.tree.types import (
    BFLOAT16,
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VOID,
    AddressSpace,
    Array,
    FunctionType,
    Pointer,
    Type,
    size_of,
)


def _word_combinations() -> dict[tuple[str, ...], Type]:
    """All ways to write a built-in type; the words in alphabetical order (C99 6.7.2p2)."""
    table: dict[tuple[str, ...], Type] = {
        ("void",): VOID, ("bool",): BOOL, ("_Bool",): BOOL, ("half",): HALF, ("float",): FLOAT, ("double",): DOUBLE,
        ("__bf16",): BFLOAT16, ("signed",): INT, ("unsigned",): UINT,
    }
    for word, signed, unsigned in (("char", CHAR, UCHAR), ("short", SHORT, USHORT), ("int", INT, UINT),
                                   ("long", LONG, ULONG)):
        for extra in ([], ["int"]) if word in ("short", "long") else ([],):
            words = [word, *extra]
            table[tuple(sorted(words))] = signed
            table[tuple(sorted([*words, "signed"]))] = signed
            table[tuple(sorted([*words, "unsigned"]))] = unsigned
    return table


TYPE_WORDS = _word_combinations()

DEVICE_SIZED = frozenset({"size_t", "ptrdiff_t", "intptr_t", "uintptr_t"})
"""Types that may have another size on the host, so that a kernel cannot take them (OpenCL C 6.11.k)."""

# ------------------------------------------------------------------ specifiers


def specified_type(context: Context, specifiers: syntax.Specifiers, *, declares_tag: bool = False) -> QualifiedType:
    """The type that specifiers give, with type attributes. ``declares_tag``: no declarators follow."""
    if specifiers.record is not None:
        base = QualifiedType(records.record_type(context, specifiers.record, declares_tag))
    elif specifiers.enumeration is not None:
        base = QualifiedType(enumerations.enumeration_type(context, specifiers.enumeration))
    elif specifiers.type_of is not None:
        base = type_of(context, specifiers.type_of)
    elif specifiers.is_auto:
        base = QualifiedType(AUTO)
    elif specifiers.named is not None:
        base = _named_type(context, specifiers.named, specifiers.type_location or specifiers.location)
    else:
        base = QualifiedType(_builtin_type(context, specifiers))
    spaces = _address_spaces(context, specifiers.qualifiers)
    if spaces and base.address_space not in (None, spaces[0]):
        context.report(messages.TWO_ADDRESS_SPACES, specifiers.location)
    base = replace(base, const=base.const or "const" in specifiers.qualifiers,
                   volatile=base.volatile or "volatile" in specifiers.qualifiers,
                   restrict=base.restrict or "restrict" in specifiers.qualifiers,
                   address_space=spaces[0] if spaces else base.address_space)
    if "restrict" in specifiers.qualifiers and not isinstance(base.type, Pointer) and base.type is not ERROR:
        context.report(messages.RESTRICT_NEEDS_POINTER, specifiers.qualifiers["restrict"], type=base.type)
    return attributes.apply_to_type(context, base, specifiers.attributes)


def _address_spaces(context: Context, qualifiers: Mapping[str, SourceLocation]) -> list[AddressSpace]:
    """The address spaces among qualifiers."""
    if "__generic" in qualifiers and not context.language.has_generic_address_space:
        context.report(version_messages.QUALIFIER_NEEDS_VERSION, qualifiers["__generic"], name="__generic",
                       version=context.language)
    return [AddressSpace[word.strip("_").upper()] for word in qualifiers if word in keywords.ADDRESS_SPACES.values()]


def type_of(context: Context, operand: syntax.TypeName | syntax.Expression) -> QualifiedType:
    """The type of an expression with its qualifiers, as ``__typeof__`` gives it (without address space)."""
    if isinstance(operand, syntax.TypeName):
        base = specified_type(context, operand.specifiers)
        return declared(context, base, operand.declarator).type
    with context.discarding():
        found = context.analyze(operand)
    if is_error(found) or isinstance(found, Expression):
        return QualifiedType(found.type)
    qualifiers = qualifiers_of(found)
    return QualifiedType(found.type, qualifiers.const, qualifiers.volatile)


def _named_type(context: Context, name: str, location: SourceLocation) -> QualifiedType:
    symbol = context.lookup(name)
    if isinstance(symbol, Typedef):
        if context.function is not None:
            context.function.typedefs.pop(name, None)
        if symbol.type.type.element == DOUBLE and not context.has(*FP64_FEATURES):
            context.report(messages.NEEDS_FP64, location, type=name)
        is_of_device = symbol.location is None and name in DEVICE_SIZED
        return replace(symbol.type, of_device=name if is_of_device else symbol.type.of_device)
    names = [known for scope in reversed(context.scopes) for known, found in scope.symbols.items()
             if isinstance(found, Typedef)]
    context.misspelt(messages.UNKNOWN_TYPE, name, location, [*names, *keywords.TYPE_WORDS])
    return QualifiedType(ERROR)


def _builtin_type(context: Context, specifiers: syntax.Specifiers) -> Type:
    location = specifiers.type_location or specifiers.location
    words = [word.strip("_") if word.startswith("__signed") else word for word in specifiers.type_words]
    if words.count("long") == 2:
        context.report(messages.LONG_LONG, location)
        words.remove("long")
    type_ = TYPE_WORDS.get(tuple(sorted(words)))
    if type_ is None:
        context.report(messages.BAD_TYPE_WORDS, location, words=" ".join(words))
        return ERROR
    if type_ == DOUBLE and not context.has(*FP64_FEATURES):
        context.report(messages.NEEDS_FP64, location, type="double")
    return type_


# ------------------------------------------------------------------ declarators


def declared(context: Context, base: QualifiedType, declarator: syntax.Declarator) -> Declared:
    """Apply a declarator to the type that the specifiers give, from the outside in (C99 6.7.5)."""
    function: syntax.FunctionDeclarator | None = None
    while not isinstance(declarator, syntax.NameDeclarator):
        if function is not None and base.type is not ERROR:
            message = messages.FUNCTION_POINTER if isinstance(declarator, syntax.PointerDeclarator) \
                else messages.BAD_FUNCTION_DECLARATOR
            context.report(message, declarator.location)
            base, function = QualifiedType(ERROR), None
        match declarator:
            case syntax.PointerDeclarator():
                base = _pointer(context, base, declarator)
                declarator = declarator.inner
            case syntax.ArrayDeclarator():
                base = replace(base, type=_array(context, base, declarator))
                declarator = declarator.inner
            case syntax.FunctionDeclarator():
                function = declarator
                declarator = declarator.inner
            case _:
                raise TypeError(type(declarator).__name__)
    return Declared(declarator.name, declarator.location, base, function)


def _pointer(context: Context, base: QualifiedType, declarator: syntax.PointerDeclarator) -> QualifiedType:
    """``*``: a pointer to ``base``."""
    spaces = _address_spaces(context, declarator.qualifiers)
    own = QualifiedType(ERROR, "const" in declarator.qualifiers, "volatile" in declarator.qualifiers,
                        "restrict" in declarator.qualifiers, spaces[0] if spaces else None, base.alignment)
    if base.type is AUTO or isinstance(base.type, FunctionType):
        message = messages.AUTO_ALONE if base.type is AUTO else messages.FUNCTION_POINTER
        context.report(message, declarator.location)
        return own
    if base.type is not ERROR and check_nesting(context, base.type, declarator.location):
        space = base.address_space or default_pointee(context)
        own = replace(own, type=Pointer(base.type, space, base.const, base.volatile, base.type_alignment))
    return own


def default_pointee(context: Context) -> AddressSpace:
    """What a pointer points to where no address space is written (OpenCL C 6.7): the generic address space, or
    private memory in versions that do not have that."""
    return AddressSpace.GENERIC if context.language.has_generic_address_space else AddressSpace.PRIVATE


def _array(context: Context, base: QualifiedType, declarator: syntax.ArrayDeclarator) -> Type:
    """``[size]``: an array of ``base``."""
    item = base.type
    size = None if declarator.size is None else context.value(declarator.size)
    if item is AUTO:
        context.report(messages.AUTO_ALONE, declarator.location)
        return ERROR
    if item is ERROR or (size is not None and is_error(size)):
        return ERROR
    if not has_size(item):
        context.report(messages.INCOMPLETE_ELEMENT, declarator.location, type=item)
        return ERROR
    if base.type_alignment is not None and size_of(item) % base.type_alignment:
        context.report(messages.ELEMENT_ALIGNMENT, declarator.location, type=item, size=size_of(item),
                       alignment=base.type_alignment)
        return ERROR
    if not check_nesting(context, item, declarator.location):
        return ERROR
    if size is None:
        return Array(item, UNSIZED)
    if not _is_integer(size.type):
        context.report(messages.SIZE_NOT_INTEGER, size.location, type=size.type)
        return ERROR
    count = context.constant_integer(size)
    if count is None:
        context.report(messages.VARIABLE_LENGTH_ARRAY, size.location)
    elif count < 0:
        context.report(messages.SIZE_NOT_POSITIVE, size.location, count=count)
    elif count * size_of(item) >= MAX_OBJECT_BYTES:
        context.report(messages.ARRAY_TOO_LARGE, size.location, count=count)
    else:
        return Array(item, count)
    return ERROR


def _is_integer(type_: Type) -> bool:
    return type_.is_arithmetic and not type_.is_float


def qualified_type_name(context: Context, name: syntax.TypeName) -> QualifiedType:
    """The type in a cast, sizeof or compound literal, with its qualifiers; ERROR after a report."""
    base = specified_type(context, name.specifiers)
    result = declared(context, base, name.declarator)
    if result.function is not None:
        context.report(messages.BAD_FUNCTION_DECLARATOR, result.function.location)
        return QualifiedType(ERROR)
    if result.type.type is AUTO:
        context.report(messages.AUTO_ALONE, name.location)
        return QualifiedType(ERROR)
    return result.type
