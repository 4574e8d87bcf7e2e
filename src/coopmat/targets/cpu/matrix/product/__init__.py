"""Products of matrices that no single instruction multiplies: operands in the order in which the unit takes them.

A and B come from memory as the kernel has them there, or from matrices that it has computed (:mod:`.source`). They are
put into strips of lines of 64 bytes (:mod:`.strips`, :mod:`.filling`), B's once for all work-groups that a thread has
(:mod:`.panels`). Loops over blocks whose sums stay in registers multiply them (:mod:`.blocks`). What a line holds, and
which instruction multiplies it, is said by a unit (:mod:`.unit`).
"""
