"""Kernels in which sub-groups or work-groups wait for what others store: all of them get turns.

``loops`` finds the loops in which work-items wait, ``cut`` makes a function of the kernel that can be left at each
barrier, ``scheduler`` says whose turn it is, and ``deadlock`` who waits for what when nobody can go on.
"""
