"""The extended instruction sets ``OpenCL.DebugInfo.100`` and ``DebugInfo``: instructions and enumerations.

An instruction has a number and operand kinds; see :mod:`coopmat.spirv.tables.base` for rows of enumerations.
"""

from __future__ import annotations

from coopmat.spirv.tables.base import Mask, Row

OPENCL_DEBUG_INFO: dict[str, tuple[int, str]] = {
    "DebugInfoNone": (0, ""),
    "DebugCompilationUnit": (1, "LiteralInteger LiteralInteger IdRef SourceLanguage"),
    "DebugTypeBasic": (2, "IdRef IdRef DebugBaseTypeAttributeEncoding"),
    "DebugTypePointer": (3, "IdRef StorageClass DebugInfoFlags"),
    "DebugTypeQualifier": (4, "IdRef DebugTypeQualifier"),
    "DebugTypeArray": (5, "IdRef IdRef*"),
    "DebugTypeVector": (6, "IdRef LiteralInteger"),
    "DebugTypedef": (7, "IdRef IdRef IdRef LiteralInteger LiteralInteger IdRef"),
    "DebugTypeFunction": (8, "DebugInfoFlags IdRef IdRef*"),
    "DebugTypeEnum": (9, "IdRef IdRef IdRef LiteralInteger LiteralInteger IdRef IdRef DebugInfoFlags PairIdRefIdRef*"),
    "DebugTypeComposite": (10,
        "IdRef DebugCompositeType IdRef LiteralInteger LiteralInteger IdRef IdRef IdRef DebugInfoFlags "
        "IdRef*"),
    "DebugTypeMember": (11, "IdRef IdRef IdRef LiteralInteger LiteralInteger IdRef IdRef IdRef DebugInfoFlags IdRef?"),
    "DebugTypeInheritance": (12, "IdRef IdRef IdRef IdRef DebugInfoFlags"),
    "DebugTypePtrToMember": (13, "IdRef IdRef"),
    "DebugTypeTemplate": (14, "IdRef IdRef*"),
    "DebugTypeTemplateParameter": (15, "IdRef IdRef IdRef IdRef LiteralInteger LiteralInteger"),
    "DebugTypeTemplateTemplateParameter": (16, "IdRef IdRef IdRef LiteralInteger LiteralInteger"),
    "DebugTypeTemplateParameterPack": (17, "IdRef IdRef LiteralInteger LiteralInteger IdRef*"),
    "DebugGlobalVariable": (18,
        "IdRef IdRef IdRef LiteralInteger LiteralInteger IdRef IdRef IdRef DebugInfoFlags IdRef?"),
    "DebugFunctionDeclaration": (19, "IdRef IdRef IdRef LiteralInteger LiteralInteger IdRef IdRef DebugInfoFlags"),
    "DebugFunction": (20,
        "IdRef IdRef IdRef LiteralInteger LiteralInteger IdRef IdRef DebugInfoFlags LiteralInteger IdRef "
        "IdRef?"),
    "DebugLexicalBlock": (21, "IdRef LiteralInteger LiteralInteger IdRef IdRef?"),
    "DebugLexicalBlockDiscriminator": (22, "IdRef LiteralInteger IdRef"),
    "DebugScope": (23, "IdRef IdRef?"),
    "DebugNoScope": (24, ""),
    "DebugInlinedAt": (25, "LiteralInteger IdRef IdRef?"),
    "DebugLocalVariable": (26, "IdRef IdRef IdRef LiteralInteger LiteralInteger IdRef DebugInfoFlags LiteralInteger?"),
    "DebugInlinedVariable": (27, "IdRef IdRef"),
    "DebugDeclare": (28, "IdRef IdRef IdRef"),
    "DebugValue": (29, "IdRef IdRef IdRef IdRef*"),
    "DebugOperation": (30, "DebugOperation LiteralInteger*"),
    "DebugExpression": (31, "IdRef*"),
    "DebugMacroDef": (32, "IdRef LiteralInteger IdRef IdRef?"),
    "DebugMacroUndef": (33, "IdRef LiteralInteger IdRef"),
    "DebugImportedEntity": (34, "IdRef DebugImportedEntity IdRef IdRef LiteralInteger LiteralInteger IdRef"),
    "DebugSource": (35, "IdRef IdRef?"),
    "DebugModuleINTEL": (36, "IdRef IdRef IdRef LiteralInteger IdRef IdRef IdRef LiteralInteger"),
}

