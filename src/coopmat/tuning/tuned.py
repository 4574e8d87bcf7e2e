"""``autotune``: kernels that find the fastest of several configurations when they are launched first."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, KernelNotSupported, value_text
from coopmat.runtime.arrays import array_over
from coopmat.runtime.building import Source
from coopmat.runtime.device import Device
from coopmat.runtime.events import Event
from coopmat.runtime.launchable import Launchable
from coopmat.runtime.options import Options
from coopmat.runtime.program import Kernel, Program
from coopmat.runtime.queue import Queue
from coopmat.support.cache import content_digest, find_cache
from coopmat.support.cache import key as cache_key
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.base.local_memory import LocalMemory
from coopmat.tuning.benchmark import REP, WARMUP, check_times, checked_quantiles
from coopmat.tuning.config import Config, Configs, configurations, identity_of
from coopmat.tuning.launches import Request, constants, is_choice
from coopmat.tuning.report import FAILED, PRUNED, Report, Trial, reason_of
from coopmat.tuning.sources import ProgramSource, TunedSource, source_of
from coopmat.tuning.trials import QUANTILES, Check, Prune, Settings, Tuning

GLOBAL_SIZE = "global_size"
"""What names the global size in ``key``."""

_ONE_AT_A_TIME = ForkSafeLock(threading.RLock)
"""Two tunings at the same time would each be in the other's times."""


@dataclass(frozen=True)
class Choice:
    """What was found for a device and values of the key."""

    config: Config
    report: Report


