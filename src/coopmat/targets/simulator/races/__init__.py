"""Data races by the happens-before of the OpenCL memory model (OpenCL API specification, 3.3.4).

Two accesses to one byte race if one of them writes, one of them is not atomic, different work-items make them, and
nothing orders them. Lock-step orders nothing. What does:

- a barrier of a work-group, for its work-items and the memory that its flags name;
- a barrier of a sub-group, likewise;
- an atomic that acquires what another released (``ordering.History``), also between work-groups.

``detector.RaceDetector`` is told of every access and barrier of a launch. It keeps for each granule of memory who wrote
it last, who has read it since (the first and the last work-item of those whose reads nothing orders) and who has used
it atomically (``shadow.Shadow``). Memory that a kernel only reads is not watched.
"""

from coopmat.targets.simulator.races.detector import RaceDetector

__all__ = ["RaceDetector"]
