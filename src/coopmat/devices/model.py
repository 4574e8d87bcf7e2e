"""The records of the device tables: matrix combinations and architectures.

``Combination`` has the members of ``struct combination`` in sycl_ext_oneapi_matrix, section "Runtime
Query", plus ``native``. ``DeviceDescription`` is one architecture. Both are frozen and refuse to be
built wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from coopmat.devices.arithmetic import ArithmeticFacts
from coopmat.devices.features import XMX_SIZES, feature_macros
from coopmat.devices.instructions import Instruction
from coopmat.devices.operands import USES, Use, types_are_consistent, types_text
from coopmat.diagnostics import Error, KernelNotSupported, value_text
from coopmat.formats import format_of, matrix_type

Size = int | tuple[Literal["max"], int]
"""One size of a table row: the only one (``16``), or every one from 1 up to it (``up_to(16)``)."""


def up_to(limit: int) -> Size:
    """Every size from 1 to ``limit``: what the appendix writes as ``<= limit``."""
    return ("max", limit)


@dataclass(frozen=True, slots=True)
class Combination:
    """One combination of types and sizes of ``D = A*B + C`` that a device supports.

    For each dimension by itself, either ``max_*size`` is positive (every size from 1 to it is
    supported) and ``*size`` is 0, or the other way round (that one size is). ``native`` says whether
    the hardware does it in its own instructions.
    """

    max_msize: int
    max_nsize: int
    max_ksize: int
    msize: int
    nsize: int
    ksize: int
    atype: matrix_type
    btype: matrix_type
    ctype: matrix_type
    dtype: matrix_type
    native: bool = True

    def __post_init__(self) -> None:
        for dimension, (limit, exact) in zip("MNK", self._sizes, strict=True):
            if limit < 0 or exact < 0 or (limit > 0) == (exact > 0):
                raise ValueError(f"{dimension}: exactly one of the maximum ({limit}) and the exact size "
                                 f"({exact}) must be positive")
        for member in ("atype", "btype", "ctype", "dtype"):
            object.__setattr__(self, member, matrix_type(getattr(self, member)))
        if not types_are_consistent(*self.types):
            raise ValueError(f"{self._types_text}: A, B, C and D are either all integers or all floats")
        a, b, c, d = (format_of(name) for name in self.types)
        if a.bits != b.bits:
            raise ValueError(f"{self._types_text}: A and B differ in width")
        if min(c.bits, d.bits) < a.bits:
            raise ValueError(f"{self._types_text}: an accumulator is narrower than the operands")

    @classmethod
    def row(cls, a: str, b: str, c: str, d: str, m: Size, n: Size, k: Size) -> Combination:
        """A row of a table: types and sizes in the order in which the appendix has its columns."""
        (max_m, exact_m), (max_n, exact_n), (max_k, exact_k) = map(_limit_and_exact, (m, n, k))
        return cls(max_m, max_n, max_k, exact_m, exact_n, exact_k, matrix_type(a), matrix_type(b), matrix_type(c),
                   matrix_type(d))

    @property
    def types(self) -> tuple[matrix_type, matrix_type, matrix_type, matrix_type]:
        """The types of A, B, C and D."""
        return (self.atype, self.btype, self.ctype, self.dtype)

    @property
    def largest(self) -> tuple[int, int, int]:
        """The largest M, N and K of the row."""
        return (self.msize or self.max_msize, self.nsize or self.max_nsize, self.ksize or self.max_ksize)

    @property
    def _sizes(self) -> tuple[tuple[int, int], ...]:
        """(limit, exact size) of M, N and K."""
        return ((self.max_msize, self.msize), (self.max_nsize, self.nsize), (self.max_ksize, self.ksize))

    @property
    def _types_text(self) -> str:
        return types_text(*self.types)

    def supports_sizes(self, m: int | None, n: int | None, k: int | None) -> bool:
        """Whether the sizes are among this row's; None stands for any."""
        return all(wanted is None or (wanted == exact if exact else 1 <= wanted <= limit)
                   for wanted, (limit, exact) in zip((m, n, k), self._sizes, strict=True))

    def supports_matrix(self, fmt: str, use: Use, rows: int, columns: int) -> bool:
        """Whether a matrix of this element type, use and shape occurs in this row."""
        return fmt in self.types_of(use) and self.supports_sizes(*_sizes_given_by(use, rows, columns))

    def types_of(self, use: Use) -> tuple[matrix_type, ...]:
        """The element types that a matrix of this use may have."""
        return {"a": (self.atype,), "b": (self.btype,), "accumulator": (self.ctype, self.dtype)}[use]

    def shape_distance(self, m: int | None, n: int | None, k: int | None) -> float:
        """How far the sizes are from this row's nearest ones, in doublings; None stands for any."""
        distance = 0.0
        for wanted, (limit, exact) in zip((m, n, k), self._sizes, strict=True):
            if wanted is not None:
                at_least_one = max(wanted, 1)
                distance += abs(math.log2(at_least_one / (exact or min(at_least_one, limit))))
        return distance

    def __str__(self) -> str:
        sizes = " ".join(f"{dimension}={exact}" if exact else f"{dimension}<={limit}"
                         for dimension, (limit, exact) in zip("MNK", self._sizes, strict=True))
        return f"{self._types_text}, {sizes}"


