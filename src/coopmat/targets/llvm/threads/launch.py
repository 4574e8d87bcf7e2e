"""What a kernel on a GPU gets from the host: one block of memory with the words of a launch and the arguments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import round_up
from coopmat.targets.llvm.writer import Writer

WORD_BYTES = 8
LOCAL_ALIGNMENT = 128  # of variables in local memory
LAUNCH = "%launch"
"""The kernel's only parameter: the block."""


class Word(IntEnum):
    """The 64-bit words of a launch, by their positions."""

    GLOBAL_SIZE = 0  # three words each
    OFFSET = 3
    FIRST_GROUP = 6  # work-groups before those of this part of the launch
    GROUPS = 9  # work-groups of the whole launch
    DIMENSIONS = 12
    OUTPUT = 13  # the address of printf's buffer
    FAILURE = 14  # the address of the word that says which assertion failed
    COUNT = 16


class BlockFull(Error):
    """A launch has no room for all arguments."""


@dataclass(frozen=True)
class Slot:
    """Where the host puts something for the kernel: the offset in the block, and the bytes that it takes."""

    offset: int
    size: int


class LaunchBlock:
    """Writes the code that reads the block, at the kernel's start.

    nbytes: the block's. local_bytes: the kernel's own local memory. variables: those of the module, by id, whose
    addresses the host puts into the block. space: LLVM's address space of the block.
    """

    def __init__(self, writer: Writer, space: int, most: int) -> None:
        self.writer = writer
        self.space = space
        self.most = most
        self.nbytes = Word.COUNT * WORD_BYTES
        self.local_bytes = 0
        self.variables: dict[int, Slot] = {}
        self._words: dict[int, str] = {}

    def like(self, other: LaunchBlock) -> None:
        """Be the block that other code reads as well, and reserve behind what that has reserved."""
        self.nbytes, self.local_bytes, self.variables = other.nbytes, other.local_bytes, other.variables

    @property
    def pointer(self) -> str:
        """LLVM's type of a pointer into the block."""
        return f"ptr addrspace({self.space})" if self.space else "ptr"

    def word(self, place: int) -> str:
        """A word of the launch as an operand; read once."""
        if place not in self._words:
            self._words[place] = self.load(Slot(place * WORD_BYTES, WORD_BYTES), "i64")
        return self._words[place]

    def load(self, slot: Slot, llvm: str) -> str:
        """What the host has put into a slot, as an operand; it is read in the entry block."""
        value = self.writer.fresh("given")
        self.writer.entry.append(f"  {value} = load {llvm}, {self.pointer} {self.address(slot)}, align 8, "
                                 "!invariant.load !0")
        return value

    def address(self, slot: Slot) -> str:
        """The address of a slot; of the block's own address space."""
        name = self.writer.fresh("at")
        self.writer.entry.append(f"  {name} = getelementptr i8, {self.pointer} {LAUNCH}, i64 {slot.offset}")
        return name

    def reserve(self, size: int, alignment: int = WORD_BYTES) -> Slot:
        """Room for an argument. BlockFull if the block becomes too large."""
        slot = Slot(round_up(self.nbytes, max(alignment, 16 if size > WORD_BYTES else WORD_BYTES)), size)
        self.nbytes = slot.offset + size
        if self.nbytes > self.most:
            raise BlockFull(f"the arguments take {self.nbytes} bytes, more than the {self.most} that a launch can "
                            "have; put large ones into a buffer")
        return slot

    def variable(self, identifier: int) -> str:
        """The address of a variable of the module, an i64."""
        if identifier not in self.variables:
            self.variables[identifier] = self.reserve(WORD_BYTES)
        return self.load(self.variables[identifier], "i64")

    def local(self, nbytes: int) -> int:
        """So many bytes of the work-group's local memory; their offset there."""
        offset = round_up(self.local_bytes, LOCAL_ALIGNMENT)
        self.local_bytes = offset + nbytes
        return offset
