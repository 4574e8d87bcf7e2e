"""Arrays of a launch as spans of memory: what overlaps is one, and stays so in a copy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from coopmat.targets.base.spans import ALIGNMENT, Spans, as_in


def test_arrays_that_overlap_are_one_span() -> None:
    memory = np.arange(64, dtype=np.int32)
    other = np.arange(8.0)
    arguments = [memory[:24], b"value", memory[16:40], other, memory[40:], np.zeros(0, np.int8), memory[16:40]]
    spans = Spans.of(arguments, {2, 4})
    assert sorted((sorted(span.arrays), span.nbytes, span.written) for span in spans.all) == [
        ([0, 2, 6], 160, True), ([3], 64, False), ([4], 96, True)]
    assert spans.place(arguments[5]) is None
    for place in (0, 2, 3, 4, 6):
        array = arguments[place]
        found = spans.place(array)
        assert found is not None
        span, offset = found
        copy = span.duplicate()
        assert (copy.ctypes.data - span.start) % ALIGNMENT == 0
        np.testing.assert_array_equal(as_in(copy, offset, array), array)
        as_in(copy, offset, array)[...] = -1
        assert (array != -1).all()
        assert not span.duplicate(is_zero=True).any()


def test_random_arrays() -> None:
    """Every array lies in one span, and spans have no byte in common."""
    rng = np.random.default_rng(5)
    memory = np.arange(256, dtype=np.uint8)
    for _ in range(50):
        starts = rng.integers(0, 250, 6)
        arrays = [memory[start:start + int(rng.integers(0, 40))] for start in starts]
        spans = Spans([(one, False) for one in arrays])
        seen = sorted((span.start, span.end) for span in spans.all)
        assert all(end <= start for (_, end), (start, _) in pairwise(seen))
        for array in arrays:
            found = spans.place(array)
            if found is not None:
                span, offset = found
                np.testing.assert_array_equal(span.content[offset:offset + array.nbytes], array)
            else:
                assert not array.size
