"""The command line, run as a user runs it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.kit.paths import EXAMPLES
from tests.kit.processes import run_module

GEMM = str(EXAMPLES / "gemm.cl")


def coopmat(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What the command line answers to these arguments, in a process of its own."""
    return run_module("coopmat", [str(one) for one in arguments], cwd=cwd)


def failure(*arguments: str | Path, cwd: Path | None = None) -> str:
    """The message of a command that must fail with exit code 1, without a traceback."""
    result = coopmat(*arguments, cwd=cwd)
    assert result.returncode == 1, result
    assert "Traceback" not in result.stderr
    assert result.stderr.strip()
    return result.stderr
