"""Messages of a farm without delay.

Dask gathers messages for 2 to 10 ms, so that many small tasks cost little; a launch that comes after another one waits
for that at each station on its way. Workers load this module at their start.
"""

from __future__ import annotations

import contextlib
from typing import Any

INTERVAL = 5e-4  # seconds for which messages are gathered


def hasten(client: Any) -> None:
    """Have a client, and the scheduler to its clients and workers of now, gather messages for less time."""
    interval = INTERVAL

    def on_scheduler(dask_scheduler: Any) -> None:  # sent by value: schedulers need not have coopmat
        for one in (*dask_scheduler.stream_comms.values(), *dask_scheduler.client_comms.values()):
            one.interval = interval

    with contextlib.suppress(Exception):  # of another version of Dask, which is slower then
        client.scheduler_comm.interval = interval
        client.run_on_scheduler(on_scheduler)


def dask_setup(worker: Any) -> None:
    """Dask calls this in a worker's process when it has started."""
    from coopmat.machines import worker as launches  # noqa: F401 - loaded before the first launch

    with contextlib.suppress(AttributeError):
        worker.batched_stream.interval = INTERVAL
