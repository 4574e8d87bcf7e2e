"""All pairs."""
from tests.targets.simulator.checks.pairs.races import ORDERS, RACES
from tests.targets.simulator.checks.pairs.uninitialized import *
from tests.targets.simulator.checks.pairs.accesses import *
from tests.targets.simulator.checks.pairs.operations import *
PAIRS = [*RACES, *ORDERS, *UNINITIALIZED, *OUTSIDE, *MISALIGNED, *DIVERGENT, *LAYOUTS, *LIMITS, *UNDEFINED, *WAITING]
