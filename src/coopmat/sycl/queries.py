"""matrix_params: the sizes and the joint_matrix types of an architecture (section "Compile-Time Query")."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.devices import Combination, DeviceDescription, describe
from coopmat.diagnostics import Error, value_text
from coopmat.runtime.device import Device
from coopmat.runtime.element_types import ElementType, element_type
from coopmat.runtime.information import architecture_of
from coopmat.sycl import constraints
from coopmat.sycl.constraints import BrokenConstraint
from coopmat.sycl.enumerations import use
from coopmat.sycl.joint_matrices import ELEMENT_TYPES, JointMatrixType, joint_matrix_type, shown


@dataclass(frozen=True, slots=True)
class JointMatrixAlias:
    """``joint_matrix_a`` and its like: a joint_matrix type that lacks the Group and, for A and B, the Layout.

    ``params.joint_matrix_a(sub_group, layout.row_major)``, or with square brackets, is the type.
    """

    element: ElementType
    use: use
    rows: int
    columns: int

    def __call__(self, Group: Any, Layout: Any = None) -> JointMatrixType:
        """The type. Raises BrokenConstraint for a Group or Layout that the extension does not allow."""
        return joint_matrix_type(Group, self.element, self.use, self.rows, self.columns, Layout)

    def __getitem__(self, arguments: Any) -> JointMatrixType:
        given = arguments if isinstance(arguments, tuple) else (arguments,)
        if not 1 <= len(given) <= 2:
            raise Error("a matrix of matrix_params takes a Group and, for A and B, a Layout, such as "
                        f"[sub_group, layout.row_major]; found {value_text(arguments)}")
        return self(*given)

    def __repr__(self) -> str:
        layout = "" if self.use is use.accumulator else ", Layout"
        return f"joint_matrix[Group, {self.element}, {self.use}, {self.rows}, {self.columns}{layout}]"


@dataclass(frozen=True, init=False, slots=True)
class matrix_params:
    """The sizes of a multiply-accumulate ``D = A*B + C`` on an architecture, and the types of its matrices.

    ``matrix_params(architecture.intel_gpu_pvc, int8, int8, int32, int32, 8, 16, 32)`` validates types and sizes;
    without the sizes, ``M``, ``N`` and ``K`` are those of the supported shape with the largest M·N·K (of several,
    the first in the table). ``Td`` is ``Tc`` where it is not given. The architecture may be given by its name, or by a
    device, of which there need be no table: then the default is the largest shape that it has for the types, else the
    first that it takes. Types may also be numpy's or ml_dtypes'; the template arguments may stand in square brackets.

    Raises BrokenConstraint, naming the nearest supported combinations, where C++ has a static_assert.
    """

    architecture: Any
    Ta: ElementType
    Tb: ElementType
    Tc: ElementType
    Td: ElementType
    M: int
    N: int
    K: int

    def __init__(self, Arch: Any, Ta: Any, Tb: Any, Tc: Any, Td: Any = None, M: Any = 0, N: Any = 0,
                 K: Any = 0) -> None:
        device = Arch.description if isinstance(Arch, Device) else _description(Arch)
        given = {"Ta": Ta, "Tb": Tb, "Tc": Tc, "Td": Tc if Td is None else Td}
        types = {argument: _element(argument, value) for argument, value in given.items()}
        names = _names(*types.values())
        sizes = _sizes(M, N, K)
        if sizes is None:
            sizes = _default_sizes(device, Arch.matrix_combinations if isinstance(Arch, Device) else (), names)
        elif not device.supports(*names, *sizes):
            raise BrokenConstraint(constraints.PARAMS_UNSUPPORTED, reason=device.unsupported(*names, *sizes))
        members = {"architecture": architecture_of(device.name), **types, **dict(zip("MNK", sizes, strict=True))}
        for name, value in members.items():
            object.__setattr__(self, name, value)

    def __class_getitem__(cls, arguments: Any) -> matrix_params:
        given = arguments if isinstance(arguments, tuple) else (arguments,)
        if not 4 <= len(given) <= 8:
            raise Error("matrix_params takes an architecture, three or four types and no or three sizes, such as "
                        f"[architecture.intel_gpu_pvc, int8, int8, int32]; found {value_text(arguments)}")
        return cls(*given)

    @property
    def joint_matrix_a(self) -> JointMatrixAlias:
        """The type of A, M x K: takes a Group and a Layout."""
        return JointMatrixAlias(self.Ta, use.a, self.M, self.K)

    @property
    def joint_matrix_b(self) -> JointMatrixAlias:
        """The type of B, K x N: takes a Group and a Layout."""
        return JointMatrixAlias(self.Tb, use.b, self.K, self.N)

    @property
    def joint_matrix_c(self) -> JointMatrixAlias:
        """The type of C, M x N: takes a Group."""
        return JointMatrixAlias(self.Tc, use.accumulator, self.M, self.N)

    @property
    def joint_matrix_d(self) -> JointMatrixAlias:
        """The type of D, M x N: takes a Group."""
        return JointMatrixAlias(self.Td, use.accumulator, self.M, self.N)

    def __repr__(self) -> str:
        return (f"matrix_params({self.architecture!r}, {self.Ta}, {self.Tb}, {self.Tc}, {self.Td}, "
                f"{self.M}, {self.N}, {self.K})")


def _description(given: Any) -> DeviceDescription:
    """The architecture, a member of ``architecture`` or a name."""
    if not isinstance(given, str):
        reason = ("the architecture must be a member of architecture, such as architecture.intel_gpu_pvc; "
                  f"found {shown(given)}")
        raise BrokenConstraint(constraints.PARAMS_ARCHITECTURE, reason=reason)
    try:
        return describe(given)
    except Error as error:
        raise BrokenConstraint(constraints.PARAMS_ARCHITECTURE, reason=error) from None


def _element(argument: str, given: Any) -> ElementType:
    found = element_type(given)
    if found is None or found.format is None:
        raise BrokenConstraint(constraints.PARAMS_TYPE, argument=argument, found=shown(given),
                               expected=", ".join(map(str, ELEMENT_TYPES)))
    return found


def _names(a: ElementType, b: ElementType, c: ElementType, d: ElementType) -> tuple[str, str, str, str]:
    """The types as the device tables name them."""
    return str(a.format), str(b.format), str(c.format), str(d.format)


def _sizes(*given: Any) -> tuple[int, int, int] | None:
    """M, N and K; None if they are all left out (or 0, as C++ has it)."""
    values = [_size(dimension, value) for dimension, value in zip("MNK", given, strict=True)]
    if not any(values):
        return None
    if not all(values):
        named = ", ".join(f"{dimension}={value}" for dimension, value in zip("MNK", values, strict=True) if value)
        raise BrokenConstraint(constraints.PARAMS_SOME_SIZES, found=f"{named} only")
    return values[0], values[1], values[2]


def _size(dimension: str, given: Any) -> int:
    try:
        value = operator.index(given)
    except TypeError:
        value = -1
    if isinstance(given, bool) or value < 0:
        raise BrokenConstraint(constraints.PARAMS_SIZE, dimension=dimension, found=shown(given))
    return value


def _default_sizes(device: DeviceDescription, others: Sequence[Combination],
                   types: tuple[str, str, str, str]) -> tuple[int, int, int]:
    """The supported shape with the largest M·N·K for these types. ``others``: what a device takes that takes
    everything, what it has itself first."""
    rows = [row for row in (others if device.any_combination else device.combinations) if row.types == types]
    if not rows and device.any_combination:
        raise BrokenConstraint(constraints.PARAMS_NO_DEFAULT, architecture=device.name)
    if not rows:
        raise BrokenConstraint(constraints.PARAMS_UNSUPPORTED, reason=device.unsupported(*types))
    native = [row.largest for row in rows if row.native]
    return max(native, key=lambda shape: shape[0] * shape[1] * shape[2]) if native else rows[0].largest
