"""The scopes and group operations that group instructions may have."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import GroupOperation, Scope

SCANS = (GroupOperation.Reduce, GroupOperation.InclusiveScan, GroupOperation.ExclusiveScan)
QUAD = 4
QUAD_SWAPS = (1, 2, 3)
"""What a direction changes in a work-item's number: horizontal, vertical, diagonal."""
BARRIER_SCOPES = (Scope.Workgroup, Scope.Subgroup, Scope.Invocation)


def known_scope(scope: int | None, name: str, *allowed: Scope) -> Scope:
    """The scope of an instruction; Error if it is not one of ``allowed``."""
    for candidate in allowed:
        if scope == candidate:
            return candidate
    names = " and ".join(candidate.name for candidate in allowed)
    raise Error(f"{name} with execution scope {_shown(scope)} is not supported; possible: {names}")


def known_barrier_scope(scope: int | None, name: str) -> Scope:
    """The execution scope of a barrier; Error if there are no barriers of it."""
    if scope is None or scope not in BARRIER_SCOPES:
        raise Error(f"{name} with execution scope {_shown(scope)} is not supported; the scopes are Workgroup, "
                    "Subgroup and Invocation")
    return Scope(scope)


def _shown(scope: int | None) -> str | int | None:
    return Scope(scope).name if scope in set(Scope) else scope


def known_scan(operation: int, name: str) -> int:
    """The group operation of an instruction; Error unless it is a reduction or a scan of the whole group."""
    if operation not in SCANS:
        shown = GroupOperation(operation).name if operation in set(GroupOperation) else operation
        raise Error(f"{name} with group operation {shown} is not supported; possible: "
                    f"{', '.join(candidate.name for candidate in SCANS)}")
    return operation


def known_cluster(size: int | None, name: str) -> int:
    """The cluster size of an instruction; Error unless it is a constant power of two."""
    if size is None or size < 1 or size & size - 1:
        raise Error(f"the cluster size of {name} must be a constant power of two, found {size}")
    return size
