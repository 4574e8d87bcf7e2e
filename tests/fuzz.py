"""Random kernels beside each other's results, over many seeds: on the cores of this machine, or on a farm.

    python -m tests.fuzz --checks source,llvm,graph --seeds 1000:2000 --device cpu --on dask://host:8786

Each check of ``tests.kit.fuzz.targets`` compares a kernel of a seed on the simulator with a device, or at LLVM's
levels. What disagrees is printed with its seed, which ``python -m tests.kit.fuzz SEED`` cuts down; the exit status is 1
then. With ``--record`` a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import coopmat as cm

ROOT = Path(__file__).parents[1]
WITH_DEVICE = ("source", "llvm", "graph")
CHECKS = (*WITH_DEVICE, "levels", "model")
CODE = ("tests/fuzz.py", "tests/kit")
"""What a farm's workers need beside coopmat."""


def checked(device: str, configuration: tuple[str, int]) -> str:
    """What a check finds wrong with a seed; empty if nothing is."""
    from tests.kit.fuzz import targets

    name, seed = configuration
    found: Callable[..., str] = getattr(targets, f"of_{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.CompileWarning)
        return found(seed, device) if name in WITH_DEVICE else found(seed)


def seeds_of(text: str) -> range:
    """``1000:2000``, or one seed."""
    first, _, end = text.partition(":")
    return range(int(first), int(end) if end else int(first) + 1)


def bring(farm: cm.Farm) -> None:
    """Send what checks need to all workers of a farm, also to those that come later."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "coopmat_tests.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            paths = [path.relative_to(ROOT) for name in CODE
                     for path in sorted((ROOT / name).rglob("*.py")) or [ROOT / name]]
            folders = {one for path in paths for one in path.parents if one.name}
            for folder in {folder for folder in folders if folder / "__init__.py" not in paths}:
                made.writestr(str(folder / "__init__.py"), "")  # archives have no packages without it
            for path in paths:
                made.write(ROOT / path, path)
        farm.client.upload_file(str(archive))


def main(words: Sequence[str] | None = None) -> int:
    """Check; 1 if something is wrong, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", default="local", help="'local', or a farm: dask://host:port")
    parser.add_argument("--checks", default=",".join(WITH_DEVICE), help=f"of {', '.join(CHECKS)}")
    parser.add_argument("--seeds", type=seeds_of, default=range(64), help="FIRST:END, or one")
    parser.add_argument("--device", default="cpu", help=f"beside the simulator, for {', '.join(WITH_DEVICE)}")
    parser.add_argument("--record", help="a file that keeps what was found")
    given = parser.parse_args(words)
    names = given.checks.split(",")
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        parser.error(f"there is no check {', '.join(unknown)}; the checks are {', '.join(CHECKS)}")
    where: str | cm.Farm = given.on
    if given.on != "local":
        where = cm.farm(given.on)
        bring(where)
    wrong = count = 0
    configurations = [(name, seed) for seed in given.seeds for name in names]
    for outcome in cm.sweep(partial(checked, given.device), configurations, on=where, record=given.record):
        count += 1
        text = outcome.error or outcome.value
        if text:
            wrong += 1
            print(*outcome.configuration, text, flush=True)
    print(f"{count} checks, {wrong} with something wrong")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
