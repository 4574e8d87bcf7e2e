"""Kernels that are refused: the place that the message must point to is marked in their text with ⟦ and ⟧."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import coopmat as cm
from coopmat.diagnostics import Diagnostic, Message

OPEN, CLOSE = "⟦", "⟧"
HEAD = """from coopmat.sycl import *

@kernel(sub_group_size=16)
def refused(item: nd_item[1], A: ptr[int8], B: ptr[float32], C: ptr[int32], R: ptr[const[int32]], n: int32, x: float32,
            f4: float4, i4: int4):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, int8, use.a, 8, 32, layout.row_major)
    b = joint_matrix(sub_group, int8, use.b, 32, 16, layout.col_major)
    c = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
"""
_NUMBERS = itertools.count()


class Case(NamedTuple):
    """Statements of a kernel (or, if it defines ``refused``, a whole file), and the message, which ends with its
    code in brackets."""

    text: str
    message: str

    @property
    def code(self) -> str:
        """The code of the message's row."""
        return self.message.rsplit("[", 1)[1].rstrip("]").split(",")[0]

    @property
    def file(self) -> str:
        """The text of the file, with its marks."""
        if "def refused" in self.text:
            return f"from coopmat.sycl import *\n{self.text}\n"
        return HEAD + "".join(f"    {line}\n" for line in self.text.splitlines())


def loaded(text: str) -> tuple[str, dict[str, Any]]:
    """Execute the text of a file that is nowhere on the disk: the name that it gets, and what it defines."""
    name = f"refused_{next(_NUMBERS)}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": "refused"}
    exec(compile(text, name, "exec"), names)
    return name, names


def marked_place(text: str) -> tuple[str, tuple[int, int, int]]:
    """A text without its marks; line, column and length of what they enclose, of several lines the first."""
    before, inside = text[:text.index(OPEN)], text[text.index(OPEN) + 1:text.index(CLOSE)]
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return text.replace(OPEN, "").replace(CLOSE, ""), (line, column, len(inside.split("\n")[0]))


def diagnostics_of(text: str, device: str = "sim:generic") -> tuple[str, Sequence[Diagnostic]]:
    """The file's name, and what the compiler says about its kernel ``refused``."""
    name, names = loaded(text)
    try:
        return name, cm.build(names["refused"], device=cm.device(device)).warnings
    except cm.CompileError as error:
        return name, error.diagnostics


def check(case: Case) -> None:
    """Assert that there is this message and no other, at the marked place."""
    text, (line, column, length) = marked_place(case.file)
    name, found = diagnostics_of(text)
    severity = "warning" if "-W" in case.message else "error"
    assert [one.header for one in found] == [f"{name}:{line}:{column}: {severity}: {case.message}"]
    assert found[0].location is not None
    assert found[0].location.length == length
    shown = str(found[0]).splitlines()
    assert shown[1].endswith(text.splitlines()[line - 1])


def read_cases(name: str) -> list[Case]:
    """The cases of a file in refused_kernels: statements, then ``--> `` and the message; an empty line between them."""
    text = (Path(__file__).parent / "refused_kernels" / name).read_text(encoding="utf-8")
    return [Case(*block.strip("\n").split("\n--> ")) for block in text.split("\n\n")]


def codes_of(module: Any) -> set[str]:
    """The codes of the messages of a module."""
    return {row.code for row in vars(module).values() if isinstance(row, Message)}


def codes(cases: Iterable[Case]) -> set[str]:
    """The codes that cases provoke."""
    return {case.code for case in cases}
