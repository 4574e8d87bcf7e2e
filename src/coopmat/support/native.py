"""Native code in this process: object files, and the functions in them.

LLVM only links here what it has compiled before; the names that code may take from elsewhere are those of
:data:`LIBRARY`, so that nothing is left to be found.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import struct
from collections.abc import Iterator
from functools import cache
from typing import Any

from coopmat.diagnostics import Error
from coopmat.support.forks import ForkSafeLock

LIBRARY = frozenset({
    "memcpy", "memmove", "memset", "fmod", "fmodf", "fmin", "fminf", "fmax", "fmaxf",
    *(name + end for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
                              "atanh", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "cbrt", "erf",
                              "erfc", "tgamma", "lgamma", "pow", "atan2", "hypot", "remainder", "nextafter", "fma",
                              "ldexp", "frexp", "floor", "ceil", "trunc", "rint", "round", "roundeven", "sqrt")
      for end in ("", "f")),
})
"""The functions of the C library that code may call."""

_lock = ForkSafeLock()
_numbers = itertools.count()


class NativeCode:
    """An object file, loaded: its functions by name. Error if it cannot be.

    LLVM's JITLink puts an object's code and constants next to each other. Its older linker asks for memory for each,
    and ends the process where these lie too far apart, as they do where CUDA holds large pieces of the addresses.
    """

    def __init__(self, content: bytes) -> None:
        needed = set(undefined_symbols(content))
        unknown = sorted(needed - LIBRARY)
        if unknown:
            raise Error(f"the compiled code needs functions that are not there: {', '.join(unknown)}")
        with _lock:
            import llvmlite.binding as llvm

            self._linker, self._name = _linker(), f"coopmat.{next(_numbers)}"
            library = llvm.JITLibraryBuilder().add_object_img(content)
            for name in needed & _addresses().keys():
                library.import_symbol(name, _addresses()[name])
            self._found: list[Any] = []
            try:
                self._library = library.link(self._linker, self._name)  # the code is there as long as this is
            except RuntimeError as error:
                raise Error(f"the compiled code cannot be loaded: {error}") from None

    def function(self, name: str, *parameters: Any) -> Any:
        """A function that returns nothing; Python's other threads run while it does."""
        return ctypes.CFUNCTYPE(None, *parameters)(self.address(name))

    def address(self, name: str) -> int:
        """Where a function is."""
        with _lock:
            try:
                found = self._linker.lookup(self._name, name)
            except RuntimeError:
                raise Error(f"the compiled code has no function '{name}'") from None
            self._found.append(found)
        return int(found[name])


@cache
def _linker() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler(llvm.Target.from_default_triple().create_target_machine(opt=0, jit=True),
                                      use_jit_link=True, suppress_errors=True)


@cache
def _addresses() -> dict[str, int]:
    """Where the functions of the C library are."""
    process, found = ctypes.CDLL(None), dict[str, int]()
    for name in LIBRARY:
        function = getattr(process, name, None) or getattr(_math_library(), name, None)
        if function is not None:
            found[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return found


@cache
def _math_library() -> Any:
    """The library of math functions, where this process does not have them already; looking for it takes long."""
    name = ctypes.util.find_library("m")
    try:
        return ctypes.CDLL(name) if name else None
    except OSError:
        return None


# --------------------------------------------------------------------------------------
# ELF
# --------------------------------------------------------------------------------------

_ELF = b"\x7fELF\x02\x01"  # 64 bits, little-endian
_SYMBOL_TABLE = 2


def undefined_symbols(content: bytes) -> Iterator[str]:
    """The names that an ELF object file needs from elsewhere; nothing of other kinds of files."""
    if not content.startswith(_ELF):
        return
    start, = struct.unpack_from("<Q", content, 0x28)
    size, count = struct.unpack_from("<HH", content, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, start + number * size) for number in range(count)]
    for _, kind, _, _, offset, nbytes, link, _, _, entry in sections:
        if kind != _SYMBOL_TABLE:
            continue
        names = sections[link][4]
        for place in range(offset + entry, offset + nbytes, entry):
            name, _, _, section = struct.unpack_from("<IBBH", content, place)
            if section == 0 and name:
                end = content.index(b"\0", names + name)
                yield content[names + name:end].decode()