def _limit_and_exact(size: Size) -> tuple[int, int]:
    return (0, size) if isinstance(size, int) else (size[1], 0)


def _sizes_given_by(use: Use, rows: int, columns: int) -> tuple[int | None, int | None, int | None]:
    """M, N and K as far as a matrix of this use and shape fixes them."""
    return {"a": (rows, None, columns), "b": (None, columns, rows), "accumulator": (rows, columns, None)}[use]


TYPE_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "intel_amx": (("ctype", "dtype"),),
    "intel_xmx": (("ctype", "dtype"),),
    "nvidia": (("atype", "btype"),),
    "amd": (("atype", "btype"), ("ctype", "dtype")),
    "generic": (),
    "host": (),
    "cuda": (),
    "vulkan": (),
    "vulkan_cpu": (),
    "opencl": (),
    "opencl_cpu": (),
}
"""Per family, the members of a combination that must be equal (sycl_ext_oneapi_matrix, appendix)."""

STRIDE_MULTIPLES: dict[str, dict[str, int]] = {"nvidia": {"fp16": 8, "fp32": 4}}
"""Per family and element type of a matrix, what the stride of loads and stores must be a multiple of, in elements
(sycl_ext_oneapi_matrix, appendix "Nvidia Tensor Cores Supported Combinations")."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a work-group may take: ``local_memory`` in bytes, static and given at the launch together, and
    ``work_group`` work-items. ``source`` says who says so."""

    local_memory: int
    work_group: int
    source: str

    def __post_init__(self) -> None:
        if min(self.local_memory, self.work_group) < 1 or not self.source:
            raise ValueError(f"limits are positive and have a source, found {self}")


WORK_GROUP_MULTIPLE = 16
"""What M, N and K of matrices at work-group scope are multiples of, on every device."""

HOST_LIMITS = Limits(64 << 20, 8192, "the host's choice: a CPU's local memory is ordinary memory; work-groups as large "
                     "as those of Intel's CPU runtime for OpenCL (CL_DEVICE_MAX_WORK_GROUP_SIZE)")
"""Of devices that are programs on a CPU."""

Kind = Literal["cpu", "gpu", "none"]
REAL = ("host", "cuda", "vulkan", "vulkan_cpu", "opencl", "opencl_cpu")
"""The families of devices that are here."""
KINDS: dict[str, Kind] = {"intel_amx": "cpu", "intel_xmx": "gpu", "nvidia": "gpu", "amd": "gpu", "generic": "none",
                          "host": "cpu", "cuda": "gpu", "vulkan": "gpu", "vulkan_cpu": "cpu", "opencl": "gpu",
                          "opencl_cpu": "cpu"}
"""Per family, the kind of its devices."""


