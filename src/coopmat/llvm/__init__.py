"""LLVM, kept at arm's length: it verifies, optimises and compiles IR in a helper process.

LLVM aborts its process on many errors; here that is an error of the package, never the end of the user's
process. ``docs/llvm-ir.md`` describes the IR that is accepted.
"""

from coopmat.llvm.process.client import compile, compile_for_host, verify
from coopmat.llvm.to_spirv.translation import optimize, to_spirv

__all__ = ["compile", "compile_for_host", "optimize", "to_spirv", "verify"]
