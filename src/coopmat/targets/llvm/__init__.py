"""What compiles SPIR-V by way of LLVM, for every machine.

A machine gives two things: how work-items run (lanes.Lanes) and the form of matrices (matrices.MatrixForm); everything
else is here.

kernel         a whole kernel: what is known before code is written, its arguments, the module with its code
emitter        the blocks of a kernel, values by their ids
lanes          the Protocol of execution models: a sub-group is a vector, or a work-item is a thread
matrices       the Protocol of the form of matrices
checks         the Protocol of checked accesses
writer         the text of a function; numbers, values, terms: numbers in it, and formulas of them
arithmetic     integers, floating-point numbers, conversions, comparisons: functions of numbers
instructions   SPIR-V's instructions, a module for each family; families: the table of all
places         variables in slots; access: values in memory; variables: those with an address
ir_text        LLVM's printed IR, taken apart once
"""
