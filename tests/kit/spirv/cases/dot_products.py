"""Cases of the family dot_products."""

from __future__ import annotations

from collections.abc import Callable

from tests.kit.spirv.case import broken, kernel, shader, valid

PACKED = {"rest": "PackedVectorFormat4x8Bit", "capabilities": "DotProduct DotProductInput4x8BitPacked"}
ALL = "DotProduct DotProductInputAll"
PLAIN, SATURATING = ("SDot", "UDot", "SUDot"), ("SDotAccSat", "UDotAccSat", "SUDotAccSat")
SHADER = "DotProduct DotProductInputAll DotProductInput4x8BitPacked Int8"


def dot(op: str, vector: str, result: str = "%uint", second: str | None = None, rest: str = "",
        capabilities: str = ALL, make: Callable[..., str] = kernel, accumulator: str | None = None) -> str:
    accumulated = "%c" if op.endswith("AccSat") else ""
    return make(f"%a = OpUndef {vector}\n%b = OpUndef {second or vector}\n%c = OpUndef {accumulator or result}\n"
                f"%r = Op{op} {result} %a %b {accumulated} {rest}", capabilities=capabilities,
                extensions="SPV_KHR_integer_dot_product")


def in_shader(op: str, vector: str, result: str = "%uint", **rest: str) -> str:
    return dot(op, vector, result, make=shader, **{"capabilities": SHADER, **rest})


CASES = [
    *(valid(f"Op{op} of four bytes", dot(op, "%v4uchar")) for op in (*PLAIN, *SATURATING)),
    *(valid(f"Op{op} of packed bytes", dot(op, "%uint", **PACKED)) for op in (*PLAIN, *SATURATING)),
    valid("a result as wide as the components", dot("SDot", "%v2ushort", "%ushort")),
    valid("packed bytes into 8 bits", dot("SDot", "%uint", "%uchar", **PACKED)),
    valid("three longs", dot("UDot", "%v3ulong", "%ulong")),
    valid("a signed and an unsigned vector",
          dot("SUDot", "%v4schar", "%sint", second="%v4uchar", make=lambda text, **rest: shader(
              text, declarations="%schar = OpTypeInt 8 1\n%v4schar = OpTypeVector %schar 4", **rest),
              capabilities=SHADER)),
    valid("packed signed integers in a shader", in_shader("SDot", "%sint", "%sint", rest="PackedVectorFormat4x8Bit")),
    valid("packed signed integers in an unsigned dot product",
          in_shader("UDot", "%sint", "%uint", rest="PackedVectorFormat4x8Bit")),
    broken("dot-vectors", "floats", dot("SDot", "%v4float"), says="takes vectors of integers"),
    broken("dot-vectors", "an array", dot("SDot", "%arr4_uint"), says="takes vectors of integers"),
    broken("dot-vectors", "scalars without a format", dot("SDot", "%uint", capabilities=PACKED["capabilities"]),
           says="needs the operand PackedVectorFormat4x8Bit"),
    broken("dot-vectors", "scalars without a format, saturating",
           dot("UDotAccSat", "%uint", capabilities=PACKED["capabilities"]),
           says="needs the operand PackedVectorFormat4x8Bit"),
    broken("dot-vectors", "vectors with a format", dot("SDot", "%v4uchar", rest="PackedVectorFormat4x8Bit",
                                                     capabilities=f"{ALL} DotProductInput4x8BitPacked"),
           "SPV_KHR_integer_dot_product gives Packed Vector Format a meaning for scalars only; SPIRV-Tools ignores it "
           "beside vectors", says="takes no packed vector format"),
    broken("dot-vectors", "an unknown format", dot("SDot", "%uint", **PACKED), says="is not known",
           words=(("OpSDot", 5, 1),)),
    broken("dot-vectors", "packed in 64 bits", dot("SDot", "%ulong", "%ulong", **PACKED),
           says="packed vectors of 32 bits"),
    broken("dot-vectors", "packed in 16 bits", dot("SUDot", "%ushort", **PACKED), says="packed vectors of 32 bits"),
    broken("dot-vectors", "the vectors differ", dot("SDot", "%v4uchar", second="%v4ushort"), says="differ"),
    broken("dot-vectors", "the signedness differs", in_shader("SDot", "%v2sint", "%sint", second="%v2uint"),
           "SPV_KHR_integer_dot_product asks for two vectors of one type in OpSDot; SPIRV-Tools compares their sizes, "
           "not their signedness", says="differ"),
    broken("dot-vectors", "a vector and a packed one", dot("UDot", "%v4uchar", second="%uint"), says="differ"),
    broken("dot-vectors", "numbers of components differ", dot("SUDot", "%v4uchar", second="%v2uchar"), says="differ"),
    broken("dot-vectors", "widths differ", dot("SUDotAccSat", "%v4uchar", second="%v4ushort"), says="differ"),
    broken("dot-signedness", "a signed result of OpUDot", in_shader("UDot", "%v2uint", "%sint"),
           says="the result of OpUDot"),
    broken("dot-signedness", "a signed result of OpUDotAccSat", in_shader("UDotAccSat", "%v2uint", "%sint")),
    broken("dot-signedness", "signed vectors in OpUDot", in_shader("UDot", "%v2sint"), says="vector 1 of OpUDot"),
    broken("dot-signedness", "a signed vector 2", in_shader("SUDot", "%v2sint", "%sint"), says="vector 2 of OpSUDot"),
    broken("dot-result", "a float result", dot("SDot", "%v4uchar", "%float"), says="is an integer"),
    broken("dot-result", "a vector as the result", dot("SDot", "%v4uchar", "%v4uint"), says="is an integer"),
    broken("dot-result", "a narrow result", dot("SDot", "%v2ushort", "%uchar"), says="narrower than"),
    broken("dot-result", "a narrow result of 64 bits", dot("UDotAccSat", "%v2ulong", "%uint"), says="narrower than"),
    broken("dot-accumulator", "an accumulator of another width", dot("SDotAccSat", "%v4uchar", accumulator="%ulong")),
    broken("dot-accumulator", "an accumulator of another kind", dot("UDotAccSat", "%v4uchar", accumulator="%float")),
]
