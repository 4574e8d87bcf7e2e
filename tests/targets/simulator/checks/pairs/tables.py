"""All pairs, and the kinds of mistakes that the checks are for, with the languages that can make them."""

from __future__ import annotations

from tests.kit.checks.pairs import Marked, Pair
from tests.targets.simulator.checks.pairs.accesses import DIVERGENT, LAYOUTS, LIMITS, MISALIGNED, OUTSIDE
from tests.targets.simulator.checks.pairs.operations import UNDEFINED, WAITING
from tests.targets.simulator.checks.pairs.races import ORDERS, RACES
from tests.targets.simulator.checks.pairs.uninitialized import UNINITIALIZED

BOTH, OPENCL, PYTHON = {"C", "Python"}, {"C"}, {"Python"}
KINDS = {
    "race in a sub-group": BOTH,
    "race in local memory": BOTH,
    "race in global memory": BOTH,
    "race between work-groups": BOTH,
    "fence of other memory": BOTH,
    "race of matrices": BOTH,
    "race of equal values": BOTH,
    "race of bytes": BOTH,
    "race of atomics by their scope": BOTH,
    "race of an atomic and another access": BOTH,
    "race with an asynchronous copy": OPENCL,  # Python has none
    "memory order": BOTH,
    "private memory": BOTH,
    "local memory": BOTH,
    "device memory": BOTH,
    "a matrix": BOTH,
    "components of a matrix": BOTH,
    "one element of a product's operand": BOTH,
    "through a copy": BOTH,
    "through a choice": BOTH,
    "through a conversion": BOTH,
    "through a shuffle": BOTH,
    "an address": BOTH,
    "a branch": BOTH,
    "an operand of a group operation": BOTH,
    "outside of global memory": BOTH,
    "outside of local memory": BOTH,
    "outside of a private array": BOTH,
    "outside of a vector": BOTH,
    "outside by an element of a matrix": BOTH,
    "misaligned access": BOTH,
    "stride of a matrix": BOTH,
    "barrier in a branch": BOTH,
    "different barriers": BOTH,
    "group operation in a branch": BOTH,
    "matrix operation in a branch": BOTH,
    "different pointers of a sub-group": BOTH,
    "integer division by zero": BOTH,
    "the smallest integer by -1": BOTH,
    "a shift by the width or more": PYTHON,  # in OpenCL C the amount counts modulo the width
    "a floating-point number that no integer holds": BOTH,
    "a shuffle from an absent work-item": BOTH,
    "overflow before saturation": OPENCL,  # Python has no such dot product,
    "a false assumption": OPENCL,          # and no assumptions
    "signed overflow": BOTH,
    "an endless loop": BOTH,
    "a wait for what nobody stores": BOTH,
    "a lock of each work-item": BOTH,
    "a barrier and a wait for each other": BOTH,
    "another layout": BOTH,
    "packed from unpacked memory": BOTH,
    "a launch beyond the device's limits": BOTH,
}
PAIRS: list[Pair] = [*RACES, *ORDERS, *UNINITIALIZED, *OUTSIDE, *MISALIGNED, *DIVERGENT, *LAYOUTS, *LIMITS, *UNDEFINED,
                     *WAITING]
MARKED: list[Marked] = [marked for pair in PAIRS for marked in pair.both()]
