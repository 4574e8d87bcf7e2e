"""The runtime: devices, programs, kernels, queues and events (the package's public objects)."""

from coopmat.runtime.arguments import local
from coopmat.runtime.building import build
from coopmat.runtime.device import Device
from coopmat.runtime.events import Event
from coopmat.runtime.program import Kernel, Program
from coopmat.runtime.queue import Queue
from coopmat.runtime.selection import device, devices
from coopmat.targets.base.local_memory import LocalMemory

__all__ = ["Device", "Event", "Kernel", "LocalMemory", "Program", "Queue", "build", "device", "devices", "local"]
