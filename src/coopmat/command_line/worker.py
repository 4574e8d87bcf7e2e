"""``coopmat worker``: this machine's devices for a farm."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import pickle
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coopmat.diagnostics import Error
from coopmat.support.allocator import KEEPING
from coopmat.support.terminal import console, table
from coopmat.support.version import __version__
from coopmat.targets.cpu.options import available_cores

if TYPE_CHECKING:
    from coopmat.machines.farms import WorkerState
    from coopmat.machines.worker import DeviceRecord

MOST_MEMORY = 0.5  # of the machine's memory that one process may take before Dask ends it: launches may need much
WIDEST = 1 << 16  # columns of text
MEMORY = {"MALLOC_ARENA_MAX": 1, **KEEPING}
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def settings(processes: int) -> dict[str, Any]:
    """Dask's settings for processes that share this machine: its libraries for matrices have no more threads than there
    are cores, nobody looks at its stacks every 10 ms, and the C library keeps memory, for all threads, which it would
    give back at every turn: that costs the simulator time."""
    threads = max(1, available_cores() // processes)
    return {"distributed.worker.profile.enabled": False,
            "distributed.nanny.pre-spawn-environ": {**dict.fromkeys(THREADS, threads), **MEMORY}}


def worker(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The scheduler: dask://host:port.")],
    processes: Annotated[int | None, typer.Option(help="Processes for simulated devices; one for each core.")] = None,
    host: Annotated[str, typer.Option(help="Where to listen; other than loopback needs TLS.")] = "127.0.0.1",
) -> None:
    """Offer this machine's devices to a scheduler (`dask scheduler` starts one), until it is interrupted."""
    from coopmat.machines.farms import MISSING, PREFIX, is_encrypted
    from coopmat.machines.worker import METADATA, described, resources_of

    try:
        import dask
        from distributed import Client, Nanny

        from coopmat.machines.service import be_brief
    except ImportError as error:
        raise Error(f"{MISSING} ({error})") from None
    if not address.startswith(PREFIX):
        raise Error(f"a scheduler is called dask://host:port; found '{address}'")
    is_secure = is_encrypted()
    if not is_secure and not _is_loopback(host):
        raise Error(f"a worker runs what anybody sends who reaches it, so it listens at '{host}' only with TLS: set "
                    "distributed.comm.require-encryption and its certificates in Dask's settings (docs/farm.md)")
    count = processes if processes is not None else available_cores()
    dask.config.set(settings(count))
    be_brief()
    scheduler = f"{'tls' if is_secure else 'tcp'}://{address.removeprefix(PREFIX)}"
    machine, record = f"{socket.gethostname()}-{os.getpid()}", described()
    resources = [resources_of(record, is_first=number == 0) for number in range(count)]

    async def serve() -> None:
        async with Client(scheduler, asynchronous=True, set_as_default=False) as client:
            await client.set_metadata([METADATA, machine], (__version__, pickle.dumps(record)))
            most = max(MOST_MEMORY, 1 / count)
            nannies = await asyncio.gather(*(
                Nanny(scheduler, nthreads=1, host=host, name=f"{machine}:{number}", resources=own, memory_limit=most,
                      preload=["coopmat.machines.service"]) for number, own in enumerate(resources)))
            offered = dict.fromkeys(name for own in resources for name in own)
            print(f"{count} processes offer {', '.join(offered)} to {address}", flush=True)
            await asyncio.gather(*(one.finished() for one in nannies))
            raise Error(f"the scheduler at {address} is gone: start it again, and then this")

    try:
        asyncio.run(serve())
    except (OSError, TimeoutError) as error:
        raise Error(f"no scheduler answers at {address}: {error}") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(socket.gethostbyname(host)).is_loopback
    except (OSError, ValueError):
        raise Error(f"'{host}' is no address of this machine") from None


def show_farm(address: str, name: str | None, *, as_json: bool) -> None:
    """Print the devices of all machines of a farm, or those of a name, with how many processes have each."""
    from coopmat.machines import farm
    from coopmat.machines.worker import resource_of

    machines: dict[str, list[WorkerState]] = {}
    found = farm(address)
    for state in found.workers():
        machines.setdefault(state.machine, []).append(state)
    rows = [_row(record, states, [one for one in states if resource_of(record.name) in one.resources])
            for states in machines.values() for record in states[0].record.devices
            if name in (None, record.name, record.architecture)]
    rows = [row for row in rows if row["processes"]]
    for line in found.refused:
        print(f"coopmat: {line}", file=sys.stderr)
    if not rows:
        raise Error(f"no worker of {address} has {'a device' if name is None else f'the device {name!r}'}")
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    shown = table(*rows[0])
    for row in sorted(rows, key=lambda row: (row["device"].startswith("sim:"), row["host"])):
        shown.add_row(*(f"{one:.0%}" if key == "load" else str(one) for key, one in row.items()))
    printed = console()
    printed.width = WIDEST
    printed.width = printed.measure(shown).maximum  # a narrower terminal wraps the lines
    printed.print(shown)


def _row(record: DeviceRecord, machine: Sequence[WorkerState], having: Sequence[WorkerState]) -> dict[str, Any]:
    """A device of a machine, some of whose processes have it. load: of one of these, on average."""
    return {"device": record.name, "architecture": record.architecture, "chip": record.chip, "driver": record.driver,
            "host": machine[0].record.host, "processes": len(having),
            "load": sum(one.load for one in having) / max(1, len(having)),
            "running": sum(one.running for one in having)}
