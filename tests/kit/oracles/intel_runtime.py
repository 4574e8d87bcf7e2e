"""Intel's CPU runtime for OpenCL as an oracle: runs a SPIR-V kernel in a child process.

``pip install pyopencl intel-opencl-rt intel-cmplr-lib-rt`` into the tests' environment. The runtime aborts
its process on what it does not know, hence the child.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any


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
    path = library()
    assert path is not None
    (folder / "intel.icd").write_text(f"{path}\n")
    variables = {**os.environ, "OCL_ICD_VENDORS": str(folder), "LD_LIBRARY_PATH": str(path.parent),
                 "PYOPENCL_NO_CACHE": "1"}
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
    with tempfile.TemporaryDirectory() as folder:
        job = pickle.dumps((spirv, kernel, global_size, local_size, arguments))
        child = subprocess.run([sys.executable, __file__], input=job, env=environment(Path(folder)),
                               capture_output=True, timeout=120, check=False)
    if child.returncode != 0:
        raise RuntimeError(f"exit code {child.returncode}: {child.stderr.decode(errors='replace')[-2000:]}")
    result: tuple[list[Any], bytes] = pickle.loads(child.stdout)
    return result


def _child() -> None:
    import pyopencl as cl

    spirv, name, global_size, local_size, arguments = pickle.load(sys.stdin.buffer)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(os.memfd_create("printed"), 1)  # the runtime prints to standard output
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
    ctypes.CDLL(None).fflush(None)
    size = os.lseek(1, 0, os.SEEK_CUR)
    pickle.dump((arguments, os.pread(1, size, 0)), output)
    output.close()


if __name__ == "__main__":
    _child()
