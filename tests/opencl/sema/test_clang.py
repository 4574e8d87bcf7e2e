"""Which programs are accepted: clang and the package agree, except where the reason is stated."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from coopmat.diagnostics import CompileError
from coopmat.opencl import compile_source
from tests.kit.opencl import overload_corpus
from tests.kit.opencl import sema_corpus as corpus

CLANG = (sys.executable, "-m", "ziglang", "clang", "-cc1", "-fno-caret-diagnostics", "-ferror-limit", "0", "-x", "cl",
         "-cl-std=CL3.0", "-triple", "spirv64", "-fsyntax-only")

STRICTER = corpus.STRICTER | overload_corpus.STRICTER


def sources() -> dict[str, str]:
    """Each snippet with the file that it stands for."""
    bodies = {body: f"{corpus.PRELUDE}void test({corpus.PARAMETERS}) {{\n{body}\n}}\n" for body in corpus.BODIES}
    overloads = {text: f"{corpus.PRELUDE}{overload_corpus.PRELUDE}{text}\n" for text in overload_corpus.FILES}
    return bodies | {text: text + "\n" for text in corpus.FILES} | overloads


def accepted(source: str) -> bool:
    """Whether the package compiles a source."""
    try:
        compile_source(source)
    except CompileError:
        return False
    return True


@cache
def refused_by_clang(folder: Path) -> frozenset[str]:
    """The snippets for which clang reports an error, all found in one run."""
    names: dict[str, str] = {}
    for number, (snippet, source) in enumerate(sources().items()):
        name = f"s{number}.cl"
        (folder / name).write_text(source, encoding="utf-8")
        names[name] = snippet
    result = subprocess.run([*CLANG, *names], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    lines = [line for line in result.stderr.splitlines() if " error: " in line]
    return frozenset(names[line.partition(":")[0]] for line in lines)


@pytest.fixture(scope="module")
def clang(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    refused = refused_by_clang(tmp_path_factory.mktemp("clang"))
    assert 100 < len(refused) < len(sources()) - 100  # clang ran, and looked at every file
    return refused


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("snippet", sources())
def test_acceptance_is_clangs(snippet: str, clang: frozenset[str]) -> None:
    expected = snippet not in clang
    if snippet in STRICTER:
        assert expected, "clang refuses this as well: it is no exception"
        expected = False
    if snippet in corpus.LAXER:
        assert not expected, "clang accepts this as well: it is no exception"
        expected = True
    assert accepted(sources()[snippet]) is expected


def test_exceptions_are_in_the_corpus() -> None:
    assert {*STRICTER, *corpus.LAXER} <= sources().keys()
