"""Random kernels compute the same bits on the CPU and in the simulator, with every level of the processor's features.

The long form runs more than 2,000 programs for each level; otherwise a few are run, at one level for each seed by
turns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.validation import validate_module  # noqa: F401
from coopmat.targets.cpu.features import VARIABLE
from tests.fuzz import kernels_for_targets, random_graphs, targets

LEVELS = ("avx512", "avx2", "baseline")
BATCH = 8
SEEDS, LLVM_SEEDS, GRAPH_SEEDS = range(0, 24), range(24, 32), range(0, 24)
LONG_SEEDS, LONG_LLVM_SEEDS, LONG_GRAPH_SEEDS = range(1000, 2600), range(3000, 3400), range(1000, 2000)
