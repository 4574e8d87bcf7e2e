"""Work on Vulkan's drivers, in processes of the interpreter that they are installed for: on lavapipe, or on what
stands in its place (tests/kit/oracles/vulkan.py).

A module of cases is a file of functions without parameters; they run one after the other in one child. Lavapipe crashes
at times: the case at which it does has failed, and those after it go to another child.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.kit.oracles import vulkan
from tests.kit.paths import ROOT

SECONDS = 240
_BEGUN, _RIGHT, _WRONG = "begun: ", "right: ", "wrong: "


def run(*arguments: str, driver: str = "", chip: str = "", validation: bool = False, seconds: int = SECONDS,
        cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Start the interpreter with arguments, and wait for its end. driver: one of Mesa's by its name; else the one that
    is tested. variables: of its environment."""
    python = vulkan.python(driver)
    assert python is not None
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = vulkan.environment(driver, chip, validation=validation) | {"PYTHONPATH": path, "COLUMNS": "200",
                                                                             **variables}
    return subprocess.run([python, *arguments], capture_output=True, text=True, env=environment, check=False,
                          timeout=seconds, cwd=cwd)


@dataclass(frozen=True)
class Tested:
    """What the driver that is tested says of ``vulkan:0``."""

    name: str
    driver: str
    devices: int
    sub_group_sizes: list[int]
    features: list[str]
    rows: list[str]
    """Of its table of matrices of sub-groups, as ``coopmat doctor`` writes them."""
    manifests: list[str]

    @property
    def sub_group_size(self) -> int:
        """The usual one."""
        return self.sub_group_sizes[0]

    @property
    def why_no_matrices(self) -> str:
        """Why none of its table can be counted on; nothing where all can."""
        if self.driver == "llvmpipe" and self.sub_group_size != 8:
            return f"lavapipe's matrices work in sub-groups of 8, and it has {self.sub_group_size} here"
        return "" if self.rows else f"the driver of {self.name} has no matrices"


_ASKED = """
import json, coopmat as cm
from coopmat.targets.vulkan.host.enumeration import listing, manifests
device = cm.device("vulkan:0")
facts = device.facts
print(json.dumps([facts.name, facts.driver, len(listing().devices), facts.sub_group_sizes, sorted(facts.features),
                  [str(row) for row in device.matrices.rows], [str(path) for path in manifests()]]))
"""


@cache
def tested() -> Tested:
    """The device that is tested, as a process sees it."""
    child = run("-c", _ASKED)
    assert child.returncode == 0, child.stderr
    return Tested(*json.loads(child.stdout))


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
