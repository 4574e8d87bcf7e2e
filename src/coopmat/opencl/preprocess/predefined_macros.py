"""The predefined macros of OpenCL C (OpenCL C 6.10, 6.15.2 and the headers' constants).

What a device adds (extensions and features, each defined as 1) comes from its description; the
enumerants of the cooperative matrix extension, of memory scopes and of memory orders are no macros.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coopmat.support.build_options import Language


@dataclass(frozen=True, slots=True)
class PredefinedMacro:
    """One macro, as it stands after ``#define``; ``needs`` is the extension it comes with, if any, and ``since``
    the first version of OpenCL C that has it."""

    name: str
    value: str
    needs: str | None = None
    since: int = 100


_FP16, _FP64 = "cl_khr_fp16", "cl_khr_fp64"

_VERSIONS = {
    "__OPENCL_VERSION__": "300",
    "CL_VERSION_1_0": "100", "CL_VERSION_1_1": "110", "CL_VERSION_1_2": "120",
    "CL_VERSION_2_0": "200", "CL_VERSION_3_0": "300",
    "__COOPMAT__": "1",
}

_ENVIRONMENT = {
    "__ENDIAN_LITTLE__": "1", "__opencl_c_int64": "1", "__FINITE_MATH_ONLY__": "0",
    "NULL": "((void *)0)", "true": "1", "false": "0",
    "kernel_exec(X, typen)": "__kernel __attribute__((work_group_size_hint(X, 1, 1))) "
                             "__attribute__((vec_type_hint(typen)))",
}

_COMPILER = {
    "__CHAR_BIT__": "8", "__SCHAR_MAX__": "127", "__SHRT_MAX__": "32767", "__INT_MAX__": "2147483647",
    "__LONG_MAX__": "9223372036854775807L", "__SIZEOF_SHORT__": "2", "__SIZEOF_INT__": "4", "__SIZEOF_LONG__": "8",
    "__SIZEOF_POINTER__": "8", "__SIZEOF_SIZE_T__": "8", "__SIZEOF_FLOAT__": "4", "__SIZEOF_DOUBLE__": "8",
    "__ORDER_LITTLE_ENDIAN__": "1234", "__ORDER_BIG_ENDIAN__": "4321", "__BYTE_ORDER__": "__ORDER_LITTLE_ENDIAN__",
}
"""What compilers define for every language."""

CORE_EXTENSIONS = (
    "cl_khr_byte_addressable_store",
    "cl_khr_global_int32_base_atomics", "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics",
)
"""Extensions that became part of OpenCL C 1.1: every device has them."""

_INTEGER_LIMITS = {
    "CHAR_BIT": "8",
    "SCHAR_MAX": "127", "SCHAR_MIN": "(-127 - 1)", "CHAR_MAX": "SCHAR_MAX", "CHAR_MIN": "SCHAR_MIN",
    "UCHAR_MAX": "255",
    "SHRT_MAX": "32767", "SHRT_MIN": "(-32767 - 1)", "USHRT_MAX": "65535",
    "INT_MAX": "2147483647", "INT_MIN": "(-2147483647 - 1)", "UINT_MAX": "0xffffffffU",
    "LONG_MAX": "0x7fffffffffffffffL", "LONG_MIN": "(-0x7fffffffffffffffL - 1)",
    "ULONG_MAX": "0xffffffffffffffffUL",
}

_SYNCHRONIZATION = {
    "CLK_LOCAL_MEM_FENCE": "0x01", "CLK_GLOBAL_MEM_FENCE": "0x02",
}
_ATOMICS = {
    "CLK_IMAGE_MEM_FENCE": "0x04", "ATOMIC_VAR_INIT(value)": "(value)", "ATOMIC_FLAG_INIT": "0",
}

_FLOAT_SPECIAL = (
    PredefinedMacro("MAXFLOAT", "0x1.fffffep127f"),
    PredefinedMacro("HUGE_VALF", "as_float(0x7f800000)"),
    PredefinedMacro("INFINITY", "as_float(0x7f800000)"),
    PredefinedMacro("NAN", "as_float(0x7fc00000)"),
    PredefinedMacro("HUGE_VAL", "as_double(0x7ff0000000000000L)", _FP64),
    PredefinedMacro("FP_ILOGB0", "INT_MIN"),
    PredefinedMacro("FP_ILOGBNAN", "INT_MAX"),
)


@dataclass(frozen=True, slots=True)
class _FloatingLimits:
    """The limits of one floating type (OpenCL C 6.15.2.1), exact values as hexadecimal constants."""

    prefix: str
    suffix: str
    needs: str | None
    dig: int
    mant_dig: int
    exponents: tuple[int, int, int, int]  # MIN_10_EXP, MIN_EXP, MAX_10_EXP, MAX_EXP
    largest: str
    smallest: str
    epsilon: str

    def rows(self) -> Iterator[PredefinedMacro]:
        """The macros of this type."""
        min_10, minimum, max_10, maximum = self.exponents
        values = {
            "DIG": f"{self.dig}", "MANT_DIG": f"{self.mant_dig}", "RADIX": "2",
            "MIN_10_EXP": f"({min_10})", "MIN_EXP": f"({minimum})",
            "MAX_10_EXP": f"{max_10}", "MAX_EXP": f"{maximum}",
            "MAX": self.largest + self.suffix, "MIN": self.smallest + self.suffix,
            "EPSILON": self.epsilon + self.suffix,
        }
        for name, value in values.items():
            yield PredefinedMacro(f"{self.prefix}_{name}", value, self.needs)


_FLOATING_LIMITS = (
    _FloatingLimits("FLT", "f", None, 6, 24, (-37, -125, 38, 128),
                    "0x1.fffffep127", "0x1.0p-126", "0x1.0p-23"),
    _FloatingLimits("DBL", "", _FP64, 15, 53, (-307, -1021, 308, 1024),
                    "0x1.fffffffffffffp1023", "0x1.0p-1022", "0x1.0p-52"),
    _FloatingLimits("HALF", "h", _FP16, 3, 11, (-4, -13, 4, 16),
                    "0x1.ffcp15", "0x1.0p-14", "0x1.0p-10"),
)

_MATH_CONSTANTS = {
    "M_E": "2.71828182845904523536028747135266250",
    "M_LOG2E": "1.44269504088896340735992468100189214",
    "M_LOG10E": "0.434294481903251827651128918916605082",
    "M_LN2": "0.693147180559945309417232121458176568",
    "M_LN10": "2.30258509299404568401799145468436421",
    "M_PI": "3.14159265358979323846264338327950288",
    "M_PI_2": "1.57079632679489661923132169163975144",
    "M_PI_4": "0.785398163397448309615660845819875721",
    "M_1_PI": "0.318309886183790671537767526745028724",
    "M_2_PI": "0.636619772367581343075535053490057448",
    "M_2_SQRTPI": "1.12837916709551257389615890312154517",
    "M_SQRT2": "1.41421356237309504880168872420969808",
    "M_SQRT1_2": "0.707106781186547524400844362104849039",
}
_MATH_TYPES = (("", "", _FP64), ("_F", "f", None), ("_H", "h", _FP16))  # suffixes of name, of value


def _rows() -> Iterator[PredefinedMacro]:
    for table in (_VERSIONS, _ENVIRONMENT, _COMPILER, dict.fromkeys(CORE_EXTENSIONS, "1"), _INTEGER_LIMITS,
                  _SYNCHRONIZATION):
        yield from (PredefinedMacro(name, value) for name, value in table.items())
    yield from (PredefinedMacro(name, value, since=200) for name, value in _ATOMICS.items())
    yield from _FLOAT_SPECIAL
    for limits in _FLOATING_LIMITS:
        yield from limits.rows()
    for name, digits in _MATH_CONSTANTS.items():
        for name_suffix, suffix, needs in _MATH_TYPES:
            yield PredefinedMacro(name + name_suffix, digits + suffix, needs)


PREDEFINED: tuple[PredefinedMacro, ...] = tuple(_rows())
"""Every predefined macro but ``__OPENCL_C_VERSION__`` and those that the preprocessor computes (``__LINE__`` and its
like)."""


def definitions(features: Iterable[str], language: Language) -> str:
    """The source text that defines all predefined macros of a device with these features."""
    present = sorted(set(features))
    rows = [row for row in PREDEFINED
            if (row.needs is None or row.needs in present) and row.since <= language.number]
    rows.append(PredefinedMacro("__OPENCL_C_VERSION__", str(language.number)))
    names = {row.name for row in rows}
    rows += [PredefinedMacro(name, "1") for name in present if name not in names]
    return "".join(f"#define {row.name} {row.value}\n" for row in rows)
