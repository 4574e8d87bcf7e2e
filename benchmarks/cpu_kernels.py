"""Kernels as people write them on the CPU, beside what computes the same: oneDNN (PyTorch), numpy's BLAS and LAPACK.

Each number of threads has a process of its own, as BLAS reads it when it starts. A kernel and its peers run by turns;
the ratio is that of the medians. With one thread the time is that of the processor, which other processes disturb less.

    python benchmarks/cpu_kernels.py --threads 1,2 --sizes 1024,2048 --only attention
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from figures import Figure

from coopmat.command_line.gemm_bench import SPINNING_SECONDS
from coopmat.support.terminal import console, table
from coopmat.targets.cpu.options import available_cores

SIZES = (1024, 2048, 4096)
LEAST_SECONDS = 0.05  # of a measured run
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "COOPMAT_NUM_THREADS")


def run(repeat: int, threads: tuple[int, ...] = (), sizes: tuple[int, ...] = SIZES[:2], only: str = "") -> list[Figure]:
    """Measure, and print a table; each of its rows also on the standard error when it is known, so that a run that is
    killed has told what it found."""
    rows = table("kernels as people write them", "threads", "kernel", "first launch", "peer", "ratio", "to reach")
    figures = []
    try:
        for count in threads or tuple(sorted({1, available_cores()})):
            for found in _measured(repeat, count, sizes, only):
                times, best = found["times"], found["best"]
                ratio = times[best] / times["coopmat"] if best else float("nan")
                cells = (found["name"], str(count), _time(times["coopmat"]), f"{found['first']:.2f} s",
                         f"{best} {_time(times[best])}" if best else "none", f"{ratio:.2f}", f"{found['floor']:.2f}")
                rows.add_row(*cells)
                print(f"| {' | '.join(cells)} |", file=sys.stderr, flush=True)
                figures.append(Figure.of(f"{found['name']}, threads: {count}", "of its peer", [ratio]))
    finally:
        console().print(rows)
    return figures


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


def _measured(repeat: int, threads: int, sizes: tuple[int, ...], only: str) -> Iterator[dict[str, Any]]:
    """What a process with so many threads finds."""
    environment = os.environ | dict.fromkeys(VARIABLES, str(threads))
    command = [sys.executable, __file__, "--child", "--threads", str(threads), "--repeat", str(repeat), "--sizes",
               ",".join(map(str, sizes)), "--only", only]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            yield json.loads(line)
    if child.returncode:
        raise SystemExit(f"the measurement with {threads} threads ended with {child.returncode}")


# ------------------------------------------------------------------------------ in a process


def _child(repeat: int, threads: int, sizes: tuple[int, ...], only: str) -> None:
    from kernel_jobs import Jobs
    from loop_jobs import loop_jobs

    import coopmat as cm

    jobs = Jobs(cm.Queue(cm.device("cpu", options=cm.CpuOptions(threads=threads))))
    clock = time.process_time if threads == 1 else time.perf_counter
    for source in (*(jobs.products(size) for size in sizes), jobs.others(), loop_jobs(jobs.queue)):
        for job in source:
            if only in job.name:
                print(json.dumps(_timed(job, repeat, clock, SPINNING_SECONDS if threads > 1 else 0)), flush=True)


def _timed(job: Any, repeat: int, clock: Callable[[], float], pause: float) -> dict[str, Any]:
    """The times of a job, in seconds; SystemExit if its result is wrong. ``pause``: between turns, in which the threads
    of others fall asleep."""
    start = time.perf_counter()
    job.run()
    first = time.perf_counter() - start
    if not job.error() <= job.allowed:
        raise SystemExit(f"{job.name}: off by {job.error():.3g}, more than {job.allowed:.3g}")
    actions = {"coopmat": job.run, **job.peers}
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
    return {"name": job.name, "times": medians, "first": first, "floor": job.floor,
            "best": min(job.peers, key=medians.__getitem__, default="")}


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
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    threads, sizes = (tuple(int(one) for one in text.split(",") if one) for text in (given.threads, given.sizes))
    if given.child:
        _child(given.repeat, threads[0], sizes, given.only)
    else:
        run(given.repeat, threads, sizes, given.only)


if __name__ == "__main__":
    main()
