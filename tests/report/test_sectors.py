"""Sectors and passes through banks, against sets of bytes and of words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.report.sectors import covered, passes, tile_passes

STARTS = st.lists(st.integers(0, 300), min_size=1, max_size=12)
SIZES = st.sampled_from([1, 2, 4, 8, 16, 64])


@settings(max_examples=150, derandomize=True)
@given(STARTS, SIZES, st.sampled_from([1, 4, 32]))
def test_units_that_are_touched(starts: list[int], nbytes: int, unit: int) -> None:
    touched = {byte // unit for start in starts for byte in range(start, start + nbytes)}
    assert covered(np.sort(np.array(starts))[None], nbytes, unit).tolist() == [len(touched)]


@settings(max_examples=150, derandomize=True)
@given(STARTS, SIZES, st.sampled_from([2, 16, 32]))
def test_passes(starts: list[int], nbytes: int, banks: int) -> None:
    starts = [start // nbytes * nbytes for start in starts]
    words = {byte // 4 for start in starts for byte in range(start, start + nbytes)}
    wanted = max(sum(word % banks == bank for word in words) for bank in range(banks))
    taken, least = passes(np.sort(np.array(starts))[None], nbytes, banks)
    assert (taken.tolist(), least.tolist()) == ([wanted], [-(-len(words) // banks)])


@pytest.mark.parametrize(("stride", "wanted"), [(32, 4), (128, 32), (144, 4), (160, 8)])
def test_a_tile_of_16_rows_of_32_bytes(stride: int, wanted: int) -> None:
    """A pass of 32 banks takes eight pieces of 16 bytes. Rows that lie 128 bytes apart are all in the same banks; with
    16 bytes more none of eight are, with 32 more each two."""
    places = (np.arange(16)[:, None] * stride + np.arange(16) * 2).reshape(-1)
    taken, least = tile_passes(places, 2, 32)
    assert (int(taken.sum()), int(least.sum())) == (wanted, 4)
