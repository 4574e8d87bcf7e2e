"""Children that are forked while other threads build and launch: each builds and launches by itself, and none hangs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coopmat.support.cached import cached_property

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")

PROGRAM = """
import os, random, signal, sys, threading, time
import numpy as np
import coopmat as cm
from coopmat.sycl import *

device, count = sys.argv[1], int(sys.argv[2])
SOURCE = '''kernel void k(global float *p, float x)
{
    for (int i = 0; i < 4; i++) p[get_global_id(0)] += x * %d + sin(x);
}'''

def once(number):
    out = np.zeros(32, np.float32)
    program = cm.build(SOURCE % number, device=device, cache_dir="off")
    cm.Queue(device).enqueue(program.kernel("k"), 32, 16, out, 0.5).wait()

    @kernel
    def add(item: nd_item[1], p: ptr[float32]):
        p[item.get_global_id(0)] += number

    cm.Queue(device).parallel_for(nd_range(32, 16), add, out).wait()
    return np.allclose(out, 4 * (0.5 * number + np.sin(0.5)) + number, rtol=1e-4)

def work():
    number = 0
    while True:
        assert once(number)
        number += 1

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
chance = random.Random(16)
for child in range(count):
    time.sleep(chance.random() * (0.02 if child else 0.1))  # the first in the middle of imports
    pid = os.fork()
    if not pid:
        try:
            signal.alarm(60)  # a child that hangs is ended by this
            os._exit(0 if once(1000 + child) else 1)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(2)
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status))
os._exit(0)
"""


@pytest.mark.parametrize("count", [4, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
def test_no_child_hangs(tmp_path: Path, device: str, count: int) -> None:
    path = tmp_path / "forks.py"  # kernels have their source in a file
    path.write_text(PROGRAM)
    for _ in range(1 if count > 50 else 3):  # the first child of each process is the one that is forked early
        run = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", path, device, str(count)],
                             capture_output=True, text=True, check=False,
                             env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
        assert (run.stdout.split(), run.stderr) == (["0"] * count, "")


FORK_IN_A_PROPERTY = """
import os, signal, threading
from coopmat.support.cached import cached_property

class Slow:
    def __init__(self, wait):
        self.wait = wait

    @cached_property
    def value(self):
        if self.wait:
            begun.set()
            done.wait()
        return 5

begun, done = threading.Event(), threading.Event()
threading.Thread(target=lambda: Slow(True).value).start()
begun.wait()
pid = os.fork()
if not pid:
    signal.alarm(20)
    os._exit(Slow(False).value)
done.set()
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_property_that_another_thread_computes_is_no_obstacle() -> None:
    run = subprocess.run([sys.executable, "-c", FORK_IN_A_PROPERTY], capture_output=True, text=True, check=True,
                         env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert run.stdout == "5\n"


def test_properties_are_computed_once() -> None:
    class Counted:
        count = 0

        @cached_property
        def value(self) -> int:
            """What it is."""
            self.count += 1
            return self.count

    one = Counted()
    assert (one.value, one.value, Counted().value) == (1, 1, 1)
    assert Counted.value.__doc__ == "What it is."


IN_AN_IMPORT = """
import os, signal, sys, threading, time
import coopmat
sys.path.insert(0, sys.argv[1])
threading.Thread(target=lambda: __import__("endless"), daemon=True).start()
time.sleep(0.3)
start = time.monotonic()
pid = os.fork()
if not pid:
    os._exit(0)
os.waitpid(pid, 0)
print(time.monotonic() - start < 10)
os._exit(0)
"""


def test_a_program_that_runs_inside_of_an_import_can_fork(tmp_path: Path) -> None:
    """As servers do; a fork waits for other imports, but not for ever."""
    (tmp_path / "endless.py").write_text("import time\ntime.sleep(1000)\n")
    run = subprocess.run([sys.executable, "-c", IN_AN_IMPORT, str(tmp_path)], capture_output=True, text=True,
                         check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert run.stdout == "True\n"
