"""Every command and every code block of the READMEs and of docs/ runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import coopmat as cm
from tools import make_docs

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Commands that set up or run everything: continuous integration runs them by themselves.
RUN_ELSEWHERE = ("make ", "pip install", "python benchmarks/")


def blocks(language: str) -> list[pytest.ParameterSet]:
    found = []
    for page in PAGES:
        for match in re.finditer(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S):
            line = page.read_text()[: match.start()].count("\n") + 1
            found.append(pytest.param(match[1], id=f"{page.relative_to(ROOT)}:{line}"))
    return found


@pytest.mark.parametrize("source", blocks("python"))
def test_python(source: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", source], cwd=tmp_path, check=True, timeout=120)


@pytest.mark.parametrize("source", blocks("sh"))
def test_commands(source: str, tmp_path: Path) -> None:
    for name in ("examples", "benchmarks", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in source.replace("\\\n", " ").splitlines():
        if command.strip() and not command.startswith(RUN_ELSEWHERE):
            subprocess.run(command, shell=True, cwd=tmp_path, env=environment, check=True, timeout=300)


@pytest.mark.parametrize("source", blocks("c"))
def test_opencl_c(source: str) -> None:
    """A block of OpenCL C is a whole file, or the inside of a kernel."""
    text = source if "kernel void" in source else f"kernel void block(void)\n{{\n{source}}}\n"
    cm.build(text)


def test_every_link_has_a_target() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_generated_pages_are_current() -> None:
    for name, page in make_docs.PAGES.items():
        assert (ROOT / "docs" / name).read_text() == page(), f"run tools/make_docs.py to renew docs/{name}"
