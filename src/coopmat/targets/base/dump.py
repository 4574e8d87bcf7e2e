"""COOPMAT_DUMP: what becomes of a kernel on its way to machine code, as files in the current folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from coopmat.diagnostics import Error
from coopmat.support.files import write_atomically

VARIABLE = "COOPMAT_DUMP"

STAGES = {"ll": "the LLVM IR of a kernel, in each of its forms", "asm": "its assembly language",
          "ptx": "what NVIDIA's driver gets of it"}
"""What COOPMAT_DUMP names, separated by commas, and what it stands for; the files' names end in it."""


def wanted_stages(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The stages that COOPMAT_DUMP names. Error for others."""
    found = [part.strip() for part in environment.get(VARIABLE, "").split(",") if part.strip()]
    for one in found:
        if one not in STAGES:
            raise Error(f"{VARIABLE}: expected some of {', '.join(STAGES)}, separated by commas; found '{one}'")
    return found


def dump(kernel: str, form: str, make: Callable[[], bytes]) -> None:
    """Write a form of a kernel, such as ``asm`` or ``optimized.ll``, to the file KERNEL.FORM, if COOPMAT_DUMP wants
    it. Error if the file cannot be written."""
    if form.rpartition(".")[2] in wanted_stages():
        write_atomically(Path(f"{re.sub(r'[^A-Za-z0-9_.-]', '_', kernel)}.{form}"), make())
