"""The command line, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.kit.paths import EXAMPLES

GEMM = str(EXAMPLES / "gemm.cl")


def coopmat(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What the command line answers to these arguments, in a process of its own."""
    return subprocess.run([sys.executable, "-m", "coopmat", *map(str, arguments)], cwd=cwd, capture_output=True,
                          text=True, timeout=120, check=False)


def failure(*arguments: str | Path, cwd: Path | None = None) -> str:
    """The message of a command that must fail with exit code 1, without a traceback."""
    result = coopmat(*arguments, cwd=cwd)
    assert result.returncode == 1, result
    assert "Traceback" not in result.stderr
    assert result.stderr.strip()
    return result.stderr
