"""Every command and every code block of the READMEs and of docs/ runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import coopmat as cm
from tests.kit.opencl.matrix_mad import PROTOTYPES
from tests.kit.paths import ROOT
from tests.kit.processes import run_file, run_module
from tests.kit.targets import on_vulkan
from tools import make_docs

PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Commands that set up or run everything: continuous integration runs them by themselves.
RUN_ELSEWHERE = ("make ", "pip install", "python benchmarks/")


def blocks(language: str) -> list[pytest.ParameterSet]:
    """The blocks of a language; a comment before one says what it needs: ``<!-- needs: cuda torch -->``."""
    found = []
    for page in PAGES:
        for match in re.finditer(rf"^(?:<!-- needs: ([\w ]+) -->\n)?```{language}\n(.*?)^```", page.read_text(),
                                 re.M | re.S):
            line = page.read_text()[: match.start(2)].count("\n")
            marks = [pytest.mark.oracle(name) for name in (match[1] or "").split()]
            found.append(pytest.param(match[2], id=f"{page.relative_to(ROOT)}:{line}", marks=marks))
    return found


def is_for_vulkan(request: pytest.FixtureRequest) -> bool:
    """Whether a block needs lavapipe, which another interpreter sees."""
    return any(mark.args == ("lavapipe",) for mark in request.node.iter_markers("oracle"))


@pytest.mark.parametrize("source", blocks("python"))
def test_python(source: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "block.py"
    path.write_text(source)
    run = on_vulkan.run(str(path), cwd=tmp_path) if is_for_vulkan(request) else run_file(path, cwd=tmp_path)
    run.check_returncode()


@pytest.mark.parametrize("source", blocks("sh"))
def test_commands(source: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for name in ("examples", "benchmarks", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in source.replace("\\\n", " ").splitlines():
        if re.match(r"(coopmat|python) [^-][^|&;<>$*?`~]*$", command) and not command.startswith(RUN_ELSEWHERE):
            program, *words = shlex.split(command, comments=True)
            if is_for_vulkan(request):
                run = on_vulkan.run(*(("-m", "coopmat") if program == "coopmat" else ()), *words, cwd=tmp_path)
            elif program == "coopmat":
                run = run_module(program, words, cwd=tmp_path, timeout=300)
            else:
                run = run_file(Path(words[0]), words[1:], cwd=tmp_path, timeout=300)
            run.check_returncode()
        elif command.strip() and not command.startswith(RUN_ELSEWHERE):
            subprocess.run(command, shell=True, cwd=tmp_path, env=environment, check=True, timeout=300)


@pytest.mark.parametrize("source", blocks("c"))
def test_opencl_c(source: str) -> None:
    """A block of OpenCL C is a whole file, or the inside of a kernel."""
    text = source if "kernel void" in source else f"kernel void block(void)\n{{\n{source}}}\n"
    cm.build(text)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    return {make_docs.anchor(heading) for heading in re.findall(r"^#+ (.*)", text, re.M)}


def without_code(text: str) -> str:
    """A page without its code blocks and code spans, where ``f[T](x)`` is no link."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def test_every_link_has_a_target() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", without_code(page.read_text())):
            if not target.startswith("http"):
                linked = page.parent / target if target else page
                assert linked.exists(), f"{page.name}: {target}"
                assert not anchor or anchor in anchors(linked), f"{page.name}: {target}#{anchor}"


def test_files_that_contributors_are_sent_to_exist() -> None:
    page = (ROOT / "docs" / "contributing.md").read_text()
    named = re.findall(r"`([a-z]\w*/[\w/.]*)`", page)
    assert len(named) > 50
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "src" / "coopmat" / name).exists(), name


def test_generated_pages_are_current() -> None:
    for name, page in make_docs.PAGES.items():
        assert (ROOT / "docs" / name).read_text() == page(), f"run tools/make_docs.py to renew docs/{name}"


def test_pictures_are_current_small_and_shown() -> None:
    pictures = {f"{name}.svg": svg for name, svg in make_docs.pictures().items()}
    assert {path.name for path in make_docs.IMAGES.iterdir()} == set(pictures)
    shown = "".join(page.read_text() for page in PAGES)
    for name, svg in pictures.items():
        assert (make_docs.IMAGES / name).read_text() == svg, f"run tools/make_docs.py to renew docs/images/{name}"
        assert len(svg.encode()) < 95_000, name
        assert f"](images/{name})" in shown, name


def test_every_matrix_overload_is_in_its_table() -> None:
    """Name, M, N, K, types of a, b, and of the accumulator: the prototypes as the test of the functions has them."""
    page = (ROOT / "docs" / "opencl-builtins.md").read_text()
    lines = re.findall(r"^\| `(intel_sub_group_\w+_matrix_mad_k\d+)` \| (\d) \| (\d+) \| (\d+) "
                       r"\| `(\w+)` \| `(\w+)` \| `(\w+)` \|$", page, re.M)
    assert len(lines) == len(set(lines)) == 92
    assert {(name, a, b, acc): (int(k), int(n)) for name, _, n, k, a, b, acc in lines} == PROTOTYPES
    for _, m, *_, acc in lines:
        assert m == (re.sub(r"\D", "", acc) or "1")
