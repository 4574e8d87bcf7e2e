"""OpenCL's drivers that take SPIR-V, as oracles for ``opencl:0``: each seen alone, in a child process.

``intel``: Intel's runtime for CPUs, installed beside the interpreter (tests/kit/oracles/intel_runtime.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from coopmat.targets.base.children import Ending, answers
from tests.kit.oracles import intel_runtime

_FOLDER = Path(sys.prefix) / "opencl"
SECONDS = 300.0


def environment() -> dict[str, str]:
    """The variables of a process that sees Intel's runtime only, and keeps what it finds out about it for other such
    processes."""
    library = intel_runtime.library()
    assert library is not None
    vendors = _FOLDER / "intel"
    vendors.mkdir(parents=True, exist_ok=True)
    (vendors / "intel.icd").write_text(f"{library}\n")
    return {"OCL_ICD_VENDORS": str(vendors), "COOPMAT_CACHE_DIR": str(_FOLDER / "cache"), "PYOPENCL_NO_CACHE": "1",
            "LD_LIBRARY_PATH": os.pathsep.join([str(library.parent), os.environ.get("LD_LIBRARY_PATH", "")])}


@cache
def outcomes(function: str, *jobs: Any) -> dict[Any, str]:
    """What came of each job of a function: nothing, or what went wrong."""
    found = answers(function, jobs, seconds=SECONDS, environment=environment())
    return {job: _text(one) for job, one in zip(jobs, found, strict=True)}


def _text(found: Any) -> str:
    return f"the process {found}: {found.log}" if isinstance(found, Ending) else str(found or "")


def names_of(module: Any) -> Sequence[str]:
    """The cases of a module: its functions whose names begin with no underscore."""
    return [name for name, one in vars(module).items() if callable(one) and not name.startswith("_")
            and getattr(one, "__module__", "") == module.__name__]
