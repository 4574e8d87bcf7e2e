"""The memory of a running batch: buffers, addresses, checked gather and scatter.

An address is an ``int64``: ``buffer number << 44 | 1 << 43``, plus the byte offset. The bias in the
middle lets an offset be negative without reaching another buffer, so that an access before the
start of a buffer is still reported as an access to that buffer; an index that would lead even farther
away leads to an address at FARTHEST from the buffer (see ``AddressSpace.displaced``). Address 0 is the null pointer.
Local and private memory hold one instance per work-group or lane; an address in them carries the
offset only, and means the accessing lane's own instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from coopmat.diagnostics import Misaligned, OutOfBounds, SimulationError
from coopmat.spirv.analysis.types import ArrayType, MatrixType, StructType, Type, round_up
from coopmat.support.allocator import zeros
from coopmat.targets.base import out_of_bounds as say
from coopmat.targets.simulator.state import Frame, Mask, Site
from coopmat.targets.simulator.values import Array, Value, from_slices, members_of, slices_of

OFFSET_BITS = 44
BIAS = 1 << OFFSET_BITS - 1
FARTHEST = 1 << OFFSET_BITS - 3  # bytes from the start of a buffer that a displaced address may be
UNCHECKED = 1 << 32  # bytes: a displacement up to this cannot leave the addresses of a buffer
FAR_APART = 1 << 20  # bytes between the ends of two addresses that were too far away
MOST_FAR = 1 << 10  # so many of them are told from one another
INSTANCE_ALIGNMENT = 128  # the largest alignment of a type: 16 components of 8 bytes


class Extent(Enum):
    """What has its own instance of a buffer."""

    LAUNCH = "launch"
    GROUP = "work-group"
    LANE = "work-item"


@dataclass(frozen=True)
class BufferRow:
    """What is known of a buffer before a launch: a variable of the module, or a local argument."""

    name: str
    nbytes: int
    extent: Extent
    storage: int
    writable: bool = True
    initial: Array | None = None  # bytes

    @property
    def stride(self) -> int:
        """Bytes from one instance to the next."""
        return round_up(self.nbytes, INSTANCE_ALIGNMENT)


@dataclass
class Buffer:
    """A buffer of the running batch: all its instances in one array of bytes. ``watched`` is what the address space's
    watch knows of it."""

    row: BufferRow
    memory: Array
    instances: Array | None  # byte offset of each lane's instance, [S, 1] or [S, L]
    watched: Any = None
    _views: dict[Any, Array] = field(default_factory=dict)

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The memory as elements of ``dtype``; bytes past the last whole element are left out."""
        view = self._views.get(dtype)
        if view is None:
            whole = len(self.memory) // dtype.itemsize * dtype.itemsize
            view = self._views[dtype] = self.memory[:whole].view(dtype)
        return view


class Part(NamedTuple):
    """The lanes of one access that go to one buffer.

    ``positions`` holds the place in ``view``, in elements, and has the shape of the address; where
    the addresses are not multiples of the element's size ``view`` has bytes and ``width`` is that size.
    """

    buffer: Buffer
    view: Array
    positions: Array
    mask: Mask
    width: int


def address_of(number: int, offset: int = 0) -> int:
    """The address of a byte in a buffer."""
    return (number << OFFSET_BITS) + BIAS + offset


class AccessWatch(Protocol):
    """What is told of every access but those of matrices and atomics, which tell it themselves."""

    def added(self, buffer: Buffer) -> None:
        """There is another buffer."""

    def read(self, frame: Frame, part: Part, nbytes: int, size: int, site: Site) -> None:
        """A load of ``nbytes`` in each lane, of elements of ``size`` bytes."""

    def write(self, frame: Frame, part: Part, value: Array, store: Callable[[], None], site: Site) -> None:
        """A store of ``[S, L, count]``; ``store`` makes it."""


