"""What the tests of the kernel language share: a kernel's results, one for each work-item, and its error."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import coopmat as cm
from tests.kit.sycl.launches import launch

COUNT = 16


def results(k, *arguments, dtype=np.int32) -> list:
    """What a kernel stores in its last parameter, an array with an element for each work-item."""
    found = np.zeros(COUNT, dtype)
    launch(k, COUNT, COUNT, *arguments, found)
    return found.tolist()


def error_of(kernel) -> tuple[str, str, str]:
    """The only error of a kernel: code, message, and its line from the place on that it points to."""
    with pytest.raises(cm.CompileError) as caught:
        cm.build(kernel)
    (found,) = (diagnostic for diagnostic in caught.value.diagnostics if diagnostic.severity == "error")
    place = found.location
    line = linecache.getline(kernel.function.__code__.co_filename, place.line)
    return found.code, found.message, line[place.column - 1:].strip()
