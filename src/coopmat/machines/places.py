"""Where the batches of a sweep run: processes of this machine, or workers of a farm."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from coopmat.diagnostics import Error
from coopmat.machines.farms import Farm
from coopmat.machines.worker import VERSION

DASKS_TRIES = 4
"""Workers that a task has ended when Dask gives it up."""
Function = Callable[[Any], Any]
Result = tuple[Any, str | None, float]
"""A value, an error's text, and seconds."""


class Died(Exception):
    """A process has ended while it ran a batch. ``deaths``: how many have, one after the other."""

    def __init__(self, message: str, deaths: int = 1) -> None:
        self.deaths = deaths
        super().__init__(message)


class Machine(Protocol):
    """Runs batches. ``processes``: how many at once."""

    processes: int

    def submit(self, function: Function, configurations: Sequence[Any]) -> Any:
        """Begin a batch; its future."""

    def completed(self, futures: Sequence[Any]) -> Iterable[Any]:
        """The futures that are done, as soon as one is."""

    def result(self, future: Any) -> list[Result]:
        """What a batch gave. Died if its process has ended."""

    def give_up(self, futures: Sequence[Any]) -> None:
        """End batches that nobody wants any more."""


def run_all(function: Function, configurations: Sequence[Any]) -> list[Result]:
    """What a function makes of each configuration; runs in another process."""
    found: list[Result] = []
    for one in configurations:
        start = time.perf_counter()
        try:
            value, error = function(one), None
        except Exception as raised:
            value, error = None, f"{type(raised).__name__}: {raised}"
        found.append((value, error, time.perf_counter() - start))
    return found


def run_sent(content: bytes) -> list[Result]:
    """:func:`run_all` of a function and configurations that were pickled: schedulers, which have nothing of what they
    name, only pass them on."""
    return run_all(*pickle.loads(content))


class Local:
    """Processes of this machine, by loky, which starts others where some have ended."""

    def __init__(self, processes: int | None) -> None:
        from coopmat.targets.cpu.options import available_cores

        self.processes = processes if processes is not None else available_cores()

    def submit(self, function: Function, configurations: Sequence[Any]) -> Any:
        """See :class:`Machine`."""
        from loky import get_reusable_executor

        return get_reusable_executor(max_workers=self.processes).submit(run_all, function, configurations)

    def completed(self, futures: Sequence[Any]) -> Iterable[Any]:
        """See :class:`Machine`."""
        from concurrent.futures import FIRST_COMPLETED, wait

        return wait(futures, return_when=FIRST_COMPLETED).done

    def result(self, future: Any) -> list[Result]:
        """See :class:`Machine`."""
        from concurrent.futures import BrokenExecutor

        try:
            found: list[Result] = future.result()
        except BrokenExecutor as error:
            raise Died(str(error).split("\n")[0]) from None
        return found

    def give_up(self, futures: Sequence[Any]) -> None:
        """See :class:`Machine`. Other sweeps of this process go on with other processes."""
        from loky import get_reusable_executor

        if futures:  # otherwise the interpreter would wait for them when it ends
            get_reusable_executor(max_workers=self.processes).shutdown(kill_workers=True)


class OnFarm:
    """Workers of a farm."""

    def __init__(self, on: Farm) -> None:
        self.farm = on
        self.processes = max(1, len(on.workers()))

    def submit(self, function: Function, configurations: Sequence[Any]) -> Any:
        """See :class:`Machine`."""
        import cloudpickle

        content = cloudpickle.dumps((function, list(configurations)))
        return self.farm.client.submit(run_sent, content, pure=False, resources={VERSION: 1})

    def completed(self, futures: Sequence[Any]) -> Iterable[Any]:
        """See :class:`Machine`. Error if the scheduler is gone."""
        from distributed import wait
        from distributed.client import FuturesCancelledError

        while True:
            try:
                with self.farm.client.as_current():
                    return list(wait(futures, timeout=1, return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                self.farm.check()
            except FuturesCancelledError:
                raise Error(f"the scheduler of {self.farm.address} is gone, or was, and what it had to do with it: "
                            "start the sweep again; with a record it goes on") from None

    def result(self, future: Any) -> list[Result]:
        """See :class:`Machine`."""
        from distributed import KilledWorker

        try:
            found: list[Result] = future.result()
        except KilledWorker as error:
            raise Died(f"the last one on {error.last_worker.address}", DASKS_TRIES) from None
        except ModuleNotFoundError as error:
            raise Error(f"workers of {self.farm.address} do not have what the function needs: {error}. Functions of "
                        "the script itself are sent; modules beside it must be installed there") from None
        return found

    def give_up(self, futures: Sequence[Any]) -> None:
        """See :class:`Machine`. Those that run go on until a configuration has ended."""
        for future in futures:
            future.cancel()
