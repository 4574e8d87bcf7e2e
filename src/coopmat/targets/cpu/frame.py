"""What a kernel's code gets from the host: the words of a launch, the arguments, local memory."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import round_up
from coopmat.targets.cpu.host.frame import ALIGNMENT, Field
from coopmat.targets.llvm.writer import Writer

MOST_MEMORY = 1 << 22  # bytes that the variables of one sub-group may take: a thread's stack has twice that


@dataclass(frozen=True)
class Slot:
    """Where the host puts something for the kernel: the offset among the arguments, and the bytes that it takes."""

    offset: int
    size: int


class Frame:
    """Writes the code that reads words of the launch and addresses, at the kernel's start.

    argument_bytes: what the arguments take. local_bytes: the kernel's own local memory. stack_bytes: what the variables
    of a sub-group need on the stack. globals: variables of the
    module by id, whose addresses the host puts among the arguments. head: what must stand before everything else, if
    some work-items may not exist.
    """

    def __init__(self, writer: Writer, sub_group_size: int, *, is_whole: bool) -> None:
        self.writer = writer
        self.sub_group_size = sub_group_size
        self.argument_bytes = 0
        self.local_bytes = 0
        self.stack_bytes = 0
        self.globals: dict[int, Slot] = {}
        self.head: list[str] = []
        self._lines = writer.entry if is_whole else self.head
        self._fields: dict[int, str] = {}

    def field(self, place: int) -> str:
        """A word of the launch as an operand; read once."""
        if place not in self._fields:
            address, value = self.writer.fresh("at"), self.writer.fresh("field")
            self._lines += [f"  {address} = getelementptr i64, ptr %launch, i64 {place}",
                            f"  {value} = load i64, ptr {address}, align 8, !invariant.load !0"]
            self._fields[place] = value
        return self._fields[place]

    def local_size(self, axis: int) -> str:
        """Work-items of a work-group along an axis."""
        return self.field(Field.LOCAL_SIZE + axis)

    def reserve_stack(self, nbytes: int) -> None:
        """Note that so many bytes more are needed on a sub-group's stack. Error if that is too much."""
        self.stack_bytes += nbytes
        if self.stack_bytes > MOST_MEMORY:
            raise Error(f"the variables of a sub-group of {self.sub_group_size} work-items take {self.stack_bytes} "
                        f"bytes, more than {MOST_MEMORY >> 20} MiB; keep them in global or local memory, use fewer or "
                        "smaller ones, or require smaller sub-groups")

    def argument(self, size: int) -> Slot:
        """Room among the arguments."""
        slot = Slot(round_up(self.argument_bytes, 16), size)
        self.argument_bytes = slot.offset + size
        return slot

    def address(self, slot: Slot) -> str:
        """The address of an argument."""
        name = self.writer.fresh("argument")
        self.writer.entry.append(f"  {name} = getelementptr i8, ptr %arguments, i64 {slot.offset}")
        return name

    def variable(self, identifier: int) -> str:
        """The address of a variable of the module."""
        text = self.writer.fresh("variable")
        slot = self.globals.get(identifier)
        if slot is None:
            slot = self.globals[identifier] = self.argument(8)
        self.writer.entry.append(f"  {text} = load ptr, ptr {self.address(slot)}, align 8")
        return text

    def local(self, nbytes: int) -> str:
        """So many bytes of the work-group's local memory; the address, of which the last six bits are zero."""
        offset = round_up(self.local_bytes, ALIGNMENT)
        self.local_bytes = offset + nbytes
        name = self.writer.fresh("shared")
        self.writer.entry.append(f"  {name} = getelementptr i8, ptr %local, i64 {offset}")
        return name
