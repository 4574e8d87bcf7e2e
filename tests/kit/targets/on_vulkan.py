"""Work on Mesa's Vulkan drivers, in processes of the interpreter that they are installed for.

A module of cases is a file of functions without parameters; they run one after the other in one child. Lavapipe crashes
at times: the case at which it does has failed, and those after it go to another child.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.kit.oracles import vulkan
from tests.kit.paths import ROOT

SECONDS = 240
_BEGUN, _RIGHT, _WRONG = "begun: ", "right: ", "wrong: "


def run(*arguments: str, driver: str = "lavapipe", chip: str = "", validation: bool = False, seconds: int = SECONDS,
        cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Start the interpreter with arguments, and wait for its end. variables: of its environment."""
    python = vulkan.python()
    assert python is not None
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = vulkan.environment(driver, chip, validation=validation) | {"PYTHONPATH": path, "COLUMNS": "200",
                                                                             **variables}
    return subprocess.run([python, *arguments], capture_output=True, text=True, env=environment, check=False,
                          timeout=seconds, cwd=cwd)


@cache
def outcomes(module: str, *names: str, validation: bool = False, switch: str = "") -> dict[str, str]:
    """What came of each case of a module: nothing, or the error. switch: a variable that is set."""
    found: dict[str, str] = {}
    while len(found) < len(names):
        left = [name for name in names if name not in found]
        child = run("-m", __name__, module, *left, validation=validation, **({switch: "1"} if switch else {}))
        before = len(found)
        for part in child.stdout.split(_BEGUN)[1:]:
            name, _, text = part.partition("\n")
            is_right, _, rest = text.partition(_RIGHT)
            ended = _RIGHT in text or _WRONG in text
            found[name] = "" if _RIGHT in text else text if ended else (
                f"the process ended with {child.returncode}: {is_right}{rest}{child.stderr[-3000:]}")
        if len(found) == before:
            raise AssertionError(f"the process ended with {child.returncode}: {child.stderr[-3000:]}")
    return found


def cases_of(module: str) -> Sequence[str]:
    """The names of a module's cases."""
    return [name for name, one in vars(importlib.import_module(module)).items()
            if callable(one) and getattr(one, "__module__", "") == module and not name.startswith("_")]


def _main(module: str, *names: str) -> None:
    for name in names:
        print(_BEGUN + name, flush=True)
        try:
            getattr(importlib.import_module(module), name)()
        except BaseException:
            print(_WRONG + traceback.format_exc(), flush=True)
        else:
            print(_RIGHT, flush=True)
    os._exit(0)  # drivers may crash when they are unloaded


if __name__ == "__main__":
    _main(*sys.argv[1:])
