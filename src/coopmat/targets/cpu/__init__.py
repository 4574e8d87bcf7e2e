"""Kernels at full speed on this machine's CPU: SPIR-V, by way of LLVM, to native code.

What is true of any machine stands in targets/llvm; here is the CPU's own. docs/cpu.md describes how it works.

passes       the passes of a compilation, in their order
kernel       the code of a kernel: arguments, the function of a sub-group, the loop over work-groups
lanes        the execution model: a sub-group is a SIMD vector; masks, blocks, slots, memory, groups, inputs
regions      where work-items part and meet again: divergent code laid out in a row
matrix       the form of matrices: operations as opaque calls, lowered after LLVM's optimiser to what the processor has
checks       checked accesses, and the errors that they find
host         native code, launches, threads, the stacks of sub-groups that wait
program      a module's kernels: compiled code in the cache, launches
"""
