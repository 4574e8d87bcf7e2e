"""Kernels at full speed on this machine's CPU: SPIR-V, by way of LLVM, to native code.

A sub-group is a SIMD vector; docs/cpu.md describes how. The modules, in the order of the work:

flatten      a kernel and all functions that it calls as one function
shapes       what is the same for all work-items of a sub-group, or rises steadily from one to the next
regions      where work-items part and meet again: divergent code laid out in a row
emitter      LLVM IR for the blocks; one module per family of instructions beside it
kernel       the kernel's frame: arguments, work-group loop, local memory
matrix       cooperative matrices: one plan for each kind of hardware
program      compiled code in the cache, launches on a thread pool
"""
