"""A race in words: both accesses, and what would order them."""

from __future__ import annotations

from coopmat.targets.simulator.races.ordering import Memory

BARRIERS = {Memory.LOCAL: "CLK_LOCAL_MEM_FENCE", Memory.GLOBAL: "CLK_GLOBAL_MEM_FENCE"}


def accesses(verb: str, other_verb: str, other: str, other_line: str | None, element: str) -> str:
    """Who does what to which memory."""
    return (f"a data race: {element} is {verb} here, and {other_verb} by {other}"
            f"{f' at {other_line}' if other_line else ''}, and nothing orders the two")


def scopes(verb: str, other_verb: str, other: str, other_line: str | None, element: str, scope: str) -> str:
    """Two atomics, of which one is for others only."""
    return (f"a data race: {element} is {verb} here, and {other_verb} by an atomic of {other}"
            f"{f' at {other_line}' if other_line else ''}, and the scope of one, {scope}, does not include both: use "
            "memory_scope_device (in Python memory_scope.device)")


def at_once(element: str, other: str) -> str:
    """Two work-items store to one place in one instruction."""
    return (f"a data race: {element} is written here by {other}, too, in the same instruction; let one work-item write "
            "it, or use an atomic")


def remedy(memory: Memory, *, same_sub_group: bool, same_group: bool, was_barrier: bool) -> str:
    """What would order them."""
    flag = BARRIERS[memory]
    if not same_group:
        return ("no barrier orders work-groups: let each write memory of its own, use atomics (a release behind the "
                "one access, an acquire before the other), or two launches")
    if was_barrier:
        return f"the barrier between them does not order {memory.name.lower()} memory: it needs {flag}"
    if same_sub_group:
        return (f"put barrier({flag}), or, as both are in one sub-group, sub_group_barrier({flag}) between them (in "
                "Python group_barrier)")
    return f"put barrier({flag}) between them (in Python group_barrier of the work-group)"
