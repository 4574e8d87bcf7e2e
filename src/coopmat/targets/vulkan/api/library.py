"""Vulkan's loader, and the commands that it gives: each is called by its name without ``vk``, and every failure is an
error of ours."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from coopmat.diagnostics import Error, LaunchError
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.api.failures import failure
from coopmat.targets.vulkan.api.structures import CODES, rows
from coopmat.targets.vulkan.api.table import COMMANDS

VARIABLE = "COOPMAT_VULKAN"
"""Names the library in place of the system's loader; ``off`` is none."""
OFF = "off"
SETTINGS = {
    # With AVX-512, LLVM 22 makes wrong code of lavapipe's for a sign that is set beside a test for NaN: erf and atan.
    "GALLIUM_OVERRIDE_CPU_CAPS": "avx",
}
"""Variables with which drivers compute what they should. Those that the user has set stay."""
_NAMES = {"win32": ("vulkan-1.dll",),
          "darwin": ("libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib")}
_OTHERWISE = ("libvulkan.so.1", "libvulkan.so")


@cache
def _forms() -> dict[str, Any]:
    """The C types of all commands."""
    make: Any = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)
    return {name: make(*(CODES[code] for code in codes)) for name, *codes in rows(COMMANDS)}


class Commands:
    """The commands of a loader, of an instance or of a device: ``commands.CreateBuffer(…)``. Those with a result raise
    LaunchError when they fail, and return it otherwise.

    ``find``: gives a command's address, None if there is none. ``what``: what errors call the object.
    """

    def __init__(self, find: Callable[[str], int | None], what: str) -> None:
        self._find = find
        self.what = what

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _forms():
            raise AttributeError(name)
        address = self._find(f"vk{name}")
        if not address:
            raise Error(f"{self.what} has no vk{name}")
        made = _forms()[name](address)
        command = self._checked(name, made) if made.restype is ctypes.c_int32 else made
        setattr(self, name, command)
        return command

    def _checked(self, name: str, made: Callable[..., int]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            status = made(*arguments)
            if status < 0:
                raise failure(status, f"{self.what}: vk{name}", LaunchError)
            return status

        return call

    def handle(self, name: str, *arguments: Any) -> Any:
        """Call a command that makes something: its handle, a number."""
        kind = ctypes.c_void_p if name in ("CreateInstance", "CreateDevice") else ctypes.c_uint64
        made = kind()
        getattr(self, name)(*arguments, None, ctypes.byref(made))
        return made.value

    def listed(self, name: str, *arguments: Any, kind: Any) -> list[Any]:
        """Call a command that fills an array, twice: its elements. ``kind``: makes the array of so many."""
        count = ctypes.c_uint32()
        while True:
            getattr(self, name)(*arguments, ctypes.byref(count), None)
            found = kind(count.value)
            if getattr(self, name)(*arguments, ctypes.byref(count), found) != vk.INCOMPLETE:
                return list(found)[:count.value]

    def listed_void(self, name: str, *arguments: Any, kind: Any) -> list[Any]:
        """The same of a command without a result. ``kind``: the elements' type."""
        count = ctypes.c_uint32()
        getattr(self, name)(*arguments, ctypes.byref(count), None)
        found = (kind * count.value)()
        getattr(self, name)(*arguments, ctypes.byref(count), found)
        return list(found)[:count.value]


def library_names() -> tuple[str, ...]:
    """What the loader may be called here; none if it is turned off."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return () if chosen == OFF else (chosen,)
    return _NAMES.get(sys.platform, _OTHERWISE)


def _opened() -> Any:
    """The library. Error, saying what was looked for, if there is none."""
    names = library_names()
    if not names:
        raise Error(f"Vulkan is turned off by {VARIABLE}={OFF}")
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reason = error
    if os.environ.get(VARIABLE):
        raise Error(f"there is no Vulkan here: {VARIABLE} names {names[0]}: {reason}")
    raise Error(f"there is no Vulkan here: its loader is not installed (looked for {' and '.join(names)})")


@cache
def loader() -> Commands:
    """The commands that need no instance. Error if there is no Vulkan. Sets what drivers read when they are loaded."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    library = _opened()
    try:
        address = ctypes.cast(library.vkGetInstanceProcAddr, ctypes.c_void_p).value
    except AttributeError:
        raise Error(f"{library._name} is no library of Vulkan: it has no vkGetInstanceProcAddr") from None
    find = _forms()["GetInstanceProcAddr"](address)
    found = Commands(lambda name: address if name == "vkGetInstanceProcAddr" else find(None, name.encode()), "Vulkan")
    found.path = library._name  # type: ignore[attr-defined]
    return found


def of_instance(instance: int) -> Commands:
    """The commands of an instance."""
    find = loader().GetInstanceProcAddr
    return Commands(lambda name: find(instance, name.encode()), "Vulkan")


def of_device(commands: Commands, device: int, name: str) -> Commands:
    """The commands of a device. commands: its instance's."""
    find = commands.GetDeviceProcAddr
    return Commands(lambda command: find(device, command.encode()), name)


def has_loader() -> bool:
    """Whether there is a loader."""
    try:
        loader()
    except Error:
        return False
    return True
