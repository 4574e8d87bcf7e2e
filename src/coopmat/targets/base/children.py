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
_LAST_WORDS = 600  # characters of what a child wrote before its end


@dataclass(frozen=True)
class Ending:
    """Why a job has no answer: ``reason`` completes 'the process …'; ``log`` is the end of what it wrote."""

    reason: str
    log: str = ""

    def __str__(self) -> str:
        return self.reason


def answers(function: str, jobs: Sequence[Any], *, seconds: float,
            environment: Mapping[str, str] | None = None) -> list[Any]:
    """What ``function``, named as ``package.module:function``, returns for each job, or an Ending.

    Jobs and answers are pickled; an exception of the function is an answer, too, and raised by nobody. ``seconds``:
    that one job may take, the start of the child included. Error if there is no interpreter to start.
    """
    if not sys.executable:
        raise Error("drivers are tried out in a Python process of their own, but sys.executable names no interpreter")
    found: list[Any] = []
    while len(found) < len(jobs):
        found += _of_one_child(function, jobs[len(found):], seconds, environment)
    return found


def answer(function: str, job: Any, *, seconds: float, environment: Mapping[str, str] | None = None) -> Any:
    """The same for one job."""
    return answers(function, [job], seconds=seconds, environment=environment)[0]


def _of_one_child(function: str, jobs: Sequence[Any], seconds: float,
                  environment: Mapping[str, str] | None) -> list[Any]:
    """The answers of one child: to all jobs, or up to the one that ended it."""
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen([sys.executable, "-P", "-m", __name__, function], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=log, env=_environment(environment))
        assert child.stdin is not None
        assert child.stdout is not None
        inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(child.stdin, child.stdout, jobs, inbox), daemon=True).start()
        found: list[Any] = []
        try:
            while len(found) < len(jobs):
                got = inbox.get(timeout=seconds)
                if got is None:
                    found.append(_ending(child.wait(timeout=seconds), log))
                    break
                found.append(pickle.loads(got))
        except (queue.Empty, subprocess.TimeoutExpired):
            found.append(Ending(f"did not end within {seconds:g} s"))
        finally:
            child.kill()
            child.wait()
    return found


def _serve(stdin: IO[bytes], stdout: IO[bytes], jobs: Sequence[Any], inbox: queue.SimpleQueue[Any]) -> None:
    """Send the jobs and pass the answers on; None at the child's end."""
    try:
        with stdin, stdout:
            for job in jobs:
                _write(stdin, pickle.dumps(job))
                message = _read(stdout)
                inbox.put(message)
                if message is None:
                    return
    except OSError:
        inbox.put(None)


def _ending(status: int, log: IO[bytes]) -> Ending:
    log.seek(0)
    words = log.read().decode(errors="replace").strip()[-_LAST_WORDS:]
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
