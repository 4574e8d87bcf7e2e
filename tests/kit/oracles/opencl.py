"""OpenCL's drivers that take SPIR-V, as oracles for ``opencl:0``: each seen alone, in child processes.

``intel`` is Intel's runtime for CPUs, installed beside the interpreter (tests/kit/oracles/intel_runtime.py); the others
are Debian's, of the suites in PACKAGES. ``python -m tests.kit.oracles.opencl`` unpacks these into the tests'
environment, in ``opencl/``. They look for parts of themselves in ``/usr``: their processes see their packages there,
laid over the system's own by a name space of Linux.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from coopmat.targets.base.children import Ending, answers
from tests.kit.oracles import intel_runtime
from tests.kit.oracles.debian import Unavailable, unpack
from tests.kit.paths import ROOT


@dataclass(frozen=True)
class Packages:
    """A driver of Debian: the suite, the packages, the file in /etc/OpenCL/vendors, and variables that it needs."""

    suite: str
    names: tuple[str, ...]
    manifest: str
    variables: Mapping[str, str] = field(default_factory=dict)


PACKAGES = {
    "pocl": Packages("sid", ("pocl-opencl-icd",), "pocl.icd"),
    "rusticl": Packages("trixie", ("mesa-opencl-icd",), "rusticl.icd",
                        {"RUSTICL_ENABLE": "llvmpipe", "RUSTICL_FEATURES": "fp64",
                         "MESA_SHADER_CACHE_DISABLE": "true"}),  # with the cache, one kernel was wrong once
}
DRIVERS = ("intel", *PACKAGES)
SECONDS = 300.0
"""That one job may take."""
_FOLDER = Path(sys.prefix) / "opencl"
_UNPACKED = ".unpacked"
_OVERLAID = 'mount -t overlay overlay -o lowerdir="$0/usr:/usr" /usr && exec "$@"'


def is_here(driver: str) -> bool:
    """Whether a driver is installed, and its processes can be started."""
    if driver in PACKAGES:
        return (_FOLDER / driver / _UNPACKED).exists() and _why_not_overlaid(driver) is None
    return intel_runtime.library() is not None


@cache
def _why_not_overlaid(driver: str) -> str | None:
    """What keeps packages from being laid over the system's; None if nothing does."""
    if shutil.which("unshare") is None:
        return "unshare, of the package util-linux, is not here"
    run = subprocess.run([*_command(driver), "true"], capture_output=True, text=True, timeout=60, check=False)
    return run.stderr.strip() if run.returncode else None


def _command(driver: str) -> list[str]:
    """What starts a program where a driver finds itself."""
    if driver not in PACKAGES:
        return []
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _OVERLAID, str(_FOLDER / driver)]


def _vendors(driver: str) -> Path:
    """The file that names the driver."""
    if driver in PACKAGES:
        return _FOLDER / driver / "etc/OpenCL/vendors" / PACKAGES[driver].manifest
    path = _FOLDER / "intel" / "intel.icd"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{intel_runtime.library()}\n")
    return path


def environment(driver: str) -> dict[str, str]:
    """The variables of a process that sees one driver, and keeps what it finds out about it for other such
    processes."""
    variables = {"OCL_ICD_VENDORS": str(_vendors(driver)), "COOPMAT_CACHE_DIR": str(_FOLDER / "cache" / driver),
                 "PYOPENCL_NO_CACHE": "1", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    if driver in PACKAGES:
        return {**os.environ, **variables, **PACKAGES[driver].variables}
    library = intel_runtime.library()
    assert library is not None
    path = os.pathsep.join([str(library.parent), os.environ.get("LD_LIBRARY_PATH", "")])
    return {**os.environ, **variables, "LD_LIBRARY_PATH": path}


def run(driver: str, *arguments: str, seconds: float = SECONDS, given: bytes | None = None,
        **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Start the interpreter with arguments where ``opencl:0`` is a device of a driver, and wait for its end.
    variables: of its environment."""
    return subprocess.run([*_command(driver), sys.executable, *arguments], input=given, capture_output=True,
                          env={**environment(driver), **variables}, cwd=ROOT, timeout=seconds, check=False)


@cache
def outcomes(driver: str, function: str, *jobs: Any) -> dict[Any, str]:
    """What came of each job of a function: nothing, or what went wrong."""
    if not jobs:
        return {}
    child = run(driver, "-m", __name__, function, seconds=SECONDS * len(jobs), given=pickle.dumps(jobs))
    assert child.returncode == 0, child.stderr.decode(errors="replace")[-2000:]
    return dict(zip(jobs, map(_text, pickle.loads(child.stdout)), strict=True))


def _text(found: Any) -> str:
    return f"the process {found}: {found.log}" if isinstance(found, Ending) else str(found or "")


def names_of(module: Any) -> Sequence[str]:
    """The cases of a module: its functions whose names begin with no underscore."""
    return [name for name, one in vars(module).items() if callable(one) and not name.startswith("_")
            and getattr(one, "__module__", "") == module.__name__]


# --------------------------------------------------------------------------- installing


def install() -> None:
    """Fetch and unpack the drivers of Debian. Raises Unavailable where that cannot be done."""
    for driver, packages in PACKAGES.items():
        folder = _FOLDER / driver
        if not (folder / _UNPACKED).exists():
            shutil.rmtree(folder, ignore_errors=True)
            unpack(packages.suite, packages.names, folder)
            (folder / _UNPACKED).touch()
        reason = _why_not_overlaid(driver)
        if reason is not None:
            raise Unavailable(f"packages cannot be laid over the system's: {reason}")


def _main() -> None:
    """Without arguments, install; with the name of a function, do the jobs of standard input."""
    if len(sys.argv) > 1:
        pickle.dump(answers(sys.argv[1], pickle.load(sys.stdin.buffer), seconds=SECONDS), sys.stdout.buffer)
        return
    try:
        install()
    except (Unavailable, OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"OpenCL's drivers of Debian are not installed: {error}")


if __name__ == "__main__":
    _main()
