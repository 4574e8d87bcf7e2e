"""What a tuning tried: every configuration with its times, or the reason why it has none."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.diagnostics import Error, shortened
from coopmat.support.files import write_atomically
from coopmat.tuning.config import Config, size_text

if TYPE_CHECKING:
    from rich.console import Group

TIMED, SLOW, PRUNED, WRONG, FAILED = "timed", "slow", "pruned", "wrong", "failed"
"""What can become of a configuration: it is timed; it was given up after one repetition, as far slower than the best;
the device, the launch or the user's function refuses it before anything runs; its results are wrong; it failed."""


@dataclass(frozen=True)
class Trial:
    """What became of one configuration. Sizes are in the order of the launch; quantiles, in seconds, are those that
    the report names; none where it was not timed."""

    config: Config
    status: str
    reason: str = ""
    global_size: tuple[int, ...] | None = None
    local_size: tuple[int, ...] | None = None
    median: float | None = None
    quantiles: tuple[float, ...] = ()
    repetitions: int = 0

    def timed(self, status: str, times: Sequence[float], quantiles: Sequence[float], reason: str = "") -> Trial:
        """The same with times."""
        found = tuple(float(one) for one in np.quantile(times, quantiles))
        return Trial(self.config, status, reason, self.global_size, self.local_size, float(np.median(times)), found,
                     len(times))

    def to_json(self) -> dict[str, Any]:
        """Everything about it."""
        return {"values": {str(name): _plain(value) for name, value in self.config.values.items()},
                "options": list(self.config.options),
                "global_size": self.global_size and list(self.global_size),
                "local_size": self.local_size and list(self.local_size),
                "status": self.status, "reason": self.reason, "median": self.median,
                "quantiles": list(self.quantiles), "repetitions": self.repetitions}

    @classmethod
    def from_json(cls, config: Config, saved: Mapping[str, Any]) -> Trial:
        """The trial of a configuration as :meth:`to_json` wrote it."""
        sizes = [None if saved[name] is None else tuple(saved[name]) for name in ("global_size", "local_size")]
        return cls(config, saved["status"], saved["reason"], sizes[0], sizes[1], saved["median"],
                   tuple(saved["quantiles"]), saved["repetitions"])


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


