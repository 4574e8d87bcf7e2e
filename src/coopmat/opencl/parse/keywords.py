"""The words of OpenCL C that the parser gives a meaning to (C99 6.4.1, OpenCL C 6.1, 6.1.9)."""

from __future__ import annotations

from coopmat.tree.types import VECTOR_COUNTS

TYPE_WORDS = frozenset({
    "void", "char", "short", "int", "long", "float", "double", "half", "signed", "unsigned", "_Bool", "bool",
    "__bf16", "__signed__", "__signed",
})
"""Words that combine to the name of a built-in type."""

UNSIGNED_NAMES = {"uchar": "char", "ushort": "short", "uint": "int", "ulong": "long"}
VECTOR_ELEMENTS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
BUILTIN_TYPE_NAMES = frozenset({
    *UNSIGNED_NAMES, "size_t", "ptrdiff_t", "intptr_t", "uintptr_t",
    *(f"{element}{count}" for element in VECTOR_ELEMENTS for count in VECTOR_COUNTS),
})
"""Names of types that a program may declare anew in an inner scope, as they are no keywords."""

QUALIFIERS = {
    "const": "const", "__const": "const", "__const__": "const",
    "volatile": "volatile", "__volatile": "volatile", "__volatile__": "volatile",
    "restrict": "restrict", "__restrict": "restrict", "__restrict__": "restrict",
}
ADDRESS_SPACES = {
    f"{prefix}{name}": f"__{name}" for name in ("global", "local", "constant", "private", "generic")
    for prefix in ("__", "")
}
STORAGE_CLASSES = {
    "typedef": "typedef", "extern": "extern", "static": "static",
    "inline": "inline", "__inline": "inline", "__inline__": "inline",
}
KERNEL_WORDS = frozenset({"kernel", "__kernel"})
ATTRIBUTE_WORDS = frozenset({"__attribute__", "__attribute"})
RECORD_WORDS = frozenset({"struct", "union"})
TYPEOF_WORDS = frozenset({"__typeof__", "__typeof"})
AUTO_TYPE = "__auto_type"
ALIGNMENT_WORDS = frozenset({"_Alignof", "__alignof__", "__alignof"})

REFUSED_WORDS = {
    "auto": "the storage class 'auto' is", "_Thread_local": "thread-local storage is",
    "__thread": "thread-local storage is", "register": "the storage class 'register' is",
    "_Atomic": "the qualifier '_Atomic' is", "_Complex": "complex numbers are", "_Imaginary": "complex numbers are",
    "asm": "inline assembly is", "__asm__": "inline assembly is", "__asm": "inline assembly is",
    "typeof": "'typeof' (write '__typeof__') is",
    "__int128": "the type '__int128' is", "pipe": "pipes are", "__pipe": "pipes are",
    "read_only": "images are", "write_only": "images are", "read_write": "images are",
    "__read_only": "images are", "__write_only": "images are", "__read_write": "images are",
}
"""Words with a meaning that is not supported, and the beginning of what is said about them."""

REFUSED_TYPES = {
    **{f"image{kind}_t": "images are" for kind in (
        "1d", "1d_array", "1d_buffer", "2d", "2d_array", "2d_depth", "2d_array_depth", "2d_msaa", "2d_array_msaa",
        "2d_msaa_depth", "2d_array_msaa_depth", "3d")},
    "sampler_t": "samplers are", "clk_event_t": "device-side queues are",
    "queue_t": "device-side queues are", "ndrange_t": "device-side queues are", "reserve_id_t": "pipes are",
}
"""Types of OpenCL C that belong to features which are not supported."""

CPLUSPLUS_WORDS = frozenset({
    "class", "template", "namespace", "using", "typename", "operator", "public", "protected", "virtual",
    "friend", "explicit", "constexpr", "decltype", "new", "delete", "throw", "try", "catch", "this", "nullptr",
    "static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "mutable", "noexcept", "co_await",
})
"""Words that stand for nothing in C; named in messages where they are not declared."""

STATEMENT_WORDS = frozenset({
    "break", "case", "continue", "default", "do", "else", "for", "goto", "if", "return", "switch", "while",
})
OTHER_KEYWORDS = frozenset({"sizeof", "enum", "_Static_assert", "__extension__", "_Generic", "_Alignas", "_Noreturn",
                            AUTO_TYPE, *TYPEOF_WORDS})

FUNCTION_NAME_WORDS = frozenset({"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"})
"""Names that stand for the name of the function around them (C99 6.4.2.2, GNU)."""

OPERATIONS: dict[str, tuple[str, ...]] = {
    "__builtin_astype": ("value", "type"),
    "__builtin_choose_expr": ("value", "value", "value"),
    "__builtin_convertvector": ("value", "type"),
    "__builtin_offsetof": ("type", "member"),
    "__builtin_types_compatible_p": ("type", "type"),
}
"""Built-in functions of the compiler that are no functions, as they take types or do not evaluate every
operand: the kinds of the operands."""

KEYWORDS = (TYPE_WORDS | QUALIFIERS.keys() | ADDRESS_SPACES.keys() | STORAGE_CLASSES.keys() | KERNEL_WORDS
            | ATTRIBUTE_WORDS | RECORD_WORDS | ALIGNMENT_WORDS | REFUSED_WORDS.keys() | STATEMENT_WORDS
            | OTHER_KEYWORDS)
"""Identifiers that cannot be declared."""
