"""Where kernels may be defined: files of any encoding, ``python -c``, notebooks; and what kernel() takes."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import linecache
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import float32, int32, kernel, nd_item, ptr
from coopmat.sycl.kernel import SyclKernel
from tests.kit.sycl.launches import launch
from tests.kit.sycl.refused import loaded

HEAD = "from coopmat.sycl import *\n@kernel\ndef k(item: nd_item[1], y: ptr[int32]):\n"


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


def first_result(k: object) -> int:
    found = np.zeros(4, np.int32)
    launch(k, 1, 1, found)
    return int(found[0])


@pytest.mark.parametrize(("text", "encoding", "place"), [
    (HEAD + "    y[0] = missing\n", "utf-8-sig", "4:12"),
    (f"# coding: latin-1\nname = 'é'\n{HEAD}    é = 1; y[0] = é + missing\n", "latin-1", "6:23"),
    (HEAD + "    größe = 'α'; y[0] = missing\n", "utf-8", "4:25"),
    ((HEAD + "    y[0] = missing\n").replace("\n", "\r\n"), "utf-8", "4:12"),
    ((HEAD + "    y[0] = missing\n").replace("    ", "\t"), "utf-8", "4:9"),
    ("\f\n" + HEAD + "    \f\n    y[0] = missing\n", "utf-8", "6:12"),
    ("text = 'a\fb\x1c \x0b'\n" + HEAD + "    y[0] = missing\n", "utf-8", "5:12"),
    ("text = '\u2028'\n" + HEAD + "    t = '\u2028 \x85'; y[0] = missing\n", "utf-8", "5:23"),
    (HEAD + "    y[0] = 1 + \\\n        missing\n", "utf-8", "5:9"),
])
def test_places_in_files_of_any_encoding(tmp_path: Path, text: str, encoding: str, place: str) -> None:
    path = tmp_path / "module.py"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(cm.CompileError) as caught:
        cm.build(imported(path).k)
    assert caught.value.diagnostics[0].header.startswith(f"{path}:{place}: error: undefined name 'missing'")


def test_names_are_normalized_as_python_does() -> None:
    _, names = loaded(HEAD + "    \uff58 = 3; y[0] = x + \uff4c\uff45\uff4e([1])\n")
    assert first_result(names["k"]) == 4


def test_python_c_and_standard_input(tmp_path: Path) -> None:
    text = HEAD + "    y[0] = 42\nimport coopmat as cm\nprint(len(cm.build(k).spirv) > 100)\n"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=False)
    assert (command.stdout, command.stderr) == ("True\n", "")
    piped = subprocess.run([sys.executable, "-"], input=text, capture_output=True, text=True, env=environment,
                           check=False)
    assert "the source of 'k' is not available (it was defined in <stdin>)" in piped.stderr
    assert "make it by kernel.from_source(text)" in piped.stderr


def test_notebook_cells() -> None:
    """IPython puts cells into linecache under names that no file has; a cell may await at its top."""
    name, text = "<ipython-input-7-abc>", HEAD + "    y[0] = 7\nasync def f(): return 1\nvalue = [await f()]\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    tree = HEAD + "    y[0] = 7\n"
    names: dict = {}
    exec(compile(tree, name, "exec"), names)
    assert first_result(names["k"]) == 7


def test_code_without_source() -> None:
    names: dict = {}
    exec(HEAD + "    y[0] = 1\n", names)
    with pytest.raises(cm.Error, match=r"the source of 'k' is not available \(it was defined in <string>\)"):
        cm.build(names["k"])


SCALE = """
    def twice(x):
        return FACTOR * x

    def scale(item: nd_item[1], y: ptr[T]):
        y[0] = twice(y[0] + 1)
"""


@pytest.mark.parametrize("T", [int32, float32])
def test_kernels_from_texts(T: object) -> None:
    for factor in (2, 5):
        k = kernel.from_source(SCALE, names={"FACTOR": factor, "T": T}, sub_group_size=16)
        assert (k.name, k.sub_group_size) == ("scale", 16)
        found = np.full(4, 3, np.int32 if T is int32 else np.float32)
        launch(k, 1, 1, found)
        assert found[0] == 4 * factor
    table = np.arange(4, dtype=np.int32)
    both = HEAD.replace("def k", "def first") + "    y[0] = table[2]\n" + HEAD + "    y[0] = 7\n"
    assert first_result(kernel.from_source(both, "first", {"table": table})) == 2
    assert first_result(kernel.from_source(both, "k")) == 7


@pytest.mark.parametrize(("text", "name", "message"), [
    ("def k(:", None, r"<kernel source \w+>:1:7: error: this is not Python"),
    ("x = 1 / 0", None, r"<kernel source \w+>: executing it raised ZeroDivisionError: division by zero"),
    ("x = 1", None, "expected one kernel; it defines no function whose first parameter is an nd_item"),
    (SCALE + SCALE.replace("scale", "other"), None, "it defines scale, other: say which by its name"),
    (SCALE, "twice", "expected the kernel 'twice'; it defines scale"),
    (5, None, "the source of a kernel is a text, found int"),
])
def test_texts_that_are_no_kernels(text: object, name: str | None, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        kernel.from_source(text, name, {"T": int32, "FACTOR": 1})  # type: ignore[arg-type]
    with pytest.raises(cm.CompileError, match=r"<kernel source \w+>:2:12: error: undefined name 'missing'"):
        cm.build(kernel.from_source("def k(item: nd_item[1], y: ptr[int32]):\n    y[0] = missing"))


def test_what_inspect_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from Python 3.13 on what was typed at the prompt, which linecache keeps by the code."""
    text, names = HEAD + "    y[0] = 42\n", {}
    exec(compile(text, "<python-input-3>", "exec"), names)
    monkeypatch.setattr(inspect, "findsource", lambda function: (text.splitlines(keepends=True), 1))
    assert first_result(names["k"]) == 42


