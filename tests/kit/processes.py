"""Programs in Python as a user runs them, each in a process of its own.

To start one and to import everything takes longer than most of them run: the processes are forked from one that has
imported this project, and done nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import BaseContext
from pathlib import Path

IMPORTED = ("numpy", "ml_dtypes", "llvmlite.binding", "rich.table", "rich.progress", "coopmat.sycl",
            "coopmat.command_line.main", "coopmat.runtime.building", "coopmat.opencl", "coopmat.lowering",
            "coopmat.spirv.validate", "coopmat.llvm", "coopmat.targets.simulator.program",
            "coopmat.targets.cpu.program", "coopmat.targets.llvm.emitter", "coopmat.numerics")
"""What most programs use."""
FAILED = 1


@cache
def _context() -> BaseContext | None:
    """None where processes cannot be forked."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return None
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(list(IMPORTED))
    return found


def run_module(name: str, arguments: Sequence[str], *, cwd: Path | None = None, timeout: float = 120
               ) -> subprocess.CompletedProcess[str]:
    """What ``python -m NAME ARGUMENTS`` answers."""
    return _run(["-m", name], arguments, cwd, timeout)


def run_file(path: Path, arguments: Sequence[str] = (), *, cwd: Path | None = None, timeout: float = 120
             ) -> subprocess.CompletedProcess[str]:
    """What ``python PATH ARGUMENTS`` answers."""
    return _run([str(path)], arguments, cwd, timeout)


def _run(what: list[str], arguments: Sequence[str], cwd: Path | None, timeout: float
         ) -> subprocess.CompletedProcess[str]:
    command, context = [*what, *arguments], _context()
    if context is None:
        return subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True, timeout=timeout,
                              check=False)
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("out", "err")]
        child = context.Process(target=_child, args=(  # type: ignore[attr-defined]
            command, str(cwd or Path.cwd()), dict(os.environ), [str(one) for one in streams]))
        child.start()
        child.join(timeout)
        if child.exitcode is None:
            child.kill()
            child.join()
            raise subprocess.TimeoutExpired(command, timeout)
        out, err = (one.read_text(errors="backslashreplace") if one.exists() else "" for one in streams)
        return subprocess.CompletedProcess([sys.executable, *command], child.exitcode, out, err)


def _child(command: list[str], cwd: str, environment: Mapping[str, str], streams: Sequence[str]) -> None:
    """Run in the new process."""
    for number, path in enumerate((os.devnull, *streams)):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, encoding="utf-8") for number, mode in
                                         enumerate("rww"))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    os._exit(_outcome(command))


def _outcome(command: list[str]) -> int:
    """The exit code of a command."""
    try:
        if command[0] == "-m":
            sys.argv = command[1:]
            sys.path.insert(0, str(Path.cwd()))
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = command
            sys.path.insert(0, str(Path(command[0]).parent))
            runpy.run_path(command[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else FAILED
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = FAILED
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = FAILED
    return code
