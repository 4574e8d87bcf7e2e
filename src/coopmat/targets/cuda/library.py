"""The mathematical library of NVIDIA's GPUs, libdevice: LLVM bitcode that is linked to kernels which call it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from coopmat.diagnostics import Error
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Writer

PREFIX = "__nv_"
VARIABLE = "COOPMAT_LIBDEVICE"
FILE = "libdevice.10.bc"


def call(writer: Writer, name: str, numbers: Sequence[Number]) -> Number:
    """A function of doubles, by its name in C; it gives a double."""
    return Number("double", writer.call("double", f"{PREFIX}{name}", [(one.type, one.base) for one in numbers],
                                        "nounwind willreturn memory(none)"))


def call_single(writer: Writer, name: str, numbers: Sequence[Number]) -> Number:
    """A function of floats; it gives a float."""
    return Number("float", writer.call("float", f"{PREFIX}{name}f", [(one.type, one.base) for one in numbers],
                                       "nounwind willreturn memory(none)"))


@cache
def path() -> Path:
    """Where libdevice is. Error, with what to install, if it is nowhere."""
    for found in _candidates():
        if found.is_file():
            return found
    raise Error(f"kernels that call mathematical functions need NVIDIA's libdevice ({FILE}), which is not here: "
                f"'pip install nvidia-nvvm' brings it, as does a CUDA toolkit; {VARIABLE} may say where it is")


def _candidates() -> Iterator[Path]:
    given = os.environ.get(VARIABLE)
    if given:
        yield Path(given)
        return
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield from sorted(Path(folder).glob(f"**/libdevice/{FILE}"))
    for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda", "/usr/lib/cuda"):
        if root:
            yield Path(root) / "nvvm/libdevice" / FILE