class AddressSpace:
    """All buffers of a batch; buffer numbers count from 1."""

    def __init__(self, sub_groups: int, lanes: int, sub_groups_per_group: int,
                 watches: Sequence[AccessWatch] = ()) -> None:
        self._watches = watches
        self._buffers: list[Buffer] = []
        self._far: dict[int, int] = {}  # the end of an address that was too far away: its offset
        self._groups = (np.arange(sub_groups) // sub_groups_per_group)[:, None]
        self._lanes = np.arange(sub_groups * lanes).reshape(sub_groups, lanes)

    def add(self, row: BufferRow, memory: Array | None = None) -> int:
        """Add a buffer; without ``memory`` fresh instances are allocated. Returns its address."""
        instances = None
        if row.extent is not Extent.LAUNCH:
            owners = self._groups if row.extent is Extent.GROUP else self._lanes
            instances = owners * row.stride
            memory = zeros((int(owners[-1, -1]) + 1) * row.stride, np.uint8)
            if row.initial is not None:
                memory.reshape(-1, max(row.stride, 1))[:, : len(row.initial)] = row.initial
        elif memory is None:
            memory = zeros(row.nbytes, np.uint8) if row.initial is None else row.initial
        assert memory is not None
        self._buffers.append(Buffer(row, memory, instances))
        for watch in self._watches:
            watch.added(self._buffers[-1])
        return address_of(len(self._buffers))

    @property
    def unwatched(self) -> AddressSpace:
        """The same memory, for those who look at it: nothing is told of their accesses."""
        found = copy(self)
        found._watches = ()
        return found

    @property
    def rows(self) -> list[BufferRow]:
        """What is known of each buffer, in the order of their numbers."""
        return [buffer.row for buffer in self._buffers]

    @property
    def contents(self) -> list[Array]:
        """The bytes of each buffer, of all its instances."""
        return [buffer.memory for buffer in self._buffers]

    def storage_of(self, address: Array) -> Array:
        """The storage class that each address lies in, -1 for none."""
        table = np.full(len(self._buffers) + 2, -1)
        table[1:-1] = [buffer.row.storage for buffer in self._buffers]
        return table[np.clip(address >> OFFSET_BITS, 0, len(table) - 1)]

    def buffer_at(self, address: int) -> Buffer | None:
        """The buffer that an address, in bounds or not, belongs to."""
        number = address >> OFFSET_BITS
        return self._buffers[number - 1] if 0 < number <= len(self._buffers) else None

    def offset_in(self, address: int) -> int:
        """The byte offset that an address has in its buffer."""
        end = (address + FAR_APART // 2) & -FAR_APART
        return self._far[end] + address - end if end in self._far else address - int(_start_of(np.int64(address)))

    def describe(self, address: int, size: int) -> str:
        """An address as messages show it: the buffer, and the element of ``size`` bytes."""
        buffer = self.buffer_at(address)
        if buffer is None:
            return self._no_buffer(address)
        element, rest = divmod(self.offset_in(address), max(size, 1))
        return f"element {element} of {buffer.row.name}" + (f", byte {rest} in it" if rest else "")

    def _no_buffer(self, address: int) -> str:
        """An address that is in no buffer, as messages show it."""
        return say.no_buffer(address, BIAS, self.offset_in(address) if 0 < abs(address) < BIAS else None)

    # --- pointer arithmetic -----------------------------------------------------------

    def displaced(self, frame: Frame, address: Array, terms: Sequence[tuple[Array, int]], offset: int = 0) -> Array:
        """``address`` plus ``offset`` plus the sum of index times stride over ``terms``, in bytes.

        Wherever that leads, the result is no address of another buffer.
        """
        result = address + offset if offset else address
        for index, stride in terms:
            if _largest(index) * stride > UNCHECKED:
                return self._displaced_far(frame, address, terms, offset)
            result = result + index.astype(np.int64) * stride
        return result

    def _displaced_far(self, frame: Frame, address: Array, terms: Sequence[tuple[Array, int]],
                       offset: int) -> Array:
        """As ``displaced``, where indices are large: too far from its buffer a lane's address ends at FARTHEST.

        Of the first such lane the offset that it should have had is kept, for the message of an access.
        """
        start = _start_of(address)
        near, distance = address + offset, (address - start + offset).astype(np.float64)
        for index, stride in terms:
            near = near + index.astype(np.int64) * stride
            distance = distance + index.astype(np.float64) * stride
        far = np.abs(distance) > FARTHEST
        end = FARTHEST + len(self._far) % MOST_FAR * FAR_APART
        result = np.where(far, start + np.where(distance < 0, -end, end), near)
        lanes = frame.mask.expanded & far
        if lanes.any():
            place = first_of(lanes)
            origin, final, *indices = (int(np.broadcast_to(value, lanes.shape)[place]) for value in
                                       (address, result, *(index for index, _ in terms)))
            moved = sum(index * stride for index, (_, stride) in zip(indices, terms, strict=True))
            self._far[final] = self.offset_in(origin) + offset + moved
        return result

    # --- finding the memory of an access ----------------------------------------------

    def locate(self, frame: Frame, address: Array, dtype: np.dtype[Any], count: int, alignment: int,
               site: Site, *, writing: bool, mask: Mask | None = None) -> list[Part]:
        """Check an access of ``count`` elements per lane and say where it goes.

        Raises :class:`OutOfBounds`, :class:`Misaligned`, or :class:`SimulationError` for a write
        to read-only memory, naming the first lane at fault.
        """
        mask = frame.mask if mask is None else mask
        size = dtype.itemsize * count
        active = mask.active(address)
        low, high = int(active.min()), int(active.max())
        bits = low if len(active) == 1 else int(np.bitwise_or.reduce(active, axis=None))
        number = low >> OFFSET_BITS
        if number == high >> OFFSET_BITS and 0 < number <= len(self._buffers):
            buffer = self._buffers[number - 1]
            inside = low >= address_of(number) and high + size <= address_of(number, buffer.row.nbytes)
            if inside and not bits & alignment - 1 and (buffer.row.writable or not writing):
                return [self._part(buffer, address - address_of(number), dtype, mask, bits)]
        return self._locate_apart(frame, address, dtype, count, alignment, site, writing, mask)

    def _part(self, buffer: Buffer, offset: Array, dtype: np.dtype[Any], mask: Mask, bits: int) -> Part:
        if not mask.full and offset.size > 1:
            lanes = mask.of_shape(offset.shape)
            safe = mask.active(offset)[0]
            offset = np.where(lanes, offset, safe)
        if buffer.instances is not None:
            offset = offset + buffer.instances
        width = dtype.itemsize
        if bits & width - 1:
            return Part(buffer, buffer.memory, offset, mask, width)
        return Part(buffer, buffer.view(dtype), offset >> width.bit_length() - 1, mask, 1)

    def _locate_apart(self, frame: Frame, address: Array, dtype: np.dtype[Any], count: int, alignment: int,
                      site: Site, writing: bool, mask: Mask) -> list[Part]:
        """The general case of ``locate``: lanes in different buffers, or an access that is wrong."""
        full = np.broadcast_to(address, mask.expanded.shape)
        numbers = full >> OFFSET_BITS
        parts = []
        left = mask.expanded
        for number in np.unique(numbers[left]):
            lanes = left & (numbers == number)
            buffer = self.buffer_at(int(number) << OFFSET_BITS)
            offset = full - address_of(int(number))
            size = dtype.itemsize * count
            limit = -1 if buffer is None else buffer.row.nbytes - size
            wrong = lanes & ((offset < 0) | (offset > limit))
            if wrong.any():
                if frame.batch.options.bounds:
                    self._out_of_bounds(frame, full, wrong, buffer, size, site, writing)
                lanes = lanes & ~wrong
            self._check_access(frame, full, lanes, buffer, alignment, site, writing)
            if buffer is not None and lanes.any():
                bits = int(np.bitwise_or.reduce(offset[lanes]))
                parts.append(self._part(buffer, offset, dtype, Mask(lanes, mask.lane_count), bits))
        return parts

    def _check_access(self, frame: Frame, address: Array, lanes: Array, buffer: Buffer | None,
                      alignment: int, site: Site, writing: bool) -> None:
        crooked = lanes & ((address & alignment - 1) != 0)
        if crooked.any():
            sub_group, lane = first_of(crooked)
            name = None if buffer is None else buffer.row.name
            raise Misaligned(
                f"the address of this {say.access_verb(writing)} must be a multiple of {alignment} bytes; "
                f"it is byte {self.offset_in(int(address[sub_group, lane]))} of its buffer",
                site.where(frame, sub_group, lane, name))
        if writing and buffer is not None and not buffer.row.writable and lanes.any():
            sub_group, lane = first_of(lanes)
            raise SimulationError(say.READ_ONLY, site.where(frame, sub_group, lane, buffer.row.name))

    def check_alignment(self, frame: Frame, address: Array, alignment: int, site: Site) -> None:
        """Raise Misaligned unless the pointers of all active lanes are multiples of ``alignment``."""
        if not np.bitwise_or.reduce(address, axis=None) & alignment - 1:
            return
        full = np.broadcast_to(address, frame.mask.expanded.shape)
        crooked = frame.mask.expanded & ((full & alignment - 1) != 0)
        if crooked.any():
            sub_group, lane = first_of(crooked)
            value = int(full[sub_group, lane])
            buffer = self.buffer_at(value)
            raise Misaligned(f"the pointer of {site.instruction} must be a multiple of {alignment} bytes; it is byte "
                             f"{self.offset_in(value)} of its buffer",
                             site.where(frame, sub_group, lane, None if buffer is None else buffer.row.name))

    def _out_of_bounds(self, frame: Frame, address: Array, wrong: Array, buffer: Buffer | None,
                       size: int, site: Site, writing: bool) -> NoReturn:
        sub_group, lane = first_of(wrong)
        value = int(address[sub_group, lane])
        if buffer is None:
            raise OutOfBounds(say.access_nowhere(writing, size, self._no_buffer(value)),
                              site.where(frame, sub_group, lane))
        offset = self.offset_in(value)
        raise OutOfBounds(
            say.access_outside(writing, size, offset, buffer.row.nbytes),
            site.where(frame, sub_group, lane, buffer.row.name, offset // size))

    # --- reading and writing ----------------------------------------------------------

    def read_elements(self, frame: Frame, address: Array, dtype: np.dtype[Any], count: int,
                      alignment: int, site: Site) -> Array:
        """``count`` consecutive elements per lane: ``[S, L, count]``."""
        parts = self.locate(frame, address, dtype, count, alignment, site, writing=False)
        for watch in self._watches:
            for part in parts:
                watch.read(frame, part, dtype.itemsize * count, dtype.itemsize, site)
        if len(parts) == 1 and parts[0].mask is frame.mask:
            return _gather(parts[0], dtype, count)
        result = np.zeros((*frame.mask.expanded.shape, count), dtype)
        for part in parts:
            result = np.where(part.mask.lanes[..., None], _gather(part, dtype, count), result)
        return result

    def write_elements(self, frame: Frame, address: Array, value: Array, alignment: int,
                       site: Site) -> None:
        """Write ``[S, L, count]``; of lanes that write to one address the last one wins."""
        count = value.shape[-1]
        for part in self.locate(frame, address, value.dtype, count, alignment, site, writing=True):
            self.write_part(frame, part, value, site)

    def write_part(self, frame: Frame, part: Part, value: Array, site: Site) -> None:
        """Write ``[S, L, count]`` where one part of an access goes."""
        store = partial(_scatter, part, value, value.shape[-1])
        for watch in self._watches:
            store = partial(watch.write, frame, part, value, store, site)
        store()

    def read(self, frame: Frame, address: Array, kind: Type, alignment: int, site: Site) -> Value:
        """The value of type ``kind`` in memory at each lane's address."""
        members = members_of(kind)
        if members is not None:
            return tuple(self.read(frame, address + offset, member, min(alignment, member.alignment), site)
                         for member, offset in zip(members, member_offsets(kind), strict=True))
        if isinstance(kind, MatrixType):
            return from_slices(kind, self.read_elements(
                frame, address, kind.dtype, kind.slice_length, alignment, site))
        value = self.read_elements(frame, address, kind.dtype, kind.count, alignment, site)
        return value if kind.scalar is not kind else value[..., 0]

    def write(self, frame: Frame, address: Array, value: Value, kind: Type, alignment: int,
              site: Site) -> None:
        """Write a value of type ``kind`` at each lane's address."""
        members = members_of(kind)
        if members is not None:
            for member, offset, item in zip(members, member_offsets(kind), value, strict=True):
                self.write(frame, address + offset, item, member, min(alignment, member.alignment), site)
            return
        if isinstance(kind, MatrixType):
            value = slices_of(kind, value)
        elif kind.scalar is kind:
            value = value[..., None]
        self.write_elements(frame, address, value, alignment, site)

    def copy(self, frame: Frame, target: Array, source: Array, size: int, site: Site) -> None:
        """Copy ``size`` bytes per lane."""
        byte = np.dtype(np.uint8)
        if size:
            data = self.read_elements(frame, source, byte, size, 1, site)
            self.write_elements(frame, target, data, 1, site)


def member_offsets(kind: Type) -> tuple[int, ...]:
    """Byte offset of each member of an aggregate."""
    if isinstance(kind, StructType):
        return kind.offsets
    assert isinstance(kind, ArrayType)
    return tuple(range(0, kind.size, kind.stride)) if kind.stride else (0,) * kind.length


def _gather(part: Part, dtype: np.dtype[Any], count: int) -> Array:
    index = part.positions[..., None]
    if part.width > 1:
        data = part.view[index + np.arange(count * part.width)]
        return data.view(dtype)
    return part.view[index if count == 1 else index + np.arange(count)]


def _scatter(part: Part, value: Array, count: int) -> None:
    width = part.width
    if width > 1:
        value = np.ascontiguousarray(value).view(np.uint8)
    shape = np.broadcast_shapes(part.positions.shape, value.shape[:2])
    if not part.mask.full:
        shape = np.broadcast_shapes(shape, part.mask.lanes.shape)
    index = np.broadcast_to(part.positions, shape)[..., None]
    value = np.broadcast_to(value, (*shape, count * width))
    if not part.mask.full:
        lanes = np.broadcast_to(part.mask.lanes, shape)
        index, value = index[lanes], value[lanes]
    if count * width > 1:
        index = index + np.arange(count * width)
    part.view[index.ravel()] = value.ravel()


def first_of(lanes: Array) -> tuple[int, int]:
    """Sub-group and lane of the first true element of ``[S, L]``."""
    sub_group, lane = divmod(int(np.argmax(lanes)), lanes.shape[1])
    return sub_group, lane


def _start_of(address: Array | np.int64) -> Array:
    """The address of the first byte of the buffer that an address, in bounds or not, belongs to; 0 near null."""
    return np.where(np.abs(address) < BIAS, 0, (address >> OFFSET_BITS << OFFSET_BITS) + BIAS)


def _largest(index: Array) -> int:
    """The largest magnitude of an index."""
    if index.size == 1:
        return abs(int(index.item()))
    return max(abs(int(index.min())), abs(int(index.max())))
