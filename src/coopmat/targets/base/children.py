"""Work in child processes: what may end its process, such as the first use of a driver, is done there.

A child imports one function and calls it with one job after the other. When it dies, or a job takes too long, that job
gets an :class:`Ending` in the place of an answer, and the jobs after it go to another child.
"""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from coopmat.diagnostics import Error

_SIZE = struct.Struct("<Q")
_MOST_WORDS = 600  # characters of what a child wrote before its end


@dataclass(frozen=True)
class Ending:
    """Why a job has no answer: ``reason`` completes 'the process …'; ``log``: what it wrote; ``is_late``: it might have
    answered later, and on a machine that has less to do."""

    reason: str
    log: str = ""
    is_late: bool = False

    def __str__(self) -> str:
        return self.reason


class Child:
    """A process that imports ``function``, named as ``package.module:function``, and answers jobs until it dies."""

    def __init__(self, function: str, environment: Mapping[str, str] | None = None) -> None:
        """Error if there is no interpreter to start."""
        if not sys.executable:
            raise Error("drivers are tried out in a Python process of their own, but sys.executable names no "
                        "interpreter")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process is
        self._process = subprocess.Popen([sys.executable, "-P", "-m", __name__, function], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=self._log, env=_environment(environment))
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._inbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        threading.Thread(target=_serve, args=(self._process.stdin, self._process.stdout, self._jobs, self._inbox),
                         daemon=True).start()
        self.is_alive = True

    def ask(self, job: Any, seconds: float) -> Any:
        """The answer to a job, or an Ending, after which the process is no more."""
        self._jobs.put(job)
        try:
            got = self._inbox.get(timeout=seconds)
            if got is not None:
                return pickle.loads(got)
            return _ending(self._process.wait(timeout=seconds), self._log)
        except (queue.Empty, subprocess.TimeoutExpired):
            got = None
            return Ending(f"did not end within {seconds:g} s", is_late=True)
        finally:
            if got is None:
                self.close()

    def close(self) -> None:
        """End the process."""
        self.is_alive = False
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._jobs.put(_STOP)


_STOP = object()


def answers(function: str, jobs: Sequence[Any], *, seconds: float,
            environment: Mapping[str, str] | None = None) -> list[Any]:
    """What ``function``, named as ``package.module:function``, returns for each job, or an Ending.

    Jobs and answers are pickled; an exception of the function is an answer, too, and raised by nobody. ``seconds``:
    that one job may take, the start of the child included. Error if there is no interpreter to start.
    """
    found: list[Any] = []
    child: Child | None = None
    try:
        for job in jobs:
            if child is None or not child.is_alive:
                child = Child(function, environment)
            found.append(child.ask(job, seconds))
    finally:
        if child is not None and child.is_alive:
            child.close()
    return found


def answer(function: str, job: Any, *, seconds: float, environment: Mapping[str, str] | None = None) -> Any:
    """The same for one job."""
    return answers(function, [job], seconds=seconds, environment=environment)[0]


def _serve(stdin: IO[bytes], stdout: IO[bytes], jobs: queue.SimpleQueue[Any],
           inbox: queue.SimpleQueue[bytes | None]) -> None:
    """Send the jobs and pass the answers on; None at the child's end."""
    try:
        with stdin, stdout:
            while (job := jobs.get()) is not _STOP:
                _write(stdin, pickle.dumps(job))
                message = _read(stdout)
                inbox.put(message)
                if message is None:
                    return
    except OSError:
        inbox.put(None)


def _ending(status: int, log: IO[bytes]) -> Ending:
    log.seek(0)
    words = log.read().decode(errors="replace").strip()
    if len(words) > _MOST_WORDS:  # reasons come first or last, and stacks between them
        words = f"{words[:_MOST_WORDS // 2]} … {words[-_MOST_WORDS // 2:]}"
    if status >= 0:
        return Ending(f"ended with exit code {status}", words)
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return Ending(f"was ended by {name}", words)


def _environment(changes: Mapping[str, str] | None) -> dict[str, str]:
    """The variables of a child: this process's, with its way to find modules."""
    here = str(Path(__file__).parents[3])
    path = os.pathsep.join(dict.fromkeys([here, *filter(None, sys.path)]))
    return {**os.environ, "PYTHONPATH": path, **(changes or {})}


def _write(stream: IO[bytes], message: bytes) -> None:
    stream.write(_SIZE.pack(len(message)) + message)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes | None:
    head = stream.read(_SIZE.size)
    if len(head) < _SIZE.size:
        return None
    size, = _SIZE.unpack(head)
    body = stream.read(size)
    return body if len(body) == size else None


# --------------------------------------------------------------------------- the child


def _jobs(stream: IO[bytes]) -> Iterator[Any]:
    while (message := _read(stream)) is not None:
        yield pickle.loads(message)


def _main(name: str) -> None:
    """Answer jobs until there are no more. Drivers write to standard output: it leads to the log."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, attribute = name.partition(":")
    function: Callable[[Any], Any] = getattr(importlib.import_module(module), attribute)
    for job in _jobs(sys.stdin.buffer):
        try:
            found = pickle.dumps(function(job))
        except Exception as error:
            found = pickle.dumps(_plain(error))
        _write(output, found)
    os._exit(0)  # drivers crash when they are unloaded, too


def _plain(error: Exception) -> Exception:
    """The error in a form that another process can read."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return Error(f"{type(error).__name__}: {error}")
    return error


if __name__ == "__main__":
    _main(sys.argv[1])
