"""Generated kernels compiled by clang: modules of another producer for our simulator."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HEADER = "opencl-c-base.h"  # clang includes a file of this name for the types of its table of built-in functions
TYPES = """
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
typedef unsigned long size_t; typedef uint cl_mem_fence_flags;
#define VECTORS(t) typedef t t##2 __attribute__((ext_vector_type(2))); \\
    typedef t t##3 __attribute__((ext_vector_type(3))); typedef t t##4 __attribute__((ext_vector_type(4))); \\
    typedef t t##8 __attribute__((ext_vector_type(8))); typedef t t##16 __attribute__((ext_vector_type(16)));
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint) VECTORS(long) VECTORS(ulong)
VECTORS(float) VECTORS(double)
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
"""
_CONVERT = re.compile(r"\bconvert_([a-z]+)(\d*)(?:_sat)?(?:_rt[eznp])?\(")
_AS = re.compile(r"\bas_([a-z]+\d*)\(")


def plain(source: str) -> str:
    """The kernel with conversions that clang compiles itself: of ``convert_...`` LLVM's back end makes wrong ones."""
    names = sorted({match.group(1, 2) for match in _CONVERT.finditer(source)})
    macros = [f"#define CONVERT_{name}{count}(x) " + (f"__builtin_convertvector(x, {name}{count})" if count else
                                                     f"(({name})(x))") for name, count in names]
    return "\n".join([*macros, _CONVERT.sub(r"CONVERT_\1\2(", source)])


def compile_to_spirv(source: str, level: str, folder: Path) -> bytes | None:
    """The module that clang makes of OpenCL C; None where its back end dies."""
    types = sorted(set(_AS.findall(source)))
    macros = "\n".join(f"#define as_{name}(x) __builtin_astype((x), {name})" for name in types)
    (folder / HEADER).write_text(TYPES + macros + "\n", encoding="utf-8")
    file, output = folder / "kernel.cl", folder / "kernel.spv"
    file.write_text(source, encoding="utf-8")
    run = subprocess.run([sys.executable, "-m", "ziglang", "clang", "-x", "cl", "-cl-std=CL3.0", level, "-c", "-w",
                          "-Xclang", "-fdeclare-opencl-builtins", "-I", str(folder), "-cl-ext=+all",
                          "--target=spirv64-unknown-unknown", str(file), "-o", str(output)],
                         capture_output=True, text=True, timeout=120, check=False)
    if run.returncode and "fatal error: error in backend" not in run.stderr and "command failed" not in run.stderr:
        raise RuntimeError(run.stderr[-2000:])
    return None if run.returncode else output.read_bytes()
