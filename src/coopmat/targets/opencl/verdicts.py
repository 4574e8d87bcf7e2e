"""What a driver really does: small launches in child processes whose results are known, and verdicts that are kept.

What came of a launch is kept for a driver, its version and its chip (:attr:`DriverDevice.identity`), the settings that
the driver works with, and the module that was tried.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.diagnostics import KernelNotSupported
from coopmat.support.cache import find_cache, key
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.base.children import Ending
from coopmat.targets.base.matrix_probe import KERNEL, MatrixProbe
from coopmat.targets.opencl import bfloat16
from coopmat.targets.opencl.declarations import declared_for
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.host.trial import Trial, launched

Check = Callable[[Sequence[np.ndarray[Any, Any]]], bool]


@dataclass(frozen=True)
class Verdict:
    """Whether something works, and if not, what happens instead."""

    works: bool
    reason: str = ""

    def __str__(self) -> str:
        return "works" if self.works else self.reason


def matrix_verdicts(device: DriverDevice, probes: Sequence[MatrixProbe],
                    environment: Mapping[str, str]) -> list[Verdict]:
    """Whether the driver computes products of matrices."""
    found: dict[MatrixProbe, Verdict] = {}
    trials: dict[MatrixProbe, Trial] = {}
    for probe in probes:
        if not probe.is_possible:
            found[probe] = Verdict(False, "no product of such elements can be tried")
            continue
        try:
            trials[probe] = _matrix_trial(device, probe)
        except KernelNotSupported as error:
            found[probe] = Verdict(False, str(error))
    checks = [probe.is_right for probe in trials]
    found.update(zip(trials, verdicts(device, list(trials.values()), checks, environment), strict=True))
    return [found[probe] for probe in probes]


def _matrix_trial(device: DriverDevice, probe: MatrixProbe) -> Trial:
    """A launch of one product. KernelNotSupported if the driver says that it lacks what the module needs."""
    module = declared_for(device, bfloat16.replaced(probe.module(), device))
    size = (probe.sub_group_size,)
    return Trial(module.to_bytes(), KERNEL, size, size, tuple(probe.arguments()))


def verdicts(device: DriverDevice, trials: Sequence[Trial], checks: Sequence[Check],
             environment: Mapping[str, str]) -> list[Verdict]:
    """The verdict about each trial; ``checks`` say of its arguments after the launch whether they are right."""
    found = outcomes(device, trials, environment)
    return [_verdict(*one) for one in zip(found, checks, trials, strict=True)]


def outcomes(device: DriverDevice, trials: Sequence[Trial], environment: Mapping[str, str]) -> list[Any]:
    """What has become of each trial: its arguments after the launch, or what went wrong. Those that are not known yet
    are done, by one thread; what took too long is tried again by other processes."""
    with _LOCK:
        return _outcomes(device, trials, environment)


def _outcomes(device: DriverDevice, trials: Sequence[Trial], environment: Mapping[str, str]) -> list[Any]:
    names = [key("opencl trial", device.identity, repr(sorted(environment.items())), pickle.dumps(trial))
             for trial in trials]
    found = {name: _KNOWN[name] for name in names if name in _KNOWN}
    kept = find_cache()
    for name in names:
        content = kept.get(name) if name not in found else None
        if content is not None:
            found[name] = pickle.loads(content)
    missing = [place for place, name in enumerate(names) if name not in found]
    for place, result in zip(missing, launched(device, [trials[place] for place in missing], environment), strict=True):
        found[names[place]] = result
        if not (isinstance(result, Ending) and result.is_late):
            kept.put(names[place], pickle.dumps(result))
    _KNOWN.update(found)
    return [found[name] for name in names]


_KNOWN: dict[str, Any] = {}
"""The outcomes of this process."""
_LOCK = ForkSafeLock()


def _verdict(result: Any, is_right: Check, trial: Trial) -> Verdict:
    if isinstance(result, Ending):
        return Verdict(False, f"the process that tried it {result}")
    if isinstance(result, str):
        return Verdict(False, result)
    if isinstance(result, Exception):
        return Verdict(False, f"it cannot be tried: {result}")
    if is_right(result):
        return Verdict(True)
    same = all(np.array_equal(before, after) for before, after in zip(trial.arguments, result, strict=True))
    return Verdict(False, "the driver accepts it and writes nothing" if same else "the driver computes it wrong")
