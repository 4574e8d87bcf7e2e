"""LLVM in a process of its own, which an error may end."""
