"""Kernels as people write them on the CPU, beside what computes the same: oneDNN (PyTorch), numpy's BLAS and LAPACK.

Each number of threads has a process of its own, as BLAS reads it when it starts. A kernel and its peers run by turns;
the ratio is that of the medians. With one thread the time is that of the processor, which other processes disturb less.
With --intel the same SPIR-V also runs on Intel's OpenCL runtime, where it is installed, in a process of its own. With
--json the figures, and what the processor can do at most, go to a file that roofline.py draws.

    python benchmarks/cpu_kernels.py --threads 1,2 --sizes 1024,2048 --only attention --intel --json figures.json
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from figures import Figure

from coopmat.command_line.gemm_bench import SPINNING_SECONDS
from coopmat.runtime.timing import processor_name
from coopmat.support.terminal import console, table
from coopmat.targets.cpu.options import available_cores

SIZES = (1024, 2048, 4096)
LEAST_SECONDS = 0.05  # of a measured run
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "COOPMAT_NUM_THREADS",
             "CL_CONFIG_CPU_TBB_NUM_WORKERS", "DPCPP_CPU_NUM_CUS")
INTEL = Path(sys.prefix) / "lib" / "libintelocl.so"  # where pip puts Intel's runtime


class WrongResult(Exception):
    """A job whose result is not what numpy finds."""


@dataclass(frozen=True)
class Plan:
    """What is measured: so many runs, jobs with ``only`` in their names, square products of these sizes."""

    repeat: int = 7
    sizes: tuple[int, ...] = SIZES[:2]
    only: str = ""

    @property
    def words(self) -> list[str]:
        """As words of a command line."""
        return ["--repeat", str(self.repeat), "--sizes", ",".join(map(str, self.sizes)), "--only", self.only]


def run(plan: Plan, threads: tuple[int, ...] = (), *, intel: bool = False, target: Path | None = None) -> list[Figure]:
    """Measure, and print a table; each of its rows also on the standard error when it is known, so that a run that is
    killed has told what it found."""
    rows = table("kernels as people write them", "threads", "kernel", "first launch", "peer", "ratio", "to reach",
                 *(["Intel's runtime"] if intel else []))
    everything: list[dict[str, Any]] = []
    figures = []
    try:
        for count in threads or tuple(sorted({1, available_cores()})):
            found = list(_on_cpu(plan, count))
            everything += found
            theirs = dict(_on_intel(plan, count, found)) if intel else {}
            for job in (job for job in found if "times" in job):
                rows.add_row(*_cells(job), *([_beside(theirs.get(job["number"], ""), job)] if intel else []))
                figures.append(Figure.of(f"{job['name']}, threads: {count}", "of its peer", [_ratio(job)]))
    finally:
        console().print(rows)
    if target is not None:
        target.write_text(json.dumps({"processor": processor_name(), "found": everything}, indent=1))
    return figures


def _cells(job: dict[str, Any]) -> list[str]:
    """What a row of the table says of our kernel and its fastest peer."""
    times, best = job["times"], job["best"]
    return [job["name"], str(job["threads"]), _time(times["coopmat"]), f"{job['first']:.2f} s",
            f"{best} {_time(times[best])}" if best else "none", f"{_ratio(job):.2f}", f"{job['floor']:.2f}"]


def _ratio(job: dict[str, Any]) -> float:
    return job["times"][job["best"]] / job["times"]["coopmat"] if job["best"] else float("nan")


def _beside(theirs: dict[str, Any] | str, job: dict[str, Any]) -> str:
    """Intel's time and its ratio to ours, or why there is none."""
    if isinstance(theirs, str):
        return theirs
    seconds = theirs["times"]["coopmat"]
    return f"{_time(seconds)}, {seconds / job['times']['coopmat']:.2f}"


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


# ------------------------------------------------------------------------------ processes


def _on_cpu(plan: Plan, threads: int) -> Iterator[dict[str, Any]]:
    """What is found of ``cpu``: the roofs, then each job."""
    with _child_of(plan, threads, ["cpu"]) as child:
        for found in _lines(child):
            if "times" in found:
                print(f"| {' | '.join(_cells(found))} |", file=sys.stderr, flush=True)
            yield found
    if child.returncode:
        raise SystemExit(f"the measurement with {threads} threads ended with {child.returncode}")


