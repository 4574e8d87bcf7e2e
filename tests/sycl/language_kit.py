"""What the tests of the kernel language share: a kernel's results, one for each work-item."""

from __future__ import annotations

import numpy as np

from tests.sycl.device_kit import launch

COUNT = 16


def results(k, *arguments, dtype=np.int32) -> list:
    """What a kernel stores in its last parameter, an array with an element for each work-item."""
    found = np.zeros(COUNT, dtype)
    launch(k, COUNT, COUNT, *arguments, found)
    return found.tolist()
