"""Oclgrind's own tests (github.com/jrprice/Oclgrind, tests/kernels): kernels, how each is launched, and what it says.

They are read from a checkout that the environment variable COOPMAT_OCLGRIND names; nothing of them is kept here. A
``.sim`` file has the kernel's file and name, the sizes, and for each argument a header such as ``<size=16 fill=0>``, a
``.ref`` file what Oclgrind finds (``ERROR …``) and the values of arguments that are dumped (``EXACT out[0] = 1``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import coopmat as cm
from coopmat.runtime.memory import malloc_device

VARIABLE = "COOPMAT_OCLGRIND"
TYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
         "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "float": np.float32, "double": np.float64}
CLASSES = {
    "data race": "DataRace",
    "Uninitialized": "UninitializedRead",
    "divergence": "DivergentGroupOperation",
    "is not aligned": "Misaligned",
    "exceeds static array size": "OutOfBounds",
    "Invalid read of size": "OutOfBounds",
    "Invalid write of size": "OutOfBounds",
    "Invalid read from write-only": "a read of write-only memory",
    "Invalid write to read-only": "SimulationError",
    "without waiting for events": "UndefinedBehavior",
    "Invalid wait event": "an event that is none",
}
"""How we call what Oclgrind says."""
_QUALIFIERS = re.compile(r"\b(?:kernel|global|local|constant|const|volatile|restrict|__\w+|unsigned)\b")


def folder() -> Path | None:
    """The tests of the checkout; None if there is none."""
    found = os.environ.get(VARIABLE, "")
    at = Path(found) / "tests" / "kernels"
    return at if found and (at / "TESTS").is_file() else None


@dataclass(frozen=True)
class OclgrindTest:
    """One of Oclgrind's tests, by its path without an extension."""

    path: Path

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    def text(self, extension: str) -> str:
        """One of its files, empty if it has none."""
        file = self.path.with_suffix(extension)
        return file.read_text() if file.is_file() else ""

    @cached_property
    def lines(self) -> list[str]:
        """How it is launched, without comments."""
        lines = (line.partition("#")[0].strip() for line in self.text(".sim").splitlines())
        return list(filter(None, lines))

    @property
    def expected(self) -> set[str]:
        """What Oclgrind says about it, as we call it."""
        errors = [line for line in self.text(".ref").splitlines() if line.startswith("ERROR")]
        return {name for line in errors for words, name in CLASSES.items() if words in line}

    @property
    def values(self) -> dict[str, float]:
        """Elements of the arguments afterwards, such as ``out[0]``."""
        found = re.findall(r"^EXACT +(\w+\[\d+\]) = (\S+)$", self.text(".ref"), re.MULTILINE)
        return {place: float(value) for place, value in found if re.fullmatch(r"[-+.\deE]+", value)}

    def run(self, device: cm.Device) -> dict[str, np.ndarray]:
        """Launch it; the arrays by the names of their parameters, of the types in which Oclgrind prints them."""
        source = self.path.with_name(self.lines[0])
        options = re.findall(r"--build-options (.*)", self.text(".sim"))
        kernel = cm.build(source, *options, device=device).kernel(self.lines[1])
        sizes = [tuple(map(int, line.split())) for line in self.lines[2:4]]
        queue = cm.Queue(device)
        described, parameters = list(self._described()), list(self._parameters(source.read_text()))
        arguments = [_argument(header, values, type_, queue) for (header, values), (type_, _)
                     in zip(described, parameters, strict=True)]
        queue.enqueue(kernel, *sizes, *arguments).wait()
        return {name: argument.view(_given(header) or argument.dtype) for (header, _), (_, name), argument
                in zip(described, parameters, arguments, strict=True) if isinstance(argument, np.ndarray)}

    def _described(self) -> Iterator[tuple[dict[str, str], list[str]]]:
        """The header and the numbers of each argument."""
        for header, values in re.findall(r"<([^>]*)>([^<]*)", "\n".join(self.lines[4:])):
            words = (word.partition("=") for word in header.split())
            yield {word: value for word, _, value in words}, values.split()

    def _parameters(self, source: str) -> Iterator[tuple[str, str]]:
        """Type and name of each parameter of the kernel."""
        source = re.sub(r"//.*|/\*.*?\*/", "", source, flags=re.DOTALL if "/*" in source else 0)
        found = re.search(rf"\b{self.lines[1]}\s*\(([^)]*)\)", source)
        assert found is not None
        for parameter in filter(None, map(str.strip, found[1].split(","))):
            name = re.findall(r"\w+", parameter)[-1]
            yield parameter[:parameter.rindex(name)].strip(), name


def _given(header: dict[str, str]) -> np.dtype[Any] | None:
    """The type that a header gives to its numbers."""
    return next((np.dtype(TYPES[word]) for word in header if word in TYPES), None)


def _argument(header: dict[str, str], values: list[str], declared: str, queue: cm.Queue) -> Any:
    """What is passed: an array or None, local memory, a number, or the bytes of a vector or structure."""
    if "null" in header:
        return None
    size = int(header["size"])
    words = _QUALIFIERS.sub("", declared).replace("*", " ").split() or ["int"]
    own = np.dtype(TYPES.get(re.sub(r"\d+$", "", words[0]), np.uint8))
    given = _given(header) or own
    if re.search(r"\blocal\b", declared):
        return cm.local(size)
    if "noinit" in header:
        return malloc_device[own.type](size // own.itemsize, queue)
    array = np.zeros(size // given.itemsize, given)
    if values:
        array[:] = [int(value, 16 if "hex" in header else 10) if given.kind in "iu" else float(value)
                    for value in values]
    elif "fill" in header:
        array[:] = float(header["fill"])
    elif "range" in header:
        first, step, _ = map(float, header["range"].split(":"))
        array[:] = first + step * np.arange(array.size)
    if "*" not in declared:
        return array.tobytes() if words[0] not in TYPES and own == np.uint8 else array[0] if array.size == 1 else array
    array = array.view(own)
    array.flags.writeable = "ro" not in header
    return array


def every() -> list[OclgrindTest]:
    """All that Oclgrind runs, but for those of its interactive debugger."""
    at = folder()
    if at is None:
        return []
    names = (at / "TESTS").read_text().split()
    return [OclgrindTest(at / name) for name in names if not name.startswith("interactive/")]
