"""Arrays of a launch on the GPU, against a driver that is a dictionary."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.diagnostics import LaunchError
from coopmat.targets.cuda.host import memory
from coopmat.targets.cuda.host.memory import ALIGNMENT, MOST_KEPT, SMALLEST, Blocks, Copies


class FakeDriver:
    """Memory of a GPU in the host's. most: bytes that there are."""

    def __init__(self, most: int = 1 << 40) -> None:
        self.most = most
        self.blocks: dict[int, bytearray] = {}
        self.sizes: dict[int, int] = {}
        self.calls: list[str] = []

    def call(self, name: str, *arguments: int, what: str = "", **more: object) -> int | None:
        self.calls.append(name)
        return getattr(self, name)(*arguments, what=what)

    def cuMemAlloc(self, nbytes: int, what: str) -> int:
        if sum(self.sizes.values()) + nbytes > self.most:
            raise LaunchError(f"{what}: CUDA_ERROR_OUT_OF_MEMORY")
        address = 0x7000_0000_0000 + (len(self.calls) << 32)
        self.sizes[address] = nbytes
        if nbytes < 1 << 20:
            self.blocks[address] = bytearray(b"\xee" * nbytes)
        return address

    def cuMemFree(self, address: int, what: str) -> None:
        del self.sizes[address]
        self.blocks.pop(address, None)

    def _place(self, address: int, nbytes: int) -> tuple[bytearray, int]:
        start = max(one for one in self.blocks if one <= address)
        assert address + nbytes <= start + self.sizes[start], "outside of the block"
        return self.blocks[start], address - start

    def cuMemcpyHtoDAsync(self, target: int, source: int, nbytes: int, stream: int, what: str) -> None:
        block, offset = self._place(target, nbytes)
        block[offset:offset + nbytes] = ctypes.string_at(source, nbytes)

    def cuMemcpyDtoHAsync(self, target: int, source: int, nbytes: int, stream: int, what: str) -> None:
        block, offset = self._place(source, nbytes)
        ctypes.memmove(target, bytes(block[offset:offset + nbytes]), nbytes)

    def cuStreamSynchronize(self, stream: int, what: str) -> None:
        """Everything is done when it is submitted."""

    def bytes_at(self, address: int, nbytes: int) -> np.ndarray:
        """What a kernel would see, to be written to."""
        block, offset = self._place(address, nbytes)
        return np.frombuffer(block, np.uint8)[offset:offset + nbytes]


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    made = FakeDriver()
    monkeypatch.setattr(memory, "call", made.call)
    return made


def blocks() -> Blocks:
    return Blocks(None)  # type: ignore[arg-type]  # the context is of no use to it


# ------------------------------------------------------------------ arrays


def test_there_and_back(driver: FakeDriver) -> None:
    """What is only read does not come back."""
    read, written = np.arange(10, dtype=np.int32), np.zeros(5, np.float64)
    copies = Copies(blocks(), [(read, False), (written, True)])
    assert driver.bytes_at(copies.address(read), read.nbytes).tobytes() == read.tobytes()
    driver.bytes_at(copies.address(read), 4)[:] = 7
    driver.bytes_at(copies.address(written), written.nbytes)[:] = np.full(5, 2.5).view(np.uint8)
    copies.bring_back()
    np.testing.assert_array_equal(read, np.arange(10))
    np.testing.assert_array_equal(written, np.full(5, 2.5))


def test_arrays_that_overlap_stay_so(driver: FakeDriver) -> None:
    """Parts of one array have one copy, as far apart as they are here; it comes back if one of them is written."""
    whole = np.arange(100, dtype=np.uint8)
    left, right, inner = whole[:60], whole[40:], whole[50:55]
    copies = Copies(blocks(), [(right, True), (left, False), (inner, False)])
    assert len(copies.spans.all) == 1
    assert [copies.address(one) - copies.address(left) for one in (left, right, inner)] == [0, 40, 50]
    driver.bytes_at(copies.address(right), 60)[:] = 9
    assert (driver.bytes_at(copies.address(inner), 5) == 9).all()
    copies.bring_back()
    np.testing.assert_array_equal(whole, [*range(40), *[9] * 60])