class Tuned(Launchable):
    """A kernel with configurations; :func:`autotune` makes it. It is launched as kernels are, by ``queue.enqueue`` and,
    if it is written in Python, ``queue.parallel_for``: the first launch for each device and each set of values of the
    ``key`` tries all configurations, and later ones use the fastest.
    """

    def __init__(self, source: TunedSource, configs: Sequence[Config], key: Sequence[str], settings: Settings,
                 cache_dir: str | Path | None) -> None:
        source.check(configs)
        self.configs = list(configs)
        self.key = tuple(key)
        self.__name__ = self.name = source.name
        self._source = source
        self._settings = settings
        self._cache_dir = cache_dir
        self._named_by: dict[Device, Config] = {}
        """A configuration that can be built for a device, whose kernel says how parameters are called."""
        self._choices: dict[tuple[Device, tuple[str, ...]], Choice] = {}
        self._last: Choice | None = None

    # --- launching --------------------------------------------------------------------

    def enqueue(self, queue: Queue, global_size: Any, local_size: Any, args: Sequence[Any],
                named: Mapping[str, Any]) -> Event:
        """See :meth:`coopmat.Queue.enqueue`. Sizes and arguments may be functions of configuration and arguments."""
        return self._run(Request(queue, global_size, local_size, args, named))

    def parallel_for(self, queue: Queue, nd_range: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Event:
        """See :meth:`coopmat.Queue.parallel_for`. The nd_range and arguments may be functions of configuration and
        arguments."""
        return self._run(Request(queue, nd_range, None, args, named, is_sycl=True))

    def _run(self, request: Request) -> Event:
        config, kernel = self._named_kernel(request.queue.device)
        arguments = self._source.arguments(config, kernel, request.args, request.named)
        values = {name: self._key_text(name, arguments, request) for name in self.key}
        known = request.queue.device, tuple(values.values())
        choice = self._choices.get(known)
        if choice is None:
            with _ONE_AT_A_TIME:
                choice = self._choices.get(known) or self._choose(request, kernel, arguments, values)
            self._choices[known] = choice
        self._last = choice
        return request.launch(self._source, choice.config).run(request.queue)

    def kernel(self, device: Device) -> Kernel:
        """The kernel of a configuration that can be built for a device: its parameters are those of all. Error, with
        every reason, if none can."""
        return self._named_kernel(device)[1]

    def _named_kernel(self, device: Device) -> tuple[Config, Kernel]:
        failures: list[Trial] = []
        known = self._named_by.get(device)
        for config in self.configs if known is None else [known]:
            try:
                kernel = self._source.kernel(config, device)
            except Exception as error:  # the user's function may raise any
                status = PRUNED if isinstance(error, KernelNotSupported) else FAILED
                failures.append(Trial(config, status, reason_of(error)))
                continue
            self._named_by[device] = config
            return config, kernel
        raise Error(Report(self.name, device.name, "", {}, tuple(failures), (), "", False).failure())

    def _choose(self, request: Request, kernel: Kernel, arguments: Mapping[str, Any],
                values: Mapping[str, str]) -> Choice:
        """The fastest configuration: from the cache, or found by trying all."""
        cache = find_cache(self._cache_dir)
        entry = self._entry(request, values) if cache.folder is not None else None
        report = None if entry is None else self._saved(cache.get(entry), request.queue.device)
        if report is None:
            tuning = Tuning(self._source, request, self._settings, kernel, constants(arguments))
            report = tuning.report(self.configs, values)
            config = report.best.config
            if entry is not None:
                record = {"report": report.to_json(), "digest": self._digest(config, request.queue.device)}
                cache.put(entry, json.dumps(record).encode())
            self._source.forget_all_but(config)
        return Choice(report.best.config, report)

    # --- the key ----------------------------------------------------------------------

    def _key_text(self, name: str, arguments: Mapping[str, Any], request: Request) -> str:
        if name in arguments:
            if is_choice(arguments[name]):
                raise Error(f"key: the argument '{name}' is a function of the configuration; the key is made of "
                            "arguments that all configurations share")
            return key_text(arguments[name])
        if name == GLOBAL_SIZE:
            given = request.global_size
            return key_text(getattr(given, "global_range", identity_of(given) if callable(given) else given))
        raise Error(f"key: kernel '{self.name}' has no argument {value_text(name)}; it has "
                    f"{', '.join(arguments) or 'none'}; '{GLOBAL_SIZE}' stands for the global size")

    # --- results ----------------------------------------------------------------------

    def best(self, key: Any = None, device: Device | None = None) -> Config:
        """The configuration that was found: for the last launch, or for values of the key: a dict by name, a sequence
        in the key's order, or the value of a key of one. Arrays stand for their shape and type. Error if none was found
        for them yet."""
        return self._choice(key, device).config

    @property
    def report(self) -> Report:
        """What was tried for the last launch. Error if there was none."""
        return self._choice(None, None).report

    def reports(self) -> list[Report]:
        """What was tried, for each device and each set of values of the key."""
        return [choice.report for choice in self._choices.values()]

    def _choice(self, key: Any, device: Device | None) -> Choice:
        if key is None:
            found = [self._last] if self._last is not None else []
        else:
            if isinstance(key, Mapping):
                given = [key[name] for name in self.key if name in key]
            else:
                given = list(key) if isinstance(key, tuple | list) and len(self.key) != 1 else [key]
                given = list(key) if len(self.key) == 1 and isinstance(key, tuple | list) and len(key) == 1 else given
            texts = tuple(map(key_text, given))
            found = [choice for (where, values), choice in self._choices.items()
                     if values == texts and device in (None, where)]
        if not found:
            known = "; ".join(f"{where.name} {' '.join(values)}".strip() for where, values in self._choices)
            raise Error(f"kernel '{self.name}' was not tuned{'' if key is None else f' for {value_text(key)}'} yet: "
                        f"launch it{f' (it was for: {known})' if known else ''}")
        return found[-1]

    # --- the cache --------------------------------------------------------------------

    def _entry(self, request: Request, values: Mapping[str, str]) -> str | None:
        """The key of the result in a cache; None if what it depends on cannot be said."""
        source = self._source.key(self.configs)
        if source is None:
            return None
        device = request.queue.device
        settings = [identity_of(value) for name, value in sorted(vars(self._settings).items()) if name != "check"]
        check = self._settings.check
        checked = ([(name, identity_of(np.asarray(value))) for name, value in check.items()]
                   if isinstance(check, Mapping) else identity_of(check))
        return cache_key("tuning", source, repr([config.identity for config in self.configs]), repr(dict(values)),
                         repr(device.identity), device.timer().hardware, repr(settings), repr(checked))

    def _saved(self, content: bytes | None, device: Device) -> Report | None:
        """The report that was kept, if its best configuration compiles to what it was: a file that the source includes
        may have changed."""
        try:
            saved = json.loads(content or b"null")
            report = Report.from_json(saved["report"], self.configs)
            return report if self._digest(report.best.config, device) == saved["digest"] else None
        except (Error, ValueError, LookupError, TypeError):
            return None

    def _digest(self, config: Config, device: Device) -> str:
        return content_digest(self._source.kernel(config, device).program.spirv)

    def __repr__(self) -> str:
        return f"<coopmat.autotune {self.name}: {len(self.configs)} configurations>"


def key_text(value: Any) -> str:
    """What counts of an argument in the key: of arrays type and shape, of local memory its size, else the value."""
    if isinstance(value, LocalMemory):
        return f"local:{value.nbytes}"
    if isinstance(value, bool | int | float | np.integer | np.floating | np.bool_):
        return repr(value.item() if isinstance(value, np.generic) else value)
    array = None if value is None or isinstance(value, tuple | list) else array_over(value)
    if array is not None:
        return f"{array.dtype}[{','.join(map(str, array.shape))}]"
    return value_text(value)


def autotune(configs: Configs, key: Sequence[str] = (), *, source: Source | Program | None = None,
             kernel: str | None = None, options: Options = (), link: Sequence[Source] = (),
             prune: Prune | None = None, check: Check | None = None,
             restore: Sequence[str | int] | None = None, early_stop: float | None = 3.0, warmup: float = WARMUP,
             rep: float = REP, flush: bool = True, quantiles: Sequence[float] = QUANTILES, bounds: bool = False,
             cache_dir: str | Path | None = None, progress: bool = True) -> Any:
    """A kernel that finds the fastest of several configurations when it is launched first: as a decorator of a kernel
    in Python, or of a function that makes one; with ``source``, of a kernel in any other form.

        @cm.autotune({"TILE": [8, 16], "local_size": [(16, 1), (32, 1)]}, key=["n"])
        @kernel
        def product(item: nd_item[2], …): …

        product = cm.autotune({"TILE": [8, 16]}, source=pathlib.Path("product.cl"), kernel="product")

    configs: a list of :class:`coopmat.Config`, or ranges: a dict from names to the values that each is tried with, in
        every combination (docs/tuning.md says what the names stand for).
    key: names of arguments; for each new set of their values (of arrays, type and shape) the kernel is tuned again.
        ``"global_size"`` stands for that of the launch.
    source, kernel, options, link: as :func:`coopmat.build` takes them, or a built program; the kernel's name, if there
        are several.
    prune: a function of configuration and arguments (by name) that returns True, or a reason, for what is not to be
        tried.
    check: a function of the arguments after a launch that returns False, or raises an exception, where the results are
        wrong; or a dict from names to the expected values.
    restore: the arguments, by name or index, that get their content back before each run and at the end; by default all
        memory that the kernel may write.
    early_stop: a configuration that takes more than so many times the best one's time is not repeated; None
        repeats all.
    warmup, rep, flush: as :func:`coopmat.do_bench` has them. quantiles: those that the report has beside the median.
    bounds: each configuration runs once with checks for accesses outside of buffers, on the CPU, too, before it is
        timed without.
    cache_dir: the folder in which results are kept, or ``"off"``; by default that of compiled programs.
    progress: whether a bar shows how far it is, where the standard error output is a terminal.

    Configurations that the device refuses, that fail, or whose results are wrong are in the report, with their reasons.
    The launch raises Error, listing these, if none is left.
    """
    check_times(warmup, rep)
    if early_stop is not None and not (isinstance(early_stop, int | float) and early_stop >= 1):
        raise Error(f"early_stop is a number of at least 1, or None; found {value_text(early_stop)}")
    if isinstance(key, str) or not all(isinstance(name, str) for name in key):
        raise Error(f"key takes a list of names of arguments, such as ['n']; found {value_text(key)}")
    settings = Settings(prune, check, restore, early_stop, warmup, rep, flush, tuple(checked_quantiles(quantiles)),
                        bounds, progress)
    chosen = configurations(configs)
    if source is not None:
        return Tuned(ProgramSource(source, kernel, options, link, cache_dir), chosen, key, settings, cache_dir)
    if kernel is not None or options or link:
        raise Error("kernel=, options= and link= belong to a source: autotune(configs, source=…)")

    def decorate(function: Callable[..., Any]) -> Tuned:
        return Tuned(source_of(function), chosen, key, settings, cache_dir)

    return decorate
