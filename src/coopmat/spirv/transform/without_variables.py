"""The form of a module in which it is seen what its matrices are: values instead of variables, and no calls."""

from __future__ import annotations

from coopmat.spirv.module import Module
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.unroll import unroll
from coopmat.spirv.transform.values import values

PASSES = (inline, values, fold)


def with_values(module: Module) -> Module:
    """Values instead of variables, arrays of matrices included, and no calls."""
    for one in PASSES:
        module = one(module, Goal(), _unheard)
    unrolled = unroll(module, Goal(), _unheard)
    for one in (fold, values, fold) if unrolled is not module else ():
        unrolled = one(unrolled, Goal(), _unheard)
    return unrolled


def _unheard(text: str) -> None:
    """What passes tell is not asked for here."""