@dataclass(frozen=True)
class Report:
    """What a tuning found.

    key: the values, as texts, of the arguments for which it was made. trials: in the order in which the configurations
    were given. best: the place of the fastest among them. quantile_names: which the trials have. note: what to know of
    the times, such as whether clocks are locked. flush: whether caches were emptied before each repetition.
    is_from_cache: whether the times are those of an earlier process.
    """

    kernel: str
    device: str
    hardware: str
    key: Mapping[str, str]
    trials: tuple[Trial, ...]
    quantile_names: tuple[float, ...]
    note: str
    flush: bool
    is_from_cache: bool = field(default=False, compare=False)

    @property
    def best_index(self) -> int:
        """The place of the fastest configuration. Error, with every reason, if there is none."""
        timed = [index for index, trial in enumerate(self.trials) if trial.status == TIMED]
        if not timed:
            raise Error(self.failure())
        return min(timed, key=lambda index: self.trials[index].median or 0)

    @property
    def best(self) -> Trial:
        """The fastest configuration. Error, with every reason, if there is none."""
        return self.trials[self.best_index]

    def reasons(self) -> list[str]:
        """Why configurations were not timed: each reason once, with the first configuration that has it."""
        found: dict[str, list[Trial]] = {}
        for trial in self.trials:
            if trial.status not in (TIMED, SLOW):
                found.setdefault(f"{trial.status}: {shortened(trial.reason)}", []).append(trial)
        return [f"{trials[0].config}{f' and {len(trials) - 1} more' if len(trials) > 1 else ''}: {reason}"
                for reason, trials in found.items()]

    def failure(self) -> str:
        """The message that no configuration can be used, with every reason."""
        count = len(self.trials)
        whole = "the only configuration cannot" if count == 1 else f"none of {count} configurations can"
        return "\n".join([f"kernel '{self.kernel}' on {self.device}: {whole} be used:",
                          *(f"  {line}" for line in self.reasons())])

    # --- forms ------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON has it; ``best`` is an index into ``configurations``, or null."""
        is_any_timed = any(trial.status == TIMED for trial in self.trials)
        return {"kernel": self.kernel, "device": self.device, "hardware": self.hardware, "key": dict(self.key),
                "note": self.note, "flush": self.flush, "from_cache": self.is_from_cache,
                "quantile_names": list(self.quantile_names), "best": self.best_index if is_any_timed else None,
                "configurations": [trial.to_json() for trial in self.trials]}

    def json_text(self) -> str:
        """:meth:`to_json` as a text."""
        return json.dumps(self.to_json(), indent=1) + "\n"

    @classmethod
    def from_json(cls, saved: Mapping[str, Any], configs: Sequence[Config]) -> Report:
        """The report on configurations as :meth:`to_json` wrote it, as one from the cache. ValueError, LookupError or
        TypeError if it is none."""
        trials = tuple(map(Trial.from_json, configs, saved["configurations"]))
        if len(configs) != len(saved["configurations"]):
            raise ValueError("another number of configurations")
        return cls(saved["kernel"], saved["device"], saved["hardware"], saved["key"], trials,
                   tuple(saved["quantile_names"]), saved["note"], saved["flush"], is_from_cache=True)

    def to_csv(self) -> str:
        """The table as comma-separated values, times in seconds."""
        names = list(dict.fromkeys(str(name) for trial in self.trials for name in trial.config.values))
        stream = io.StringIO()
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow([*names, "options", "global_size", "local_size", "status", "median",
                       *(f"q{quantile:g}" for quantile in self.quantile_names), "repetitions", "reason"])
        for trial in self.trials:
            one = trial.to_json()
            quantiles = trial.quantiles or ("",) * len(self.quantile_names)
            rows.writerow([*(one["values"].get(name, "") for name in names), " ".join(one["options"]),
                           *(size_text(size or ()) for size in (trial.global_size, trial.local_size)), trial.status,
                           "" if trial.median is None else trial.median, *quantiles, trial.repetitions, trial.reason])
        return stream.getvalue()

    def save(self, path: str | Path) -> None:
        """Write a file, whole or not at all: JSON if its name ends in ``.json``, else comma-separated values."""
        path = Path(path)
        write_atomically(path, (self.json_text() if path.suffix == ".json" else self.to_csv()).encode())

    def __rich__(self) -> Group:
        """What rich prints: a table, the fastest configuration first, and why others have no times."""
        from rich.console import Group
        from rich.markup import escape
        from rich.text import Text

        from coopmat.support.terminal import table

        quantiles = [f"{quantile:.0%}" for quantile in self.quantile_names]
        key = "".join(f", {name} = {value}" for name, value in self.key.items())
        result = table("configuration", "global", "local", "status", "median", *quantiles, "/ best", "runs",
                       title=escape(f"{self.kernel} on {self.device}{key}"))
        best = min((trial.median for trial in self.trials if trial.status == TIMED and trial.median), default=None)
        for trial in sorted(self.trials, key=lambda one: (one.median is None, one.status != TIMED, one.median or 0)):
            result.add_row(*map(escape, _cells(trial, best, len(quantiles))))
        earlier = "; times of an earlier run" if self.is_from_cache else ""
        return Group(result, *map(Text, [*self.reasons(), f"{self.hardware}; {self.note}{earlier}"]))

    def __str__(self) -> str:
        from coopmat.support.terminal import console

        screen = console()
        with screen.capture() as captured:
            screen.print(self)
        return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _cells(trial: Trial, best: float | None, quantiles: int) -> list[str]:
    sizes = [_size(given) for given in (trial.global_size or trial.config.global_size,
                                        trial.local_size or trial.config.local_size)]
    config = str(Config(trial.config.values, options=trial.config.options))
    if trial.median is None:
        return [config, *sizes, trial.status, *[""] * (quantiles + 3)]
    ratio = "" if best is None else f"{trial.median / best:.2f}"
    return [config, *sizes, trial.status, duration(trial.median), *map(duration, trial.quantiles), ratio,
            str(trial.repetitions)]


def _size(given: Any) -> str:
    if given is None or callable(given):
        return ""
    return ",".join(map(str, given)) if isinstance(given, Sequence) and not isinstance(given, str) else str(given)


def reason_of(error: Exception) -> str:
    """What is said of an exception; those of other libraries do not always tell what they are."""
    text = str(error).strip()
    return text if isinstance(error, Error) else f"{type(error).__name__}: {text}"


def duration(seconds: float) -> str:
    """``12.3 us``."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}" if seconds * scale < 999.5 else f"{seconds * scale:.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
