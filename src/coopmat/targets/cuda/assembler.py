"""From PTX to machine code without a GPU: NVIDIA's nvJitLink, or its ptxas."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from coopmat.diagnostics import Error
from coopmat.targets.cuda.chips import Chip

MISSING = ("machine code for NVIDIA's GPUs is made of PTX by nvJitLink ('pip install coopmat[cuda]' brings it) or by "
           "ptxas ('pip install nvidia-cuda-nvcc', or a CUDA toolkit on the path); neither is here")
TO_DISASSEMBLE = "pip install nvidia-cuda-nvdisasm"


@dataclass(frozen=True)
class Resources:
    """What a kernel takes. registers: of a thread. stack: bytes of a thread's local memory, spilled registers too.
    spills: bytes of registers that are written there and read from there. shared: bytes of a work-group: the kernel's
    local memory and what its pipeline needs; arguments that are local memory come on top. most_threads: of a
    work-group; None where no GPU was asked.
    """

    registers: int
    stack: int
    spills: int
    shared: int
    most_threads: int | None = None

    def with_local(self, nbytes: int) -> Resources:
        """The same with local memory that the launch adds."""
        return replace(self, shared=self.shared + nbytes)


def cubin(texts: Mapping[str, str], chip: Chip) -> tuple[bytes, str]:
    """Kernels' PTX, by their names, as one cubin, and what the assembler says of it. Error, with its messages, if it
    refuses, and with what to install if there is none."""
    nvjitlink, ptxas = find_nvjitlink(), find_ptxas()
    if nvjitlink is not None:
        return _by_nvjitlink(nvjitlink, texts, chip)
    if ptxas is not None:
        return _by_ptxas(ptxas, texts, chip)
    raise Error(MISSING)


def found() -> str | None:
    """What machine code is made by here; None if there is nothing."""
    nvjitlink = find_nvjitlink()
    return f"nvJitLink {'.'.join(map(str, nvjitlink.version()))}" if nvjitlink is not None else find_ptxas()


@cache
def find_nvjitlink() -> Any:
    """The module cuda.bindings.nvjitlink, where it and the library itself are here; None if not."""
    try:
        from cuda.bindings import nvjitlink

        nvjitlink.version()
    except Exception:  # what is raised without the library differs
        return None
    return nvjitlink


def _by_nvjitlink(library: Any, texts: Mapping[str, str], chip: Chip) -> tuple[bytes, str]:
    options = [f"-arch={chip.name}", "-verbose"]
    handle = library.create(len(options), options)
    kernel = next(iter(texts))
    try:
        for kernel, text in texts.items():
            data = text.encode()
            library.add_data(handle, library.InputType.PTX, data, len(data), kernel)
        library.complete(handle)
        code, log = bytearray(library.get_linked_cubin_size(handle)), bytearray(library.get_info_log_size(handle))
        library.get_linked_cubin(handle, code)
        if log:
            library.get_info_log(handle, log)
        return bytes(code), _text(log)
    except library.nvJitLinkError as error:
        log = bytearray(library.get_error_log_size(handle))
        if log:
            library.get_error_log(handle, log)
        raise Error(f"kernel '{kernel}': nvJitLink refuses the PTX: {_text(log) or error}") from None
    finally:
        library.destroy(handle)


def find_ptxas() -> str | None:
    """Where ptxas is; None if it is not here."""
    return _find("ptxas")


def find_disassembler() -> str | None:
    """Where nvdisasm is; None if it is not here."""
    return _find("nvdisasm")


def _find(program: str) -> str | None:
    """Where a program of the CUDA toolkit is: in one of NVIDIA's wheels, or on the path."""
    found = importlib.util.find_spec("nvidia")
    folders = found.submodule_search_locations if found is not None else None
    in_wheels = [path for folder in folders or () for path in sorted(Path(folder).glob(f"*/bin/{program}"))]
    return str(in_wheels[0]) if in_wheels else shutil.which(program)


def disassembled(code: bytes) -> str:
    """A cubin in SASS, the assembly language of its chip. Error, with what to install, if there is no nvdisasm, and
    with its messages if it refuses."""
    program = find_disassembler()
    if program is None:
        raise Error("SASS is what nvdisasm reads in machine code, and nvdisasm is not here: "
                    f"'{TO_DISASSEMBLE}' brings it, as does a CUDA toolkit")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernels.cubin")
        source.write_bytes(code)
        done = subprocess.run([program, "-c", str(source)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Error(f"nvdisasm refuses the machine code: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _by_ptxas(program: str, texts: Mapping[str, str], chip: Chip) -> tuple[bytes, str]:
    if len(texts) != 1:
        raise Error(f"ptxas makes a cubin of one kernel, and the program has {len(texts)} ({', '.join(texts)}): "
                    "nvJitLink takes several ('pip install coopmat[cuda]')")
    (kernel, text), = texts.items()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(text)
        done = subprocess.run([program, "-v", f"-arch={chip.name}", str(source), "-o", str(target)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip() or done.stdout.strip()
            if "is not defined for option 'gpu-name'" in said:
                raise Error(f"{program} does not make code for {chip.name}, but that of another CUDA toolkit may: "
                            "CUDA 12 knows chips before sm_75 (pip install nvidia-cuda-nvcc-cu12)")
            raise Error(f"kernel '{kernel}': ptxas refuses the PTX: {said}")
        return target.read_bytes(), done.stderr + done.stdout


def _text(buffer: bytearray) -> str:
    return bytes(buffer).split(b"\0")[0].decode("utf-8", "replace").strip()


def resources(log: str, symbol: str) -> Resources:
    """What a kernel takes, by the assembler's words; zeros for what it does not tell."""
    _, _, after = log.partition(f"Compiling entry function '{symbol}'")
    part = re.match(r".*?(?:Used .*?$|\Z)", after, re.DOTALL | re.MULTILINE)

    def number(pattern: str) -> int:
        return sum(map(int, re.findall(pattern, part[0] if part is not None else "")))

    return Resources(number(r"Used (\d+) registers"), number(r"(\d+) bytes stack frame"),
                     number(r"(\d+) bytes spill (?:stores|loads)"), number(r"(\d+) bytes smem"))
