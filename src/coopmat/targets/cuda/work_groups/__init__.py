"""Matrices of work-groups at full speed: threads that fetch tiles, and warps that multiply them.

A kernel is written twice, once for each role. The loads of A and B are a pipeline of tiles in shared memory: where the
fetching threads come to one, they start its copy (by a tensor map, or their own); where the others come to it, they
wait for its arrival. Everything else is left out of the fetching threads' code, so that only what decides about the
loads remains. On Hopper warp groups multiply by wgmma; on other chips from 8.0 on, warps do by mma.sync.
"""
