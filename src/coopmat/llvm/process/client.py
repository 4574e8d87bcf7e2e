"""The client of the helper process that LLVM runs in (:mod:`coopmat.llvm.process.worker`).

The process is started by the first request and lives as long as this one does. If LLVM ends it, or a request
takes too long, the request fails with a :class:`coopmat.diagnostics.Error` that holds LLVM's message, and the
next request starts another process.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coopmat.diagnostics import CompileError, Diagnostic, Error, SourceFile, SourceLocation
from coopmat.llvm.process import worker
from coopmat.llvm.process.worker import Answer
from coopmat.support.forks import after_fork

TIME_LIMIT_VARIABLE = "COOPMAT_LLVM_TIME_LIMIT"
DEFAULT_TIME_LIMIT = 60.0  # seconds
HOST = ""
"""The triple that stands for this machine's."""
MESSAGE_LIMIT = 4000  # characters of LLVM's own text in an error


def time_limit() -> float:
    """Seconds that a request may take: ``COOPMAT_LLVM_TIME_LIMIT``, or 60."""
    text = os.environ.get(TIME_LIMIT_VARIABLE)
    if not text:
        return DEFAULT_TIME_LIMIT
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise Error(f"{TIME_LIMIT_VARIABLE}: expected a positive number of seconds, found '{text}'")
    return seconds


class WorkerDied(Exception):
    """The helper process ended during a request. ``log`` is what it wrote to its standard error."""

    def __init__(self, status: int, log: str, *, expired: bool, was_idle: bool) -> None:
        super().__init__(log)
        self.status = status
        self.log = log
        self.expired = expired
        self.was_idle = was_idle