@dataclass(frozen=True, slots=True)
class DeviceDescription:
    """One architecture: what a kernel may use on it.

    ``sub_group_sizes``: the first is the size where a kernel requires none. ``any_combination``: the
    device has no table and takes every shape and every consistent choice of types.
    ``xmx_sub_group_sizes``: the sub-group sizes for which the device has the built-in functions of
    cl_intel_subgroup_matrix_multiply_accumulate; empty if it is no Intel GPU and does not act as one.
    ``limits``: of its work-groups. ``instructions``: those of its matrix instructions whose fragments are known.
    ``arithmetic``: of its floating-point matrices; none where they are computed exactly and rounded once.
    """

    name: str
    vendor_family: str
    sub_group_sizes: tuple[int, ...]
    combinations: tuple[Combination, ...]
    has_fp64: bool = True
    any_combination: bool = False
    xmx_sub_group_sizes: tuple[int, ...] = ()
    limits: Limits = HOST_LIMITS
    instructions: tuple[Instruction, ...] = field(default=(), repr=False, compare=False)
    arithmetic: tuple[ArithmeticFacts, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.vendor_family not in TYPE_RULES:
            raise ValueError(f"{self.name}: unknown family '{self.vendor_family}'")
        if not self.sub_group_sizes or len(set(self.sub_group_sizes)) != len(self.sub_group_sizes):
            raise ValueError(f"{self.name}: expected distinct sub-group sizes, found {self.sub_group_sizes}")
        if any(size < 1 or size & (size - 1) for size in self.sub_group_sizes):
            raise ValueError(f"{self.name}: sub-group sizes are powers of two, found {self.sub_group_sizes}")
        if not set(self.xmx_sub_group_sizes) <= {*self.sub_group_sizes} & {*XMX_SIZES}:
            raise ValueError(f"{self.name}: no matrix engine works on sub-groups of {self.xmx_sub_group_sizes}")
        if self.kind == "gpu" and self.limits is HOST_LIMITS:
            raise ValueError(f"{self.name}: a GPU has limits of its own")
        if bool(self.combinations) == self.any_combination:
            raise ValueError(f"{self.name}: expected either a table of combinations or none at all")
        if len(set(self.combinations)) != len(self.combinations):
            raise ValueError(f"{self.name}: a combination is listed twice")
        for row in self.combinations:
            self._check_row(row)

    def _check_row(self, row: Combination) -> None:
        for first, second in TYPE_RULES[self.vendor_family]:
            if getattr(row, first) != getattr(row, second):
                raise ValueError(f"{self.name}: {row}: {first} and {second} must be equal")
        if "fp64" in row.types and not self.has_fp64:
            raise ValueError(f"{self.name}: {row}: the device has no fp64")

    @property
    def device_name(self) -> str:
        """What :func:`coopmat.device` calls the device."""
        return f"sim:{self.name}" if self.is_simulated else self.name

    @property
    def is_simulated(self) -> bool:
        """Whether the device is not here, but played by the simulator."""
        return self.vendor_family not in REAL

    @property
    def kind(self) -> Kind:
        """Whether it is a CPU, a GPU, or a model of neither."""
        return KINDS[self.vendor_family]

    @property
    def has_intel_matrices(self) -> bool:
        """Whether the device is one of Intel's, or takes everything that they do (sycl_ext_intel_matrix)."""
        return self.any_combination or self.vendor_family.startswith("intel_")

    def stride_multiple(self, fmt: str) -> int:
        """What the stride of loads and stores of matrices with this element type must be a multiple of, in
        elements; 1 where every stride is possible."""
        return STRIDE_MULTIPLES.get(self.vendor_family, {}).get(fmt, 1)

    @property
    def extensions(self) -> tuple[str, ...]:
        """The OpenCL C feature and extension macros that this device defines."""
        return feature_macros(self.has_fp64, self.xmx_sub_group_sizes)

    def supports(self, a: str, b: str, c: str, d: str, m: int, n: int, k: int) -> bool:
        """Whether ``D = A*B + C`` with these types is supported, A being m x k and B k x n."""
        if self.any_combination:
            return min(m, n, k) >= 1 and types_are_consistent(a, b, c, d)
        return any(row.types == (a, b, c, d) and row.supports_sizes(m, n, k) for row in self.combinations)

    def supports_matrix(self, fmt: str, use: Use, rows: int, columns: int) -> bool:
        """Whether a matrix of this element type, use and shape is part of any supported combination."""
        format_of(fmt)
        if use not in USES:
            raise Error(f"unknown matrix use {value_text(use)} (known: {', '.join(USES)})")
        if self.any_combination:
            return min(rows, columns) >= 1
        return any(row.supports_matrix(fmt, use, rows, columns) for row in self.combinations)

    def nearest(self, a: str, b: str, c: str, d: str, m: int | None, n: int | None, k: int | None,
                limit: int = 3) -> list[Combination]:
        """The ``limit`` combinations most like the one asked for: the same types first, those of A and B before those
        of the accumulators, then the shape."""
        wanted = (a, b, c, d)

        def distance(row: Combination) -> tuple[int, int, float]:
            different = [have != want for have, want in zip(row.types, wanted, strict=True)]
            return sum(different[:2]), sum(different[2:]), row.shape_distance(m, n, k)

        return sorted(self.combinations, key=distance)[:limit]

    def require(self, a: str, b: str, c: str, d: str, m: int, n: int, k: int) -> None:
        """Raise :class:`KernelNotSupported`, naming the nearest supported combinations, unless supported."""
        if not self.supports(a, b, c, d, m, n, k):
            raise KernelNotSupported(self.unsupported(a, b, c, d, m, n, k))

    def unsupported(self, a: str, b: str, c: str, d: str,
                    m: int | None = None, n: int | None = None, k: int | None = None) -> str:
        """The message that a combination, of these types and sizes or of these types, is not supported: it
        names the nearest supported ones."""
        sizes = "" if m is None else f", M={m} N={n} K={k}"
        return (f"{self.name} does not support the matrix multiply-accumulate {types_text(a, b, c, d)}{sizes}; "
                f"{self._alternatives(self.nearest(a, b, c, d, m, n, k))}")

    def require_matrix(self, fmt: str, use: Use, rows: int, columns: int) -> None:
        """Raise :class:`KernelNotSupported`, naming the nearest combinations, unless supported."""
        if not self.supports_matrix(fmt, use, rows, columns):
            raise KernelNotSupported(self.unsupported_matrix(fmt, use, rows, columns, fmt))

    def unsupported_matrix(self, fmt: str, use: Use, rows: int, columns: int, shown: str) -> str:
        """The message that a matrix is not supported, whose element type it calls ``shown``: it names the nearest
        supported combinations."""
        return (f"{self.name} does not support a {rows}x{columns} {shown} matrix with use '{use}'; "
                f"{self._alternatives(self._nearest_to_matrix(fmt, use, rows, columns))}")

    def _nearest_to_matrix(self, fmt: str, use: Use, rows: int, columns: int,
                           limit: int = 3) -> list[Combination]:
        def distance(row: Combination) -> tuple[bool, bool, float]:
            shape = row.shape_distance(*_sizes_given_by(use, rows, columns))
            return fmt not in row.types_of(use), fmt not in row.types, shape

        return sorted(self.combinations, key=distance)[:limit]

    def require_of_work_group(self, a: str, b: str, c: str, d: str, m: int, n: int, k: int) -> None:
        """The same of a multiply-accumulate at work-group scope: of any types in the table, and of any sizes that are
        multiples of 16, which compilers cut into the sizes of the table."""
        shown = f"the matrix multiply-accumulate {types_text(a, b, c, d)}, M={m} N={n} K={k}"
        is_known = types_are_consistent(a, b, c, d) if self.any_combination else (a, b, c, d) in self._types
        self._require_of_work_group(shown, is_known, [types_text(*row) for row in self._types], m, n, k)

    def require_matrix_of_work_group(self, fmt: str, use: Use, rows: int, columns: int) -> None:
        """The same of a matrix at work-group scope. An accumulator may have the types of A and B, too: results are
        converted to them."""
        known = [*dict.fromkeys(name for row in self.combinations
                                for name in (row.types if use == "accumulator" else row.types_of(use)))]
        self._require_of_work_group(f"a {rows}x{columns} {fmt} matrix with use '{use}'",
                                    self.any_combination or fmt in known, known, rows, columns)

    @property
    def _types(self) -> list[tuple[str, str, str, str]]:
        """The types of the combinations, each once."""
        return [*dict.fromkeys(row.types for row in self.combinations)]

    def _require_of_work_group(self, shown: str, is_known: bool, known: Sequence[str], *sizes: int) -> None:
        if any(size < 1 or size % WORK_GROUP_MULTIPLE for size in sizes):
            raise KernelNotSupported(f"{self.name} does not support {shown} at work-group scope; there it takes sizes "
                                     f"that are multiples of {WORK_GROUP_MULTIPLE}")
        if not is_known:
            works = "types that are all integers or all floats" if self.any_combination else ", ".join(known)
            raise KernelNotSupported(f"{self.name} does not support {shown} at work-group scope; there it takes "
                                     f"{works}, in sizes that are multiples of {WORK_GROUP_MULTIPLE}")

    def _alternatives(self, rows: Sequence[Combination]) -> str:
        if self.any_combination:
            return "it takes every size from 1 on, with types that are all integers or all floats"
        return "nearest supported: " + "; ".join(str(row) for row in rows)
