"""The transcripts of docs/debugger.md are what the commands in them print, and the page has every command."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coopmat.command_line.debug import ATTRIBUTES, CLIENTS
from coopmat.debugger.shell import COMMANDS
from tests.kit.command_line import coopmat, failure
from tests.kit.dap import adapter
from tests.kit.paths import ROOT

PAGE = (ROOT / "docs" / "debugger.md").read_text()


def block(language: str) -> str:
    match = re.search(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
    assert match is not None
    return match[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scan.cl").write_text(block("c"))
    np.save(tmp_path / "ones.npy", np.ones(16, np.int32))
    return tmp_path


def test_the_session(folder: Path) -> None:
    command, *lines = block("console").splitlines()
    (folder / "commands").write_text("\n".join(
        line.removeprefix("(coopmat) ") for line in lines if line.startswith("(coopmat) ")))
    result = coopmat(*shlex.split(command)[2:], "--script", "commands", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == lines


def test_python(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", block("python")], cwd=tmp_path, capture_output=True, text=True,
                            check=True, timeout=120)
    assert result.stdout.splitlines() == block("text").splitlines()


def test_what_an_editor_sends_and_gets(folder: Path) -> None:
    with adapter(folder) as client:
        answer: Any = None
        for line in block("dap").splitlines():
            event = re.match(r"< event (\w+) ", line)
            if line.startswith("> "):
                command, _, arguments = line[2:].partition(" ")
                answer = client.ask(command, json.loads(arguments))
            elif event:
                assert_has(client.wait_for(event[1]), json.loads(line[event.end():]), line)
            else:
                assert_has(answer, json.loads(line[2:]), line)


def assert_has(found: Any, part: Any, line: str) -> None:
    """``part`` is what is found, or objects in it have more members."""
    if isinstance(part, dict):
        for name, value in part.items():
            assert_has(found[name], value, line)
    elif isinstance(part, list):
        assert len(found) == len(part), line
        for one, other in zip(found, part, strict=True):
            assert_has(one, other, line)
    else:
        assert found == part, line


def test_an_editor_s_attributes_are_in_the_table(folder: Path) -> None:
    for name, (kind, text) in ATTRIBUTES.items():
        assert f"| `{name}` | {kind if isinstance(kind, str) else ', '.join(kind)} | {text} |" in PAGE
    launch, attach = json.loads(block("json"))["configurations"]
    assert set(launch) <= {*ATTRIBUTES, *CLIENTS}
    assert set(attach) <= {*CLIENTS}


def test_every_command_is_in_the_table() -> None:
    for name, command in COMMANDS.items():
        usage = f"{name} {command.usage}".strip().replace("|", "\\|")
        assert f"| `{usage}` | {', '.join(f'`{short}`' for short in command.names)} | {command.help} |" in PAGE


def test_wrong_commands_and_options_end_with_1(folder: Path) -> None:
    launch = ["debug", "scan.cl", "--global", "16", "--local", "8", "--arg", "ones.npy", "--arg", "zeros:int32:16",
              "--arg", "local:32"]
    (folder / "wrong").write_text("run\nprint i\n")
    result = coopmat(*launch, "--script", "wrong", cwd=folder)
    assert result.returncode == 1
    assert "error: the kernel does not stand anywhere" in result.stdout
    assert "debugged on simulated devices" in failure(*launch, "--device", "cpu", "--script", "wrong", cwd=folder)
    assert "nowhere" in failure(*launch, "--script", "nowhere", cwd=folder)
    (folder / "right").write_text("run\n")
    assert coopmat(*launch, "--script", "right", "--out", "1=out.npy", cwd=folder).returncode == 0
    assert np.load(folder / "out.npy")[:8].tolist() == [1, 4, 7, 8, 8, 8, 8, 8]  # 1 + 3, 1 + 3 + 3, 1 + 3 + 3 + 1