def _on_intel(plan: Plan, threads: int, jobs: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """What Intel's runtime does with the same jobs, by their numbers: the figures, or why there are none. A job that
    ends the process is passed over by the next one."""
    if not INTEL.exists():
        print(f"Intel's runtime is not at {INTEL}", file=sys.stderr)
        return
    left = [job["number"] for job in jobs if "times" in job]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "intel.icd").write_text(f"{INTEL}\n")
        variables = {"OCL_ICD_VENDORS": folder, "LD_LIBRARY_PATH": str(INTEL.parent)}
        while left:
            with _child_of(plan, threads, ["opencl:0", "--numbers", ",".join(map(str, left))], variables) as child:
                for found in _lines(child):
                    left.remove(found["number"])
                    yield found["number"], found.get("error") or found
            if left and child.returncode:
                yield left.pop(0), f"ended ({child.returncode})"


def _child_of(plan: Plan, threads: int, words: list[str], variables: dict[str, str] | None = None
              ) -> subprocess.Popen[str]:
    """A process with so many threads that measures."""
    environment = os.environ | dict.fromkeys(VARIABLES, str(threads)) | (variables or {})
    command = [sys.executable, __file__, "--threads", str(threads), *plan.words, "--child", *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def _lines(child: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert child.stdout is not None
    return map(json.loads, child.stdout)


def _child(plan: Plan, threads: int, device: str, numbers: frozenset[int]) -> None:
    from intel_jobs import intel_jobs
    from kernel_jobs import Jobs
    from loop_jobs import loop_jobs
    from product_jobs import product_jobs
    from roofs import roofs

    import coopmat as cm

    is_cpu = device == "cpu"
    queue = cm.Queue(cm.device(device, options=cm.CpuOptions(threads=threads)) if is_cpu else cm.device(device))
    jobs = Jobs(queue)
    clock = time.process_time if threads == 1 else time.perf_counter
    pause = SPINNING_SECONDS if threads > 1 and is_cpu else 0
    if is_cpu:
        print(json.dumps({"threads": threads, "roofs": roofs(queue, threads, clock)}), flush=True)
    sources = (*(jobs.products(size) for size in plan.sizes), *(intel_jobs(jobs, size) for size in plan.sizes),
               *(product_jobs(jobs, size) for size in plan.sizes), jobs.thin_products(), jobs.others(),
               loop_jobs(queue))
    for number, make in enumerate(chain.from_iterable(sources)):
        if numbers and number not in numbers:
            continue
        try:
            job = make()
            if plan.only in job.name:
                found = _timed(job, plan.repeat, clock, pause, with_peers=is_cpu)
                print(json.dumps({"threads": threads, "number": number} | found), flush=True)
        except (cm.Error, WrongResult) as error:
            if is_cpu:
                raise SystemExit(str(error)) from None
            print(json.dumps({"number": number, "error": type(error).__name__}), flush=True)


def _timed(job: Any, repeat: int, clock: Callable[[], float], pause: float, *, with_peers: bool) -> dict[str, Any]:
    """The times of a job, in seconds; WrongResult if its result is wrong. ``pause``: between turns, in which the
    threads of others fall asleep."""
    start = time.perf_counter()
    job.run()
    first = time.perf_counter() - start
    if not job.error() <= job.allowed:
        raise WrongResult(f"{job.name}: off by {job.error():.3g}, more than {job.allowed:.3g}")
    actions = {"coopmat": job.run} | (job.peers if with_peers else {})
    counts = {name: _turns(action) for name, action in actions.items()}
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeat):
        for name, action in actions.items():
            time.sleep(pause)
            action()
            start = clock()
            for _ in range(counts[name]):
                action()
            times[name].append((clock() - start) / counts[name])
    medians = {name: statistics.median(found) for name, found in times.items()}
    return {"name": job.name, "times": medians, "first": first, "floor": job.floor, "operations": job.operations,
            "traffic": job.traffic, "best": min(job.peers, key=lambda name: medians.get(name, 0), default="")}


def _turns(action: Callable[[], object]) -> int:
    """How often an action is repeated in a measured run."""
    action()
    start = time.perf_counter()
    action()
    return max(1, int(LEAST_SECONDS / max(1e-6, time.perf_counter() - start)))


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", default="", help="numbers of threads, such as 1,2; by default one and all")
    parser.add_argument("--sizes", default="1024,2048", help="of square products")
    parser.add_argument("--only", default="", help="jobs with this in their names")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--intel", action="store_true", help="Intel's OpenCL runtime beside them")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--numbers", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    threads, sizes, numbers = (tuple(int(one) for one in text.split(",") if one)
                               for text in (given.threads, given.sizes, given.numbers))
    plan = Plan(given.repeat, sizes, given.only)
    if given.child:
        _child(plan, threads[0], given.child, frozenset(numbers))
    else:
        run(plan, threads, intel=given.intel, target=given.json)


if __name__ == "__main__":
    main()
