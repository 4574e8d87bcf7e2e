"""What messages say of accesses outside of buffers, on every target that checks them."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.types import MatrixType
from coopmat.targets.matrix_grid import Grid

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
    ``offset`` bytes where that is not what the address says."""
    if address == 0:
        return "a null pointer"
    text = f"the address {address & MOST_ADDRESS:#x}, which is in no buffer"
    if abs(address) >= near_null:
        return text
    offset = address if offset is None else offset
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


def element_outside(instruction: str, writing: bool, element: tuple[int, int], kind: MatrixType, byte: int,
                    nbytes: int, size: int) -> str:
    """An element (row, column) of a matrix that is not in the buffer; ``size``: bytes of what holds it."""
    row, column = element
    verb = "stores" if writing else "loads"
    return outside(f"{instruction} {verb} element ({row}, {column}) of the {kind}", byte, nbytes, size)