_LAST_OF_DEBUG_INFO = 33

DEBUG_INFO: dict[str, tuple[int, str]] = {
    **{name: row for name, row in OPENCL_DEBUG_INFO.items() if row[0] <= _LAST_OF_DEBUG_INFO},
    "DebugCompilationUnit": (1, "IdRef LiteralInteger LiteralInteger"),
    "DebugTypeBasic": (2, "IdRef IdRef DebugBaseTypeAttributeEncodingOld"),
    "DebugTypeFunction": (8, "IdRef IdRef*"),
    "DebugTypeComposite": (10,
        "IdRef DebugCompositeType IdRef LiteralInteger LiteralInteger IdRef IdRef DebugInfoFlags IdRef*"),
    "DebugLocalVariable": (26, "IdRef IdRef IdRef LiteralInteger LiteralInteger IdRef LiteralInteger?"),
    "DebugValue": (29, "IdRef IdRef IdRef*"),
}
"""The older set: the same but for these operands, and without the last instructions."""


class DebugInfoFlags(Mask):
    """Operand kind DebugInfoFlags."""

    None_ = 0x0
    FlagIsProtected = 0x1
    FlagIsPrivate = 0x2
    FlagIsPublic = 0x3
    FlagIsLocal = 0x4
    FlagIsDefinition = 0x8
    FlagFwdDecl = 0x10
    FlagArtificial = 0x20
    FlagExplicit = 0x40
    FlagPrototyped = 0x80
    FlagObjectPointer = 0x100
    FlagStaticMember = 0x200
    FlagIndirectVariable = 0x400
    FlagLValueReference = 0x800
    FlagRValueReference = 0x1000
    FlagIsOptimized = 0x2000
    FlagIsEnumClass = 0x4000
    FlagTypePassByValue = 0x8000
    FlagTypePassByReference = 0x10000


class DebugBaseTypeAttributeEncoding(Row):
    """Operand kind DebugBaseTypeAttributeEncoding."""

    Unspecified = 0
    Address = 1
    Boolean = 2
    Float = 3
    Signed = 4
    SignedChar = 5
    Unsigned = 6
    UnsignedChar = 7


class DebugCompositeType(Row):
    """Operand kind DebugCompositeType."""

    Class = 0
    Structure = 1
    Union = 2


class DebugTypeQualifier(Row):
    """Operand kind DebugTypeQualifier."""

    ConstType = 0
    VolatileType = 1
    RestrictType = 2
    AtomicType = 3


class DebugOperation(Row):
    """Operand kind DebugOperation."""

    Deref = 0
    Plus = 1
    Minus = 2
    PlusUconst = 3, "LiteralInteger"
    BitPiece = 4, "LiteralInteger LiteralInteger"
    Swap = 5
    Xderef = 6
    StackValue = 7
    Constu = 8, "LiteralInteger"
    Fragment = 9, "LiteralInteger LiteralInteger"


class DebugImportedEntity(Row):
    """Operand kind DebugImportedEntity."""

    ImportedModule = 0
    ImportedDeclaration = 1


class DebugBaseTypeAttributeEncodingOld(Row):
    """The encodings of ``DebugInfo``, which has other numbers than its successor."""

    Unspecified = 0
    Address = 1
    Boolean = 2
    Float = 4
    Signed = 5
    SignedChar = 6
    Unsigned = 7
    UnsignedChar = 8
