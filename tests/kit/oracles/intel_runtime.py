"""Intel's CPU runtime for OpenCL as an oracle: runs SPIR-V kernels in a child process.

``pip install pyopencl intel-opencl-rt intel-cmplr-lib-rt`` into the tests' environment. The runtime aborts
its process on what it does not know, hence the child, after whose end there is another one.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from coopmat.targets.base.children import Child, Ending


def library() -> Path | None:
    """The runtime's shared library, or None if it (or pyopencl) is not installed here."""
    if importlib.util.find_spec("pyopencl") is None:
        return None
    found = Path(sys.prefix) / "lib" / "libintelocl.so"
    return found if found.exists() else None


@cache
def has_matrices() -> bool:
    """Whether the runtime can compute matrices here: it does so with AMX."""
    try:
        return library() is not None and "amx_tile" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def environment(folder: Path) -> dict[str, str]:
    """Variables for a child process that find the runtime; writes the file that names it to ``folder``."""
    return {**os.environ, **_variables(folder)}


def _variables(folder: Path) -> dict[str, str]:
    """Those of them that are the runtime's."""
    path = library()
    assert path is not None
    (folder / "intel.icd").write_text(f"{path}\n")
    variables = {"OCL_ICD_VENDORS": str(folder), "LD_LIBRARY_PATH": str(path.parent), "PYOPENCL_NO_CACHE": "1"}
    # The runtime does not find AMX by itself.
    return variables | ({"CL_CONFIG_CPU_TARGET_ARCH": "sapphirerapids"} if has_matrices() else {})


def run(spirv: bytes, kernel: str, global_size: tuple[int, ...], local_size: tuple[int, ...],
        arguments: list[Any]) -> list[Any]:
    """Launch ``kernel`` and return the arguments as they are afterwards.

    An argument is an array (of no dimension, or bytes, for a value), or ``("local", nbytes)``. Raises RuntimeError if
    the runtime fails.
    """
    return run_printing(spirv, kernel, global_size, local_size, arguments)[0]


def run_printing(spirv: bytes, kernel: str, global_size: tuple[int, ...], local_size: tuple[int, ...],
                 arguments: list[Any]) -> tuple[list[Any], bytes]:
    """As :func:`run`; returns also what the kernel printed."""
    found = _child().ask((spirv, kernel, global_size, local_size, arguments), SECONDS)
    if isinstance(found, Ending):
        raise RuntimeError(f"the process {found}: {found.log}")
    if isinstance(found, Exception):
        raise RuntimeError(f"{type(found).__name__}: {found}")
    result: tuple[list[Any], bytes] = found
    return result


# ------------------------------------------------------------------------ the child

SECONDS = 120.0
"""That one launch may take."""
_children: list[Child] = []


def _child() -> Child:
    """A process that sees the runtime: the last one, if it still lives."""
    if not _children or not _children[-1].is_alive:
        with contextlib.ExitStack() as at_exit:
            folder = at_exit.enter_context(tempfile.TemporaryDirectory())
            _children[:] = [Child(f"{__name__}:launch", _variables(Path(folder)))]
            at_exit.callback(_children[-1].close)
            atexit.register(at_exit.pop_all().close)
    return _children[-1]


def launch(job: tuple[Any, ...]) -> tuple[list[Any], bytes]:
    """In the child: build, launch, and say what became of the arguments, and what was printed."""
    import pyopencl as cl

    spirv, name, global_size, local_size, arguments = job
    with _printed() as output:  # the runtime prints to standard output
        context = cl.Context(cl.get_platforms()[0].get_devices())
        queue = cl.CommandQueue(context)
        program = cl.Program(context, spirv)
        program.build()
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        bound = [cl.LocalMemory(value[1]) if isinstance(value, tuple)
                 else cl.Buffer(context, flags, hostbuf=value) if getattr(value, "ndim", 0)
                 else value if isinstance(value, bytes) else value[()] for value in arguments]
        getattr(program, name)(queue, global_size, local_size, *bound)
        for value, buffer in zip(arguments, bound, strict=True):
            if isinstance(buffer, cl.Buffer):
                cl.enqueue_copy(queue, value, buffer)
        queue.finish()
    return arguments, bytes(output)


@contextlib.contextmanager
def _printed() -> Iterator[bytearray]:
    """What goes to standard output meanwhile, also from C; it is complete at the end."""
    usual, file, found = os.dup(1), os.memfd_create("printed"), bytearray()
    os.dup2(file, 1)
    try:
        yield found
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(usual, 1)
        found += os.pread(file, os.lseek(file, 0, os.SEEK_CUR), 0)
        os.close(file)
        os.close(usual)
