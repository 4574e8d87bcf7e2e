"""The words of a launch, which the host writes and a kernel's code reads."""

from __future__ import annotations

from enum import IntEnum

ALIGNMENT = 64  # of arguments and of variables in local memory
TILES = 512  # that a thread keeps (matrix/reuse.py)
TAG_BYTES = 32  # of each: address, stride, launch and operation; zero at the start
TILE_BYTES = 1024
REUSE_BYTES = TILES * (TAG_BYTES + TILE_BYTES)
"""What lies before a thread's local memory: first all tags, then all tiles."""
PANELS = 1024  # of A and B that a thread keeps (matrix/product/panels.py)
ENTRY_BYTES = 128  # of each: what it was made of, and how much of it is done; zero at the start
PANEL_BYTES = 64 << 20  # of which only what is used takes memory
SHARED_AT = PANEL_BYTES + PANELS * ENTRY_BYTES
PLACE_AT = SHARED_AT + 8
KEPT_BYTES = SHARED_AT + ALIGNMENT + REUSE_BYTES
"""What lies before a thread's local memory in all: panels, their entries, the address of what threads share, the
thread's place among them, and what is above."""


class Shared(IntEnum):
    """The 64-bit words with which the panels begin that the threads of a launch share: a lock; how many there are; the
    bytes that they take, and may take; whether there is one thread only. Entries as above follow, then panels."""

    LOCK = 0
    COUNT = 1
    USED = 2
    ROOM = 3
    ALONE = 4
    WORDS = 8


TURN_BYTES = 64  # from one thread's number of turns to the next's: a line each
SHARED_BYTES = Shared.WORDS * 8 + PANELS * ENTRY_BYTES + PANEL_BYTES


class Field(IntEnum):
    """The 64-bit words of a launch, by their positions."""

    GLOBAL_SIZE = 0  # three words each
    LOCAL_SIZE = 3
    OFFSET = 6
    GROUPS = 9
    DIMENSIONS = 12
    TOTAL = 13  # work-groups
    TURNS = 14  # where the launch has, for each owner, how many portions of its own are taken: bytes from its start
    CHUNK = 15  # work-groups of a portion
    SUB_GROUPS = 16  # of each work-group
    LOCAL_BYTES = 17  # of each work-group
    STOP = 18  # not 0: no more work-groups shall begin
    STACK_BYTES = 19  # of each sub-group, where sub-groups wait for each other
    BUFFERS = 20  # the table of buffers, where accesses are checked (bounds.py)
    BUFFER_COUNT = 21
    REUSE = 22  # the number of a launch that keeps converted tiles (matrix/reuse.py); 0: it keeps none
    APART = 23  # not 0: nothing is written to what functions of elements read (matrix/functions.py)
    OWNERS = 24  # threads that have portions of their own; 1: all take them in order
    OUTPUT = 32  # the buffer of printf
    ERROR = 40  # what went wrong first (faults.Fault)
    COUNT = 56
