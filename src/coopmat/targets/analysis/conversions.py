"""How conversion instructions round, saturate and transpose: what decorates their results."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.formats import Rounding
from coopmat.spirv.grammar import Decoration, FPRoundingMode
from coopmat.spirv.module import Module

ROUNDINGS: dict[int, Rounding] = {FPRoundingMode.RTE: "rte", FPRoundingMode.RTZ: "rtz",
                                  FPRoundingMode.RTP: "rtp", FPRoundingMode.RTN: "rtn"}


def rounding_named(mode: int) -> Rounding:
    """The rounding mode of a literal. Error for one that is not known."""
    if mode not in ROUNDINGS:
        raise Error(f"the rounding mode {mode} is not known")
    return ROUNDINGS[mode]


def rounding_of(module: Module, identifier: int, default: Rounding) -> Rounding:
    """The rounding mode that decorates a result."""
    mode = module.rounding_mode(identifier)
    return default if mode is None else rounding_named(mode)


def is_saturated(module: Module, identifier: int) -> bool:
    """Whether a result is decorated as saturating."""
    return any(decoration == Decoration.SaturatedConversion for decoration, _ in module.decorations(identifier))


def is_transposed(module: Module, identifier: int) -> bool:
    """Whether a result, a matrix, is decorated as transposed (SPV_EXT_cooperative_matrix_maintenance1)."""
    wanted = Decoration.CooperativeMatrixTransposeEXT
    return any(decoration == wanted for decoration, _ in module.decorations(identifier))
