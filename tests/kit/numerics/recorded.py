"""What an H200 was seen to do, recorded by the programs in benchmarks/hardware."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.kit.paths import ROOT

_FOLDER = ROOT / "benchmarks" / "hardware" / "results"


@cache
def recorded_products() -> dict[str, np.ndarray]:
    """Bits of D by the key of tensor_cores.py: mma.sync and wgmma."""
    return _arrays("nvidia_h200.npz")


@cache
def recorded_wmma() -> dict[str, np.ndarray]:
    """Numbers of elements and bits of D by the keys of wmma_fragments.py."""
    return _arrays("nvidia_h200_wmma.npz")


def _arrays(name: str) -> dict[str, np.ndarray]:
    with np.load(_FOLDER / name) as results:
        return dict(results)
