"""Many runs of a function, one for each configuration, on the cores of this machine or on a farm (docs/farm.md)."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coopmat.diagnostics import Error, value_text
from coopmat.machines.farms import MISSING, Farm, farm
from coopmat.machines.kernel_runs import KernelRun, check_configuration
from coopmat.machines.places import Died, Function, Local, Machine, OnFarm
from coopmat.machines.record import Record, Row, key_of
from coopmat.runtime import Kernel
from coopmat.support.terminal import progress_bar

DEATHS = 3
"""Processes that one configuration may end before it is given up."""
BATCHES = 8  # for each process, so that all end at about the same time
LONGEST_BATCH = 64
LOCAL = "local"


@dataclass(frozen=True)
class Outcome:
    """What became of a configuration: the function's value, or the error that it raised, as text; how many seconds it
    took, and whether that is from a record."""

    configuration: Any
    value: Any = None
    error: str | None = None
    seconds: float = 0.0
    is_recorded: bool = False


@dataclass(frozen=True)
class _Job:
    """A configuration to be run, and its key in the record. is_suspect: a process has ended when this was one of those
    that ran, so that it runs alone from now on; deaths: how many have ended since."""

    key: str
    configuration: Any
    is_suspect: bool = False
    deaths: int = 0


def sweep(function: Function | Kernel, configurations: Iterable[Any], *, on: str | Farm = LOCAL,
          record: Path | str | None = None, progress: bool = True, processes: int | None = None) -> Iterator[Outcome]:
    """Call ``function`` with each configuration, in other processes; the outcomes as they come.

    function: takes a configuration and gives a value; both must survive pickling (functions of a script do, too). Or a
        kernel of a built program, whose configurations are launches: dicts of ``global_size`` and ``arguments``, and
        perhaps ``local_size`` and ``device``, a name; the value is the list of the arguments after the launch, in
        copies.
    on: ``"local"`` for processes of this machine, or a farm: a Farm, or ``"dask://host:port"``.
    record: a file (sqlite) of what has been found, which is written as outcomes come: a sweep that is started again
        with it has those at once, but for errors, which are tried again. It is for one version of the function.
    progress: whether a bar shows how far it is, where the standard error output is a terminal.
    processes: of this machine; by default one for each core.

    An error of the function is an outcome. So is a configuration that has ended three processes; all others of its
    batch run again. Raises Error if the function or a configuration cannot be sent, and if the farm is gone.
    """
    configurations = list(configurations)
    if isinstance(function, Kernel):
        for one in configurations:
            check_configuration(one)
        function = KernelRun.of(function)
        name = function.name
    else:
        name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', value_text(function))}"
    jobs = [_Job(key_of(name, one), one) for one in configurations]
    _check_sent(function)
    machine = _machine(on, processes)
    return _outcomes(function, jobs, machine, Record(record), name.rpartition(".")[2], progress)


def _machine(on: str | Farm, processes: int | None) -> Machine:
    if isinstance(on, Farm):
        return OnFarm(on)
    if not isinstance(on, str):
        raise Error(f"a sweep runs on 'local' or on a farm; found {value_text(on)}")
    return Local(processes) if on == LOCAL else OnFarm(farm(on))


def _check_sent(function: Function) -> None:
    try:
        import cloudpickle
        import loky as loky  # which has no stub: it is tried here, where it can be told how to get it
    except ImportError as error:
        raise Error(f"{MISSING}, and what sweeps need ({error})") from None
    try:
        cloudpickle.dumps(function)
    except Exception as error:
        raise Error(f"the function {value_text(function)} cannot be sent to another process: {error}") from None


def _outcomes(function: Function, jobs: Sequence[_Job], machine: Machine, record: Record, name: str,
              progress: bool) -> Iterator[Outcome]:
    known = record.found(job.key for job in jobs)
    waiting = []
    with progress_bar(name, len(jobs), is_shown=progress) as begin:
        for job in jobs:
            row = known.get(job.key)
            if row is not None and row[2] is None:
                begin("recorded")
                yield Outcome(job.configuration, pickle.loads(row[1] or b""), None, row[3], is_recorded=True)
            else:
                waiting.append(job)
        try:
            for found in _batches(function, waiting, machine):
                record.add(_row(job, one) for job, one in found)
                for _, one in found:
                    begin(value_text(one.configuration))
                    yield one
        finally:
            record.close()


def _row(job: _Job, outcome: Outcome) -> Row:
    value = pickle.dumps(outcome.value) if outcome.error is None else None
    return job.key, value, outcome.error, outcome.seconds


def _batches(function: Function, jobs: Sequence[_Job], machine: Machine) -> Iterator[list[tuple[_Job, Outcome]]]:
    """The outcomes of batches as they come. What was in a batch whose process has ended runs again, one by one, and
    alone where that does not tell which one it was."""
    size = max(1, min(LONGEST_BATCH, len(jobs) // (machine.processes * BATCHES)))
    waiting = [list(jobs[first:first + size]) for first in range(0, len(jobs), size)][::-1]
    running: dict[Any, list[_Job]] = {}
    try:
        while waiting or running:
            while waiting and _may_start(waiting[-1], running, 2 * machine.processes):
                batch = waiting.pop()
                running[machine.submit(function, [job.configuration for job in batch])] = batch
            for future in machine.completed(list(running)):
                batch = running.pop(future)
                try:
                    found = machine.result(future)
                except Died as error:
                    again, given_up = _after_death(batch, error)
                    waiting[:0] = again  # the others first
                    if given_up:
                        yield given_up
                else:
                    yield [(job, Outcome(job.configuration, *one)) for job, one in zip(batch, found, strict=True)]
    finally:
        machine.give_up(list(running))


def _may_start(batch: list[_Job], running: Mapping[Any, list[_Job]], most: int) -> bool:
    if batch[0].is_suspect or any(one[0].is_suspect for one in running.values()):
        return not running
    return len(running) < most


def _after_death(batch: list[_Job], error: Died) -> tuple[list[list[_Job]], list[tuple[_Job, Outcome]]]:
    """The batches that take the place of one whose process has ended, and what is given up."""
    job = batch[0]
    if len(batch) > 1:
        return [[one] for one in batch], []
    if not job.is_suspect:
        return [[replace(job, is_suspect=True)]], []
    job = replace(job, deaths=job.deaths + error.deaths)
    if job.deaths < DEATHS:
        return [[job]], []
    text = f"in quarantine: it has ended {job.deaths} processes ({error})"
    return [], [(job, Outcome(job.configuration, None, text))]