def test_a_file_that_changes(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(HEAD + "    y[0] = 1\n")
    before, kept = imported(path).k, imported(path).k
    assert first_result(before) == 1
    path.write_text(HEAD + "    y[0] = 22\n")
    after = imported(path).k
    assert [first_result(k) for k in (after, before)] == [22, 1]
    with pytest.raises(cm.Error, match="the file has changed since it was loaded; import it again"):
        cm.build(kept)
    path.write_text("syntax error (")
    linecache.checkcache(str(path))
    assert first_result(after) == 22
    with pytest.raises(cm.Error, match="the file has changed"):
        cm.build(kept)
    path.unlink()
    linecache.checkcache(str(path))
    with pytest.raises(cm.Error, match="is not available"):
        cm.build(kept)


def test_several_lambdas_in_one_line() -> None:
    first, second, third = lambda x: x + 1, lambda x: x + 2, lambda x: (lambda z: z + 3)(x)

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        y[0] = first(100) + 10 * second(0) + 1000 * third(0)

    assert first_result(k) == 3121


def test_lambdas_are_kernels_if_their_parameters_have_types() -> None:
    found = np.zeros(4, np.int32)
    given = lambda item: found.__setitem__(0, 1)  # noqa: E731
    with pytest.raises(cm.CompileError, match=r"found 'item' without a type"):
        launch(given, 1, 1)
    typed = lambda item, x: x[0] + 1  # noqa: E731
    typed.__annotations__ = {"item": nd_item[1], "x": ptr[int32]}
    with pytest.raises(cm.CompileError, match="a kernel cannot return a value"):
        launch(typed, 1, 1, found)


def test_a_plain_function_is_launched() -> None:
    x, found = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)

    def doubled(item: nd_item[1]):
        i = item.get_global_id(0)
        found[i] = x[i] * 2

    launch(doubled, 4, 4)
    assert found.tolist() == [0, 2, 4, 6]


async def asynchronous(item: nd_item[1]):
    """A coroutine."""


def generator(item: nd_item[1]):
    yield 1


class Owner:
    """Kernels as members."""

    @kernel
    def method(self, item: nd_item[1]):
        """Its first parameter is not the nd_item."""

    @staticmethod
    @kernel
    def static(item: nd_item[1], y: ptr[int32]):
        y[0] = 5

    def __call__(self, item: nd_item[1]):
        """No function."""


@pytest.mark.parametrize("given", [functools.partial(generator), print, int, Owner, Owner(), Owner().__call__, 3, "k",
                                   functools.lru_cache(generator), staticmethod(generator), kernel(generator)])
def test_what_is_no_function(given: object) -> None:
    with pytest.raises(cm.Error, match="kernel decorates a Python function, not "):
        kernel(given)
    with pytest.raises(cm.Error, match="kernel decorates a Python function, not "):
        kernel(sub_group_size=16)(given)


def test_functions_that_are_no_kernels() -> None:
    with pytest.raises(cm.Error, match=r"test_sources.py:\d+: 'asynchronous' is async"):
        cm.build(kernel(asynchronous))
    with pytest.raises(cm.CompileError, match="yield cannot be compiled for a device"):
        cm.build(kernel(generator))
    for method in (Owner.method, Owner().method):
        with pytest.raises(cm.CompileError, match="found 'self' without a type"):
            cm.build(method)
    assert first_result(Owner.static) == 5


def test_decorators_around_kernel() -> None:
    def same(function):
        return function

    @same
    @kernel(sub_group_size=16)
    @same
    def k(item: nd_item[1], y: ptr[int32]):
        y[0] = 9

    assert isinstance(k, SyclKernel)
    assert first_result(k) == 9
    with pytest.raises(cm.Error, match="is not called: launch it with queue"):
        k(1, 2)


def test_dimensions_are_compared_where_annotations_are_texts() -> None:
    @kernel
    def k(item: nd_item[2], y: ptr[int32]):
        y[0] = 1

    with pytest.raises(cm.LaunchError, match=r"has an nd_item\[2\], and the nd_range has 1 dimensions"):
        launch(k, 1, 1, np.zeros(1, np.int32))
