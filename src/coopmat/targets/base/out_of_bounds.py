"""What messages say of accesses outside of buffers, on every target that checks them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from coopmat.spirv.analysis.types import FloatType, IntType, MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.targets.base.matrix_grid import Grid, grid_of

MOST_ADDRESS = (1 << 64) - 1
READ_ONLY = "a write to read-only memory"
MATRIX_READ_ONLY = "a matrix is stored to read-only memory"


def argument_name(index: int, name: str) -> str:
    """How messages name an argument; a parameter without a name is called by its position already."""
    label = f"argument {index}"
    return label if name == label else f"{label} '{name}'"


def access_verb(writing: bool) -> str:
    """``write`` or ``read``."""
    return "write" if writing else "read"


def no_buffer(address: int, near_null: int, offset: int | None = None) -> str:
    """An address that is in no buffer. Less than ``near_null`` bytes from null it is a null pointer that was moved, by
    ``offset`` bytes where the address itself stands for what is too far away to be one."""
    if address == 0:
        return "a null pointer"
    offset = address if offset is None else offset
    text = f"the address {offset & MOST_ADDRESS:#x}, which is in no buffer"
    if abs(address) >= near_null:
        return text
    return f"{text} (a null pointer {'plus' if offset > 0 else 'minus'} {abs(offset)} bytes)"


def outside(what: str, byte: int, nbytes: int, size: int) -> str:
    """An access to a byte that a buffer of ``nbytes`` bytes does not have; ``size``: bytes of an element."""
    return f"{what} at byte {byte}; the buffer has {nbytes} bytes, {nbytes // size} elements of this size"


def access_outside(writing: bool, size: int, byte: int, nbytes: int) -> str:
    """A read or write of ``size`` bytes that are not all in the buffer."""
    return outside(f"{access_verb(writing)} of {size} bytes", byte, nbytes, size)


def access_nowhere(writing: bool, size: int, where: str) -> str:
    """A read or write through a pointer to no buffer."""
    return f"{access_verb(writing)} of {size} bytes through {where}"


def index_outside(index: int, length: int) -> str:
    """An index into an array or a vector that has no such element."""
    return f"index {index} is outside of the {length} elements"


# --------------------------------------------------------------------------------------
# Copies
# --------------------------------------------------------------------------------------


def copy_in_words(instruction: str, count: int, size: int, writing: bool) -> str:
    """What a copy of ``count`` elements of ``size`` bytes does with an element."""
    verb = "writes" if writing else "reads"
    return f"{instruction} of {count} {'element' if count == 1 else 'elements'} {verb} {size} bytes"


def copied_inside(offset: int, nbytes: int, count: int, step: int, size: int) -> int:
    """How many of ``count`` elements of a copy, ``step`` bytes apart from ``offset`` on, lie in a buffer of ``nbytes``
    bytes, from the first one on."""
    room = nbytes - size - offset
    if offset < 0 or room < 0:
        return 0
    return min(count, room // step + 1) if step else count


def copy_outside(what: str, index: int, byte: int, nbytes: int, size: int) -> str:
    """An element of a copy that is not in the buffer."""
    return (f"{what} at byte {byte} for its element {index}; the buffer has {nbytes} bytes, {nbytes // size} elements "
            "of this size")


# --------------------------------------------------------------------------------------
# Matrices
# --------------------------------------------------------------------------------------


def not_shared(instruction: str, what: str) -> str:
    """A matrix cannot be moved through this pointer."""
    return f"{instruction} needs a pointer to global or local memory; this one {what}"


def first_outside(kind: MatrixType, grid: Grid, offset: int, nbytes: int) -> tuple[int, int, int] | None:
    """Row, column and byte of the first element, counted along the rows, that a buffer of ``nbytes`` bytes does not
    have; the matrix begins at byte ``offset``. None if it has all."""
    bytes_of = grid.components(grid.offsets[None], grid.offsets[None])[0, :kind.rows, :kind.columns]
    is_outside = (bytes_of < -offset) | (bytes_of > nbytes - grid.dtype.itemsize - offset)
    if not is_outside.any():
        return None
    row, column = divmod(int(np.argmax(is_outside)), kind.columns)
    return row, column, offset + int(bytes_of[row, column])


_LAYOUTS = {Layout.RowMajorKHR: "row_major", Layout.ColumnMajorKHR: "col_major", Layout.PackedINTEL: "packed"}


@dataclass(frozen=True)
class InMemory:
    """How an access has a matrix in memory: its layout, its stride in bytes, and the byte of the buffer where it
    begins."""

    kind: MatrixType
    layout: int
    stride: int
    start: int

    def __str__(self) -> str:
        return f"{self._layout_name} with stride {self._elements(self.stride)}"

    def that_fits(self, nbytes: int) -> str | None:
        """The layout and stride that were meant, where that can be told: the matrix begins with a buffer of ``nbytes``
        bytes, and lies in it with them, or it ends where the buffer ends."""
        for layout, stride in self._candidates():
            grid = grid_of(self.kind, layout, stride)
            end = self.start + grid.high if grid is not None else nbytes + 1
            if end == nbytes or (self.start == 0 and end < nbytes):
                return f"with {replace(self, layout=layout, stride=stride)._changed(self)} the matrix would end at " \
                       f"byte {end}"
        return None

    def _candidates(self) -> list[tuple[int, int]]:
        """Layouts and strides that may have been meant, likely ones first: the other layout, if its rows lie side by
        side with this stride; this layout without gaps; the other one."""
        other = Layout.ColumnMajorKHR if self.layout == Layout.RowMajorKHR else Layout.RowMajorKHR
        dense, dense_other = self._dense(self.layout), self._dense(other)
        found = [(self.layout, dense), (other, self.stride), (other, dense_other)]
        if self.stride == dense_other:
            found.insert(0, (other, self.stride))
        return [(layout, stride) for layout, stride in found if self.stride >= stride >= self._dense(layout) > 0
                and (layout, stride) != (self.layout, self.stride)]

    def _changed(self, other: InMemory) -> str:
        """What differs from another one."""
        if self.layout == other.layout:
            return f"stride {self._elements(self.stride)}"
        return self._layout_name if self.stride == other.stride else str(self)

    @property
    def _layout_name(self) -> str:
        return _LAYOUTS[Layout(self.layout)]

    def _dense(self, layout: int) -> int:
        """The stride, in bytes, of a matrix without gaps."""
        grid = grid_of(self.kind, layout, 0)
        return 0 if grid is None else grid.high

    def _elements(self, stride: int) -> str:
        """A stride in elements, as kernels have it."""
        assert isinstance(self.kind.component, IntType | FloatType)
        bits = self.kind.component.width
        return str(8 * stride // bits) if 8 * stride % bits == 0 else f"of {stride} bytes"


def element_outside(instruction: str, writing: bool, element: tuple[int, int], memory: InMemory, byte: int,
                    nbytes: int, size: int, *, is_window: bool = False) -> str:
    """An element (row, column) of a matrix that is not in the buffer; ``size``: bytes of what holds it. ``is_window``:
    the access is to a part of the matrix, of which is not known what it should be."""
    row, column = element
    verb = "stores" if writing else "loads"
    what = f"{instruction} {verb} element ({row}, {column}) of the {memory.kind}, {memory},"
    text = outside(what, byte, nbytes, size)
    fitting = None if is_window else memory.that_fits(nbytes)
    return text if fitting is None else f"{text}; {fitting}"
