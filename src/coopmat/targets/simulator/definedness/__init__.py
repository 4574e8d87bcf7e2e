"""Data that nobody has written, tracked bit by bit from where it comes from to where it decides something.

Beside a value that is not wholly defined stands a *mark*: a value of the same type whose one bits are those that are
undefined (``marks.py``); a frame holds its marks by slot. Memory has a second address space of the same buffers, whose
bytes are marks. An instruction that only moves data is executed a second time, with marks for values and marks for
memory (``moves.py``); what others make of marks is in ``rules.py``. ``instrument.py`` puts this around each instruction
of a kernel, and reports an undefined address, branch, operand of a group operation, or value that the host will read.
"""
