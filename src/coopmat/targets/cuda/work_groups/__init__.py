"""Matrices of work-groups at full speed on Hopper: a warp that fetches tiles, warps that multiply them.

A kernel is written twice, once for each role. The loads of A and B are a pipeline of tiles in shared memory: where the
fetching warp comes to one, it starts the copy (a tensor map's); where the others come to it, they wait for its arrival.
Everything else is left out of the fetching warp's code, so that only what decides about the loads remains.
"""
