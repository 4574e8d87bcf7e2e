"""Shaders tried out in a process of their own: drivers' compilers crash, some of them at the first launch only.

The process is started by the first shader and lives as long as this one does. There the pipeline is made, and launched
with no work-groups at all, at which a driver compiles what it has left for later.
"""

from __future__ import annotations

import atexit
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import Error
from coopmat.support.cache import Cache
from coopmat.support.forks import ForkSafeLock, after_fork
from coopmat.targets.base.children import Child, Ending

SECONDS = 300.0
"""That a driver may take for a shader."""
_CHILDREN: list[Child] = []
_LOCK = ForkSafeLock()
after_fork(_CHILDREN.clear)


@dataclass(frozen=True)
class Trial:
    """A pipeline on the device of a number: as of :class:`coopmat.targets.vulkan.host.pipelines.Pipeline`."""

    number: int
    kernel: str
    spirv: bytes
    entry_point: str
    values: tuple[tuple[int, int], ...]
    pushed: int
    sub_group_size: int | None
    full: bool


def survives(trial: Trial, driver: str) -> None:
    """Raise Error, with the kernel's name, for a shader that the driver does not survive. What it refuses in an
    orderly way is not looked at: that is said where the pipeline is made."""
    with _LOCK:
        if not _CHILDREN or not _CHILDREN[0].is_alive:
            _CHILDREN[:] = [Child(f"{__name__}:made")]
        found = _CHILDREN[0].ask(trial, SECONDS)
    if isinstance(found, Ending):
        log = f": {found.log}" if found.log else ""
        raise Error(f"kernel '{trial.kernel}': {driver} does not survive the shader: the process that tried it "
                    f"{found}{log}")


def made(trial: Trial) -> None:
    """Make the pipeline and launch it, in the child."""
    from coopmat.targets.vulkan.api import constants as vk
    from coopmat.targets.vulkan.host.context import context
    from coopmat.targets.vulkan.host.pipelines import Pipeline

    own = context(trial.number)
    pipeline = Pipeline(own, trial.kernel, trial.spirv, trial.entry_point, dict(trial.values), trial.pushed,
                        trial.sub_group_size, trial.full, Cache(None))

    def record(to: Any) -> None:
        own.commands.CmdBindPipeline(to, vk.PIPELINE_BIND_POINT_COMPUTE, pipeline.handle)
        if trial.pushed:
            own.commands.CmdPushConstants(to, pipeline.layout, vk.SHADER_STAGE_COMPUTE_BIT, 0, trial.pushed,
                                          bytes(trial.pushed))
        own.commands.CmdDispatch(to, 0, 0, 0)

    own.submit(record, f"a launch of kernel '{trial.kernel}' without work-groups").wait(SECONDS)


@atexit.register
def _close() -> None:
    for child in _CHILDREN:
        if child.is_alive:
            child.close()
