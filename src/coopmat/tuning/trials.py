"""Trying configurations: each is built, run, checked and timed; the arrays are the same before each and afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, KernelNotSupported, LaunchError, value_text
from coopmat.runtime.program import Kernel
from coopmat.runtime.queue import Queue
from coopmat.runtime.selection import device as find_device
from coopmat.runtime.timing import Restore
from coopmat.support.terminal import progress_bar
from coopmat.tuning.benchmark import REP, WARMUP, is_doubtful, measure
from coopmat.tuning.config import Config
from coopmat.tuning.launches import Launch, Request
from coopmat.tuning.report import FAILED, PRUNED, SLOW, TIMED, WRONG, Report, Trial, reason_of
from coopmat.tuning.sources import TunedSource

Arguments = Mapping[str, Any]
Prune = Callable[[Config, Arguments], object]
"""True, or the reason as a text, for a configuration that is not to be tried."""
Check = Callable[[Arguments], object] | Mapping[Any, Any]
"""A function of the arguments after a launch, which returns False or raises an exception where they are wrong; or the
values that some of them, by name or index, must have."""

QUANTILES = (0.2, 0.8)


@dataclass(frozen=True)
class Settings:
    """How configurations are tried; :func:`coopmat.autotune` explains them."""

    prune: Prune | None = None
    check: Check | None = None
    restore: Sequence[str | int] | None = None
    early_stop: float | None = 3.0
    warmup: float = WARMUP
    rep: float = REP
    flush: bool = True
    quantiles: tuple[float, ...] = QUANTILES
    bounds: bool = False
    progress: bool = True


class Tuning:
    """One tuning: for one launch on one device. ``arguments`` are those of the launch by name; ``kernel`` is that of
    any configuration, which says what it writes."""

    def __init__(self, source: TunedSource, request: Request, settings: Settings, kernel: Kernel,
                 arguments: Arguments) -> None:
        self._source = source
        self._request = request
        self._settings = settings
        self._arguments = arguments
        self._queue = request.queue
        self._name = kernel.name
        self._timer = request.queue.device.timer()
        self._check = _checker(settings.check, arguments)
        self._snapshots = self._taken(kernel)

    def report(self, configs: Sequence[Config], key: Mapping[str, str]) -> Report:
        """Try all configurations. What the kernel writes has its old content afterwards."""
        trials: list[Trial] = []
        best: float | None = None
        name, device = self._name, self._queue.device.name
        try:
            with progress_bar(f"tuning {name} on {device}", len(configs), is_shown=self._settings.progress) as begin:
                for config in configs:
                    begin(str(config))
                    trials.append(self._trial(config, best))
                    if trials[-1].status == TIMED:
                        best = min(best or np.inf, trials[-1].median or np.inf)
        finally:
            self._restore()
        return Report(name, device, self._timer.hardware, key, tuple(trials), self._settings.quantiles,
                      self._timer.note, self._settings.flush)

    # --- one configuration ------------------------------------------------------------

    def _trial(self, config: Config, best: float | None) -> Trial:
        trial = Trial(config, FAILED)
        try:
            reason = self._settings.prune and self._settings.prune(config, self._arguments)
            if reason:
                return replace(trial, status=PRUNED, reason=reason if isinstance(reason, str) else "by prune=")
            launch = self._request.launch(self._source, config)
            trial = replace(trial, global_size=launch.shown[0], local_size=launch.shown[1])
            launch.make_ready(self._queue)
            if self._settings.bounds:
                self._run_checked(config)
            self._restore()
            first = launch.run(self._queue).wait().elapsed
        except (LaunchError, KernelNotSupported) as error:  # before anything runs
            return replace(trial, status=PRUNED, reason=str(error))
        except Exception as error:  # of the kernel, or of the user's functions: the other configurations are tried
            return replace(trial, status=FAILED, reason=reason_of(error))
        try:
            self._check(launch.values)
        except Exception as error:
            return replace(trial, status=WRONG, reason=reason_of(error))
        return self._timed(trial, launch, first, best)

    def _timed(self, trial: Trial, launch: Launch, first: float, best: float | None) -> Trial:
        settings, limit = self._settings, self._settings.early_stop

        def run() -> object:
            return launch.run(self._queue)

        try:
            if limit and best is not None and first > limit * best:
                once = self._timer.times(run, 1, before=self._restore, flush=settings.flush)  # the first may compile
                while once[-1] > limit * best and is_doubtful(once):
                    once += self._timer.times(run, 1, before=self._restore, flush=settings.flush)
                if once[-1] > limit * best:
                    return trial.timed(SLOW, once, settings.quantiles,
                                       f"more than {limit:g} times the best; not repeated")
            times = measure(run, self._timer, warmup=settings.warmup, rep=settings.rep, flush=settings.flush,
                            before=self._restore, is_warm=True)
        except Error as error:
            return replace(trial, status=FAILED, reason=reason_of(error))
        return trial.timed(TIMED, times, settings.quantiles)

    def _run_checked(self, config: Config) -> None:
        """Run a configuration once with checks for accesses outside of buffers, if the device's options have them, and
        they are off."""
        options = self._queue.device.options
        if getattr(options, "bounds", True):
            return
        queue = Queue(find_device(self._queue.device, options=replace(options, bounds=True)))
        self._restore()
        replace(self._request, queue=queue).launch(self._source, config).run(queue).wait()

    # --- what the kernel writes -------------------------------------------------------

    def _taken(self, kernel: Kernel) -> list[Restore]:
        names = [parameter.name for parameter in kernel.signature.parameters
                 if parameter.kind == "global" and not parameter.const]
        if self._settings.restore is not None:
            names = [_named("restore", one, list(self._arguments)) for one in self._settings.restore]
        found = (self._queue.device.snapshot(self._arguments[name]) for name in names if name in self._arguments)
        return [one for one in found if one is not None]

    def _restore(self) -> None:
        for restore in self._snapshots:
            restore()


def _named(option: str, given: Any, names: Sequence[str]) -> str:
    """The name of an argument that is given by name or index."""
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(names):
        return names[given]
    if given not in names:
        raise Error(f"{option}: the kernel has no argument {value_text(given)}; it has {', '.join(names)}")
    return str(given)


# --------------------------------------------------------------------------------- check


def _checker(check: Check | None, arguments: Arguments) -> Callable[[Sequence[Any]], None]:
    """What raises an exception if the arguments, after a launch, are wrong."""
    names = list(arguments)
    if check is None:
        return lambda _: None
    if isinstance(check, Mapping):
        expected = {_named("check", one, names): value for one, value in check.items()}
        return lambda values: _compare(expected, dict(zip(names, values, strict=False)))
    if not callable(check):
        raise Error("check takes a function of the arguments, or a dict from names to the values that they must have; "
                    f"found {value_text(check)}")

    def by_function(values: Sequence[Any]) -> None:
        verdict = check(dict(zip(names, values, strict=False)))
        if verdict is not None and not verdict:
            raise Error("check= says so")

    return by_function


def _compare(expected: Mapping[str, Any], found: Arguments) -> None:
    for name, wanted in expected.items():
        difference = wrong_elements(np.asarray(found[name]), np.asarray(wanted))
        if difference:
            raise Error(f"{name}: {difference}")


def wrong_elements(found: np.ndarray, wanted: np.ndarray) -> str:
    """What differs, as a text; none if nothing does. Integers must be equal; floating-point numbers may differ by the
    square root of their type's epsilon, of the largest magnitude that is expected."""
    if found.size != wanted.size:
        return f"{found.size} elements, expected {wanted.size}"
    got, want = found.reshape(-1), wanted.reshape(-1)
    if want.dtype.type is np.void and want.itemsize == got.itemsize:  # as numpy's files have bfloat16
        want = want.view(got.dtype)
    if got.dtype.kind in "iub" and want.dtype.kind in "iub":
        wrong = got != want
    else:
        import ml_dtypes

        epsilon = max(float(ml_dtypes.finfo(one.dtype).eps) for one in (got, want) if one.dtype.kind not in "iub")
        got, want = got.astype(np.float64), want.astype(np.float64)
        finite = want[np.isfinite(want)]
        tolerance = epsilon**0.5 * float(np.abs(finite).max(initial=0.0))
        with np.errstate(invalid="ignore"):
            wrong = ~((np.abs(got - want) <= tolerance) | (got == want) | (np.isnan(got) & np.isnan(want)))
    places = np.flatnonzero(wrong)
    if not places.size:
        return ""
    first = int(places[0])
    return f"{places.size} of {got.size} elements are wrong: element {first} is {got[first]}, expected {want[first]}"
