"""Which devices there are. Drivers are looked at in a child process, as some crash or hang, and the answer is kept for
these drivers; those that fail are left out in this process."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coopmat.diagnostics import Error
from coopmat.support.cache import find_cache, key
from coopmat.targets.base.children import Ending, answer
from coopmat.targets.vulkan.api.library import VARIABLE, loader
from coopmat.targets.vulkan.host.facts import DeviceFacts
from coopmat.targets.vulkan.host.instance import DRIVERS_VARIABLE, instance

SECONDS = 30.0  # for all drivers to say what they have
FAILURE_LIFE = 24 * 3600  # seconds after which a matrix that failed is tried again
DRIVER_FAILURE_LIFE = 600  # and a driver: what it lacks may have been installed
_DRIVER_VARIABLES = (DRIVERS_VARIABLE, "VK_ICD_FILENAMES")
_PREFIXES = ("VK_", "COOPMAT_VULKAN", "AMD_", "AMDGPU_", "RADV_", "NOUVEAU_", "NVK_", "NAK_", "INTEL_", "ANV_", "MESA_",
             "LP_", "GALLIUM_", "LD_PRELOAD", "LD_LIBRARY_PATH", "DISPLAY", "WAYLAND_DISPLAY", "MVK_", "CUDA_VISIBLE_")
"""Beginnings of the names of variables that change what drivers say."""
_NODES = (("/dev/dri", "*"), ("/dev", "nvidia*"), ("/dev", "kfd"), ("/dev", "dxg"))


@dataclass(frozen=True)
class Listing:
    """The devices, GPUs first. drivers: the manifests of those that can be used, None: all. problems: what is wrong
    with others, or why there are no devices."""

    devices: tuple[DeviceFacts, ...] = ()
    drivers: tuple[str, ...] | None = None
    problems: tuple[str, ...] = ()


_known: dict[str, Listing] = {}


def listing() -> Listing:
    """The devices that are here. Nothing that drivers do can end this process."""
    try:
        path = loader().path
    except Error as error:
        return Listing(problems=(str(error),))
    found = manifests()
    if not found and sys.platform.startswith("linux") and not os.environ.get(VARIABLE):
        return Listing(problems=("Vulkan's loader is here, but no driver: no manifest lies in "
                                 f"{', '.join(map(str, manifest_folders()))}",))
    name = key("devices of Vulkan", str(path), *_situation(found))
    if name not in _known:
        _known[name] = _kept(name) or _looked_at(name, found)
    return _known[name]


def _kept(name: str) -> Listing | None:
    content = find_cache().get(name)
    if content is None:
        return None
    try:
        made_at, found = pickle.loads(content)
    except Exception:  # of another form
        return None
    is_old = found.problems and not 0 <= time.time() - made_at < DRIVER_FAILURE_LIFE
    return None if is_old or not isinstance(found, Listing) else found


def _looked_at(name: str, found: Sequence[Path]) -> Listing:
    made = _of_drivers(found)
    find_cache().put(name, pickle.dumps((time.time(), made)))
    return made


def _of_drivers(found: Sequence[Path]) -> Listing:
    """Ask all drivers at once; where that fails, one after the other."""
    got = _asked(None)
    if isinstance(got, list):
        return Listing(_sorted(got))
    if len(found) < 2:
        return Listing(problems=(f"the driver{f' of {found[0]}' if found else ''} cannot be used: {_reason(got)}",))
    usable, problems = [], []
    for path in found:
        one = _asked((str(path),))
        if isinstance(one, list):
            usable.append(str(path))
        else:
            problems.append(f"the driver of {path} cannot be used: {_reason(one)}")
    got = _asked(tuple(usable)) if usable else []
    if not isinstance(got, list):
        return Listing(problems=(*problems, f"the other drivers cannot be used together: {_reason(got)}"))
    return Listing(_sorted(got), tuple(usable), tuple(problems))


def _asked(drivers: tuple[str, ...] | None) -> list[DeviceFacts] | Ending | Exception:
    """What a child finds: the devices of some drivers, or why not."""
    environment = {} if drivers is None else {DRIVERS_VARIABLE: os.pathsep.join(drivers)}
    found: list[DeviceFacts] | Ending | Exception = answer(f"{__name__}:_facts", None, seconds=SECONDS,
                                                           environment=environment)
    return found


def _facts(_: None) -> list[DeviceFacts]:
    """In a child: all devices."""
    return instance().facts()


def _reason(found: Ending | Exception) -> str:
    if not isinstance(found, Ending):
        return str(found)
    return f"the process that asked it {found}" + (f": {found.log}" if found.log else "")


def _sorted(found: Sequence[DeviceFacts]) -> tuple[DeviceFacts, ...]:
    return tuple(sorted(found, key=lambda one: (bool(one.unusable), not one.is_gpu)))


# --------------------------------------------------------------------------- which drivers


def manifests() -> list[Path]:
    """The manifests of drivers where the loader looks for them, by the variables that it follows."""
    chosen = next((os.environ[name] for name in _DRIVER_VARIABLES if os.environ.get(name)), None)
    if chosen is not None:
        places = [Path(one) for one in chosen.split(os.pathsep) if one]
    else:
        places = [*map(Path, filter(None, os.environ.get("VK_ADD_DRIVER_FILES", "").split(os.pathsep))),
                  *manifest_folders()]
    return [path for place in places for path in _manifests_at(place)]


def _manifests_at(place: Path) -> Iterator[Path]:
    try:
        yield from sorted(place.glob("*.json")) if place.is_dir() else [place] if place.is_file() else []
    except OSError:
        return


def manifest_folders() -> list[Path]:
    """The folders where Linux's loader looks (its document LoaderDriverInterface)."""
    def listed(name: str, default: str) -> list[str]:
        return [one for one in (os.environ.get(name) or default).split(os.pathsep) if one]

    home = os.path.expanduser("~")
    roots = [*listed("XDG_CONFIG_HOME", f"{home}/.config"), *listed("XDG_CONFIG_DIRS", "/etc/xdg"), "/etc",
             *listed("XDG_DATA_HOME", f"{home}/.local/share"), *listed("XDG_DATA_DIRS", "/usr/local/share:/usr/share")]
    return [Path(root) / "vulkan" / "icd.d" for root in dict.fromkeys(roots)]


def _situation(found: Sequence[Path]) -> list[str]:
    """All that decides what drivers say: the manifests, which have versions, the nodes of GPUs, variables."""
    files = [f"{path} {state.st_size} {state.st_mtime_ns}" for path, state in _states(found)]
    nodes = sorted(str(one) for folder, pattern in _NODES for one in Path(folder).glob(pattern))
    variables = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(_PREFIXES)]
    return [*files, "", *nodes, "", *variables]


def _states(found: Sequence[Path]) -> Iterator[tuple[Path, os.stat_result]]:
    for path in found:
        try:
            yield path, path.stat()
        except OSError:
            continue