class Worker:
    """One helper process."""

    def __init__(self) -> None:
        if not sys.executable:
            raise Error("LLVM runs in a Python process of its own, but sys.executable names no interpreter")
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - open as long as the process is
        self._served = 0
        self._expired = False
        self._process = subprocess.Popen(
            [sys.executable, "-P", worker.__file__, _llvmlite_folder(), str(os.getpid())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, bufsize=0,
            env=os.environ | {"LLVM_DISABLE_SYMBOLIZATION": "1"})

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def exchange(self, header: dict[str, Any], data: bytes, limit: float) -> Answer:
        """Send a request and wait for its answer. Raises WorkerDied after which this object is of no use."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        os.lseek(self._log.fileno(), 0, os.SEEK_SET)
        os.ftruncate(self._log.fileno(), 0)
        timer = threading.Timer(limit, self._expire)
        timer.daemon = True
        timer.start()
        try:
            worker.write_message(self._process.stdin.fileno(), header, data)
            answer = worker.read_message(self._process.stdout.fileno())
        except (EOFError, OSError):
            raise self._post_mortem() from None
        except BaseException:  # Ctrl-C: the answer would be taken for the next request's
            self.close(at_once=True)
            raise
        finally:
            timer.cancel()
        self._served += 1
        return answer

    def _expire(self) -> None:
        self._expired = True
        self._process.kill()

    def _post_mortem(self) -> WorkerDied:
        self._end(at_once=False)
        os.lseek(self._log.fileno(), 0, os.SEEK_SET)
        log = self._log.read().decode(errors="replace")
        return WorkerDied(self._process.returncode, log, expired=self._expired, was_idle=self._served > 0)

    def close(self, *, at_once: bool) -> None:
        """End the process and wait for its end."""
        self._end(at_once)
        self._log.close()

    def _end(self, at_once: bool) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        if at_once:
            self._process.kill()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Let go of a process that belongs to another process, the one that forked this one."""
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                stream.close()
        self._process.returncode = 0  # it is not ours to wait for


def _llvmlite_folder() -> str:
    """The folder that llvmlite is imported from, found without importing it."""
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise Error("llvmlite is not installed: 'pip install llvmlite' installs it")
    return str(Path(spec.origin).parents[1])


class Client:
    """Sends requests to a helper process, which it starts when needed. Safe with threads and forks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        atexit.register(self.close)
        after_fork(self._after_fork)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        if self._worker is not None:
            self._worker.forget()
            self._worker = None

    @property
    def worker(self) -> Worker:
        """The process that the next request goes to."""
        if self._worker is not None and not self._worker.is_alive:
            self._discard()
        if self._worker is None:
            try:
                self._worker = Worker()
            except OSError as error:
                raise Error(f"the helper process for LLVM could not be started: {error}") from error
        return self._worker

    def _discard(self) -> None:
        gone, self._worker = self._worker, None
        if gone is not None:
            gone.close(at_once=True)

    def close(self) -> None:
        """End the helper process, if there is one."""
        if self._lock.acquire(timeout=1):
            try:
                if self._worker is not None:
                    self._worker.close(at_once=False)
                    self._worker = None
            finally:
                self._lock.release()

    def request(self, command: str, ir: str, *, source_name: str = "<llvm>",
                **options: object) -> Answer:
        """One request; see the worker for the commands. Raises CompileError or Error if LLVM objects."""
        source = SourceFile(source_name, ir)
        data = _encode(source)
        header = {"command": command, **options}
        limit = time_limit()
        with self._lock:
            try:
                answer, result = self._exchange(header, data, limit)
            except WorkerDied as death:
                raise _error_of_death(death, source, limit) from None
        if "error" in answer:
            raise rejection(answer["stage"], answer["error"], source)
        return answer, result

    def _exchange(self, header: dict[str, Any], data: bytes, limit: float) -> Answer:
        try:
            return self._attempt(header, data, limit)
        except WorkerDied as death:
            # One that was used before may have been ended from outside while it was idle.
            if death.was_idle and not death.expired and not death.log.strip():
                return self._attempt(header, data, limit)
            raise

    def _attempt(self, header: dict[str, Any], data: bytes, limit: float) -> Answer:
        try:
            return self.worker.exchange(header, data, limit)
        except BaseException:
            self._discard()
            raise


MOST_DIGITS = 10_000
_LONG_NUMBER = re.compile(rf"[0-9]{{{MOST_DIGITS + 1},}}")
_OUTSIDE_TEXT = re.compile(rf'"[^"]*+"|;[^\n]*+|({_LONG_NUMBER.pattern})')


def _encode(source: SourceFile) -> bytes:
    """The text for LLVM, which takes neither NUL characters nor lone surrogates, and a very long time for a number of
    very many digits."""
    bad = re.search("[\0\ud800-\udfff]", source.text)
    if bad is not None:
        message = f"character U+{ord(bad.group()):04X} cannot stand in LLVM IR; expected UTF-8 text without NUL"
        raise CompileError([Diagnostic("error", message, SourceLocation.at(source, bad.start()))])
    for found in _OUTSIDE_TEXT.finditer(source.text) if _LONG_NUMBER.search(source.text) else ():
        if found[1] is not None:
            message = f"a number of {len(found[1])} digits is too long; at most {MOST_DIGITS} are supported"
            raise CompileError([Diagnostic("error", message, SourceLocation.at(source, found.start()))])
    return source.text.encode()


# --------------------------------------------------------------------------------------
# LLVM's messages
# --------------------------------------------------------------------------------------

_PLACE = re.compile(r"<string>:(\d+):(\d+): error: (.*)")
_ASSERTION = re.compile(r"Assertion `(.*)' failed", re.DOTALL)
_FATAL = re.compile(r"(?:LLVM ERROR|error): (.*?)(?:\nPLEASE submit|\nStack dump|\Z)", re.DOTALL)


def rejection(stage: str, message: str, source: SourceFile) -> Error:
    """The error for text that LLVM's parser or verifier does not accept."""
    place = _PLACE.search(message)
    if place is not None:
        location = SourceLocation(source, int(place.group(1)), int(place.group(2)))
        return CompileError([Diagnostic("error", place.group(3), location)])
    text = message.strip().removeprefix("LLVM IR parsing error").strip()[:MESSAGE_LIMIT]
    label = {"verify": "LLVM's verifier: "}.get(stage, "")
    return CompileError([Diagnostic("error", f"{label}{text}", SourceLocation.whole(source))])


def _error_of_death(death: WorkerDied, source: SourceFile, limit: float) -> Error:
    if death.expired:
        return Error(f"{source.name}: LLVM did not finish within {limit:g} seconds and was stopped "
                     f"({TIME_LIMIT_VARIABLE} sets the limit)")
    message = fatal_message(death.log)
    if message is None:
        message = f"the helper process ended without a message ({_ending(death.status)})"
        if "ImportError" in death.log or "ModuleNotFoundError" in death.log:
            message = f"llvmlite cannot be loaded: {death.log.strip().splitlines()[-1]}"
    return CompileError([Diagnostic("error", f"LLVM: {message}", SourceLocation.whole(source))])


def fatal_message(log: str) -> str | None:
    """What LLVM said before it ended its process; None if nothing of the kind is in ``log``."""
    assertion = _ASSERTION.search(log)
    if assertion is not None:
        return f"assertion failed: {assertion.group(1)}"[:MESSAGE_LIMIT]
    fatal = _FATAL.search(log)
    return fatal.group(1).strip()[:MESSAGE_LIMIT] if fatal is not None else None


def _ending(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


_client = Client()


def verify(ir: str, *, source_name: str = "<llvm>") -> None:
    """Raise :class:`coopmat.diagnostics.CompileError` with LLVM's message unless the IR is well formed."""
    declarations(ir, source_name=source_name)


def declarations(ir: str, *, source_name: str = "<llvm>") -> list[tuple[str, str]]:
    """Parse and verify IR; name and LLVM type of every function that it declares and does not define."""
    answer, _ = _client.request("declarations", ir, source_name=source_name)
    return [(name, type_) for name, type_ in answer["declarations"]]


def printed(ir: str, *, source_name: str = "<llvm>") -> str:
    """IR as LLVM prints it: each instruction on a line of its own."""
    return _client.request("print", ir, source_name=source_name)[1].decode()


def optimize(ir: str, level: int, *, source_name: str = "<llvm>") -> str:
    """What LLVM's optimiser makes of IR at ``level`` (0 to 3)."""
    return _client.request("optimize", ir, source_name=source_name, level=level)[1].decode()


def emit_spirv(ir: str, renames: Mapping[str, str], *, source_name: str = "<llvm>") -> bytes:
    """What LLVM's SPIR-V back end makes of IR, in which functions are renamed first."""
    return _client.request("spirv", ir, source_name=source_name, renames=dict(renames))[1]


def compile(ir: str, triple: str, cpu: str, features: str, level: int, emit: str, *, libraries: Sequence[str] = (),
            joins_phis: bool = False, source_name: str = "<llvm>") -> bytes:
    """IR optimised at ``level`` (0 to 3) for a processor of the target ``triple``: as IR, assembly or an object file
    (``emit``: "ir", "asm", "object").  The module gets the target's triple and data layout, whatever it had, and of
    ``libraries``, files of bitcode, what it calls. ``joins_phis``: whether values are looked for that are alike in
    every turn of a loop."""
    return _client.request("compile", ir, source_name=source_name, triple=triple, cpu=cpu, features=features,
                           level=level, emit=emit, libraries=list(libraries), joins_phis=joins_phis)[1]


def compile_for_host(ir: str, cpu: str, features: str, level: int, emit: str, *, source_name: str = "<llvm>") -> bytes:
    """:func:`compile` for a processor of this machine's architecture."""
    return compile(ir, HOST, cpu, features, level, emit, source_name=source_name)