def test_the_same_array_twice(driver: FakeDriver) -> None:
    array = np.arange(4, dtype=np.int16)
    copies = Copies(blocks(), [(array, False), (array, True)])
    assert len(copies.spans.all) == 1
    assert copies.spans.all[0].written
    assert driver.calls.count("cuMemcpyHtoDAsync") == 1


def test_neighbours_do_not_overlap(driver: FakeDriver) -> None:
    """Each is aligned as blocks are."""
    whole = np.arange(64, dtype=np.uint8)
    copies = Copies(blocks(), [(whole[:24], True), (whole[24:], False)])
    assert len(copies.spans.all) == 2
    assert not any(copies.address(one) % ALIGNMENT for one in (whole[:24], whole[24:]))


def test_nothing_in_it(driver: FakeDriver) -> None:
    """An array without elements has an address, and needs no memory."""
    empty = np.zeros((0, 3), np.float32)
    copies = Copies(blocks(), [(empty, True)])
    assert copies.address(empty)
    copies.bring_back()
    copies.free()
    assert driver.calls == []


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60), st.booleans()), min_size=1, max_size=6))
def test_any_parts_of_an_array(parts: list[tuple[int, int, bool]]) -> None:
    """A kernel that adds 1 to the bytes of each part that it may write to does so here."""
    made, whole = FakeDriver(), np.arange(260, dtype=np.uint8)
    expected = whole.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "call", made.call)
        arrays = [(whole[start:start + size], written) for start, size, written in parts]
        copies = Copies(blocks(), arrays)
        for (start, size, written), (array, _) in zip(parts, arrays, strict=True):
            if size:
                seen = made.bytes_at(copies.address(array), size)
                np.testing.assert_array_equal(seen, expected[start:start + size])
                if written:
                    seen += 1
                    expected[start:start + size] += 1
        copies.bring_back()
        copies.free()
    np.testing.assert_array_equal(whole, expected)


# ------------------------------------------------------------------ blocks


def test_blocks_serve_again(driver: FakeDriver) -> None:
    found = blocks()
    address, size = found.take(1000)
    assert size >= 1000
    found.give_back(address, size)
    assert found.take(size) == (address, size)
    assert driver.calls == ["cuMemAlloc"]
    assert found.take(1) != (address, size)


@pytest.mark.parametrize("nbytes", [1, SMALLEST, SMALLEST + 1, 4096, 5000, 1 << 20, (1 << 20) + 1, 123_456_789])
def test_sizes_of_blocks(driver: FakeDriver, nbytes: int) -> None:
    """A little more than is asked for, at multiples of the alignment."""
    _, size = blocks().take(nbytes)
    assert nbytes <= size <= max(SMALLEST, 1.26 * nbytes + 256)
    assert size % ALIGNMENT == 0


def test_free_blocks_make_room(driver: FakeDriver) -> None:
    """What is kept is let go before a launch fails."""
    driver.most = 1 << 16
    found = blocks()
    found.give_back(*found.take(40_000))
    address, _ = found.take(50_000)
    assert driver.calls == ["cuMemAlloc", "cuMemAlloc", "cuMemFree", "cuMemAlloc"]
    assert [*driver.sizes] == [address]
    with pytest.raises(LaunchError, match=r"\d+ bytes of the GPU's memory: CUDA_ERROR_OUT_OF_MEMORY"):
        found.take(40_000)


def test_not_everything_is_kept(driver: FakeDriver) -> None:
    found = blocks()
    taken = [found.take(MOST_KEPT // 2) for _ in range(3)]
    for one in taken:
        found.give_back(*one)
    assert len(driver.sizes) == 2
    found.clear()
    assert driver.sizes == {}
