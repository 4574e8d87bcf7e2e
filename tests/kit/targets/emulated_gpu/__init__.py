"""NVIDIA's GPUs without one: kernels as LLVM's IR for them, run by this processor.

LLVM compiles the IR for the processor; each thread of a work-group is a thread of the operating system. What only a GPU
has is done here, as PTX's manual says, by the threads that come to an instruction together (instructions.py). It shows
whether code is right for chips that nobody here has; it does not show what LLVM's NVPTX back end and ptxas make of it.
There are no tensor maps and no wgmma: an emulated chip is older than Hopper.
"""
