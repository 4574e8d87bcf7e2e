"""An instance of Vulkan in this process, and its devices."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from coopmat.diagnostics import Error
from coopmat.support.forks import ProcessBound
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.api.library import Commands, loader, of_instance
from coopmat.targets.vulkan.api.structures import make, structure
from coopmat.targets.vulkan.host.facts import DeviceFacts
from coopmat.targets.vulkan.host.query import LEAST_API, facts

DRIVERS_VARIABLE = "VK_DRIVER_FILES"
LAYER = "VK_LAYER_KHRONOS_validation"
DEBUG_UTILS, PORTABILITY = "VK_EXT_debug_utils", "VK_KHR_portability_enumeration"
_PORTABILITY_FLAG = 1
FORKED = ("Vulkan was in use before this process was forked, and nothing of it works in the child: start processes "
          "with multiprocessing's method 'spawn' or 'forkserver', or fork before the first use of a device")
_Callback = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)


class Instance:
    """An instance. ``validates``: with Khronos's layer, whose messages are in ``messages``; Error if it is not
    installed."""

    def __init__(self, validates: bool, drivers: Sequence[str] | None) -> None:
        if _forks.is_child:
            raise Error(FORKED)
        _forks.is_started = True
        self.messages: list[str] = []
        with _only(drivers):
            self.handle = self._created(validates)
            self.commands = of_instance(self.handle)
            if validates:
                self.commands.handle("CreateDebugUtilsMessengerEXT", self.handle, ctypes.byref(self._messenger()))
            self.physical: list[int] = self.commands.listed("EnumeratePhysicalDevices", self.handle,
                                                            kind=lambda count: (ctypes.c_void_p * count)())

    def _created(self, validates: bool) -> int:
        base = loader()
        if validates:
            _check_layer(base)
        known = {one.extensionName.decode() for one in base.listed(
            "EnumerateInstanceExtensionProperties", None,
            kind=lambda count: (structure("ExtensionProperties") * count)())}
        extensions = [*({PORTABILITY} & known), *([DEBUG_UTILS] if validates else [])]
        application = make("ApplicationInfo", pApplicationName="coopmat", pEngineName="coopmat", apiVersion=LEAST_API)
        wanted = make("InstanceCreateInfo", after=self._messenger() if validates else None,
                      flags=_PORTABILITY_FLAG if PORTABILITY in extensions else 0, pApplicationInfo=application,
                      **_names("Layer", [LAYER] if validates else []), **_names("Extension", extensions))
        made: int = base.handle("CreateInstance", ctypes.byref(wanted))
        return made

    def _messenger(self) -> Any:
        severity = vk.DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | vk.DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT
        self._callback = _Callback(self._noted)
        return make("DebugUtilsMessengerCreateInfoEXT", messageSeverity=severity,
                    messageType=vk.DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
                    pfnUserCallback=ctypes.cast(self._callback, ctypes.c_void_p).value)

    def _noted(self, severity: int, kind: int, data: int, _: Any) -> int:
        found = structure("DebugUtilsMessengerCallbackDataEXT").from_address(data)
        self.messages.append((ctypes.string_at(found.pMessage) if found.pMessage else b"").decode(errors="replace"))
        return 0

    def facts(self) -> list[DeviceFacts]:
        """What is known of each device."""
        return [facts(self.commands, one, ordinal) for ordinal, one in enumerate(self.physical)]


def _names(kind: str, names: Sequence[str]) -> dict[str, Any]:
    return {f"enabled{kind}Count": len(names), f"ppEnabled{kind}Names": list(names)}


def _check_layer(base: Commands) -> None:
    layers = base.listed("EnumerateInstanceLayerProperties",
                         kind=lambda count: (structure("LayerProperties") * count)())
    if LAYER not in {one.layerName.decode() for one in layers}:
        raise Error(f"validation=True needs the layer {LAYER}, and Vulkan's loader does not find it: install it "
                    "(Debian's vulkan-validationlayers), or name its folder in VK_ADD_LAYER_PATH")


@contextmanager
def _only(drivers: Sequence[str] | None) -> Iterator[None]:
    """The loader sees some drivers only."""
    before = os.environ.get(DRIVERS_VARIABLE)
    if drivers is None:
        yield
        return
    os.environ[DRIVERS_VARIABLE] = os.pathsep.join(drivers)
    try:
        yield
    finally:
        del os.environ[DRIVERS_VARIABLE]
        if before is not None:
            os.environ[DRIVERS_VARIABLE] = before


@cache
def instance(validates: bool = False, drivers: tuple[str, ...] | None = None) -> Instance:
    """The instance of this process. drivers: the manifests of those that may be loaded; None: all. Error if there is no
    Vulkan here, or no driver."""
    return Instance(validates, drivers)


def is_forked() -> bool:
    """Whether this process is the child of one that had started Vulkan."""
    return _forks.is_child


_forks = ProcessBound(instance.cache_clear)
