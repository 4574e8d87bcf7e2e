"""The typed kernel tree: what every front end produces and the lowering reads.

``types`` describes values and memory, ``nodes`` describes programs. All conversions are explicit
nodes, every name is resolved, every built-in function is an operation of SPIR-V or of the
OpenCL.std instruction set, and the tree is free of errors: a front end reports those before.
"""
