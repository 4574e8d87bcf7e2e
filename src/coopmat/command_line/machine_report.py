"""``coopmat doctor --report FILE.json``: a machine, its drivers, what they compute and how fast, in one file.

docs/machine-report.md says what is in it. Each device is looked at in a process of its own, as drivers crash.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.devices import Combination
from coopmat.devices.operands import types_text
from coopmat.diagnostics import Error
from coopmat.formats import format_of
from coopmat.support.files import replace
from coopmat.support.terminal import progress_bar
from coopmat.support.version import __version__
from coopmat.targets.base.children import Ending, answer

if TYPE_CHECKING:
    from coopmat.command_line.doctor import Finding
    from coopmat.runtime import Device

FORMAT, VERSION = "coopmat machine report", 1
SECONDS = 300.0  # for one device
MOST_PROBED = 8  # combinations of types whose arithmetic is probed
COPIED = 16 << 20  # bytes
PRODUCT = 512  # M, N and K
C_NAMES = {"fp16": "half", "fp32": "float", "fp64": "double", "bf16": "__bf16", "sint8": "char", "uint8": "uchar",
           "sint32": "int", "uint32": "uint"}
COPY = """kernel void copy(global const float4 *from, global float4 *to) {
    size_t i = get_global_id(0); to[i] = from[i]; }"""


def write(path: Path, findings: Iterable[Finding]) -> None:
    """Write the report; OSError becomes an Error. findings: the doctor's."""
    from coopmat.runtime import devices

    if not path.parent.is_dir():
        raise Error(f"cannot write {path}: there is no folder {path.parent}")
    names = [one.name for one in devices() if not one.description.is_simulated]
    found: list[dict[str, Any]] = []
    with progress_bar("looking at", len(names)) as begin:
        for name in names:
            begin(name)
            got = answer(f"{__name__}:described", name, seconds=SECONDS)
            found.append({"name": name, "error": _reason(got)} if isinstance(got, Ending | Exception) else got)
    report = {"format": FORMAT, "version": VERSION, "coopmat": __version__,
              "made_at": datetime.now(UTC).isoformat(timespec="seconds"), "machine": _machine(),
              "findings": [_anonymous(asdict(one)) for one in findings], "devices": found}
    try:
        replace(path, (json.dumps(report, indent=1) + "\n").encode())
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror or error}") from None
    print(f"{path}: {len(names)} devices, their drivers, and what doctor says; nothing else of this machine is in it")


def _reason(found: Ending | Exception) -> str:
    return f"the process that looked at it {found}" if isinstance(found, Ending) else str(found)


def _anonymous(finding: dict[str, str]) -> dict[str, str]:
    """A finding without the name of the user's folder."""
    home = os.path.expanduser("~")
    return {name: text.replace(home, "~") if len(home) > 1 else text for name, text in finding.items()}


def _machine() -> dict[str, Any]:
    from coopmat.runtime.timing import processor_name

    return {"system": platform.system(), "release": platform.release(), "machine": platform.machine(),
            "processor": processor_name(), "cores": os.cpu_count(), "python": platform.python_version()}


# --------------------------------------------------------------------------- a device, in a child process


def described(name: str) -> dict[str, Any]:
    """What is found out about a device."""
    from coopmat.runtime import device

    found = device(name)
    limits = found.description.limits
    native = [row for row in found.matrix_combinations if row.native]
    return {"name": name, "architecture": found.architecture, "driver": _driver(found),
            "sub_group_sizes": list(found.sub_group_sizes), "local_memory": limits.local_memory,
            "work_group": limits.work_group, "matrix_combinations": [asdict(row) for row in native],
            "verdicts": _verdicts(found), "numerics": list(_numerics(found, native)),
            "benchmarks": list(_benchmarks(found, native))}


def _driver(found: Device) -> dict[str, Any] | None:
    facts = getattr(found, "facts", None)
    return None if facts is None else dict(facts.to_json())


def _verdicts(found: Device) -> list[dict[str, str]]:
    """What came of trying the driver's matrices, of devices where that is done."""
    from coopmat.runtime.vulkan_device import VulkanDevice

    if not isinstance(found, VulkanDevice):
        return []
    rows = found.matrices.verdicts(found.matrices.rows, found.sub_group_sizes[0])
    return [{"row": str(one.row), "verdict": one.text} for one in rows]


def _numerics(found: Device, native: Sequence[Combination]) -> Iterator[dict[str, Any]]:
    """The arithmetic of the hardware's matrices: the first row of each combination of types."""
    from coopmat.probing import probe, setup_of
    from coopmat.probing.kernels import multiplier

    first = {row.types: row for row in reversed(native)}
    for types, row in [*first.items()][:MOST_PROBED]:
        m, n, k = row.largest
        properties = _or_error(lambda types=types, m=m, n=n, k=k: probe(  # type: ignore[misc]
            multiplier(found, types, (m, n, k)), setup_of(types, k), m, n))
        yield {"types": types_text(*types), "shape": [m, n, k], "properties": properties}


def _or_error(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Error as error:
        return {"error": str(error)}


@dataclass(frozen=True)
class Benchmark:
    """A launch, and how much it does: bytes that are moved, or operations."""

    name: str
    amount: float
    unit: str
    launch: Callable[[], Any]


def _benchmarks(found: Device, native: Sequence[Combination]) -> Iterator[dict[str, Any]]:
    from coopmat.tuning import do_bench

    for make in (lambda: _copy(found), lambda: _product(found, native)):
        try:
            one = make()
            if one is not None:
                seconds = do_bench(one.launch, device=found, warmup=20, rep=100)
                yield {"name": one.name, "seconds": seconds, "rate": one.amount / seconds, "unit": one.unit}
        except Error as error:
            yield {"name": "benchmark", "error": str(error)}


def _copy(found: Device) -> Benchmark:
    from coopmat.runtime import Queue, build

    queue = Queue(found)
    source, target = (_memory(found, np.dtype(np.float32), COPIED) for _ in range(2))
    kernel = build(COPY, device=found).kernel("copy")
    return Benchmark(f"copy of {COPIED >> 20} MiB", 2.0 * COPIED, "bytes/s",
                     lambda: queue.enqueue(kernel, COPIED // 16, None, source, target))


def _product(found: Device, native: Sequence[Combination]) -> Benchmark | None:
    """examples/gemm_blocked.cl with the first of the hardware's tiles that it takes."""
    from coopmat.runtime import Queue, build

    row = next((row for row in native if set(row.types) <= C_NAMES.keys() and _divides(row)), None)
    if row is None:
        return None
    (m, n, k), size = row.largest, found.sub_group_sizes[0]
    signed = sum(1 << place for place, name in enumerate(row.types) if name.startswith("sint"))
    options = (f"-DTM={m}", f"-DTN={n}", f"-DTK={k}", f"-DIN={C_NAMES[row.atype]}", f"-DOUT={C_NAMES[row.dtype]}",
               f"-DFLAGS={signed}")
    source = (resources.files("coopmat") / "examples" / "gemm_blocked.cl").read_text()
    kernel, queue = build(source, options, found).kernel("gemm"), Queue(found)
    a, b, c = (_memory(found, format_of(name).dtype, PRODUCT**2 * format_of(name).dtype.itemsize)
               for name in (row.atype, row.btype, row.dtype))
    grid = (PRODUCT // (2 * n) * size, PRODUCT // (2 * m))
    return Benchmark(f"gemm_blocked.cl, {types_text(*row.types)}, {m}x{n}x{k}, {PRODUCT}^3", 2.0 * PRODUCT**3, "op/s",
                     lambda: queue.enqueue(kernel, grid, (size, 1), a, b, c, PRODUCT, PRODUCT))


def _memory(found: Device, dtype: np.dtype[Any], nbytes: int) -> Any:
    """Memory of a device, of elements of a type."""
    from coopmat.runtime import Queue
    from coopmat.runtime.element_types import of_dtype
    from coopmat.runtime.memory import malloc_device

    return malloc_device[of_dtype(dtype)](nbytes // dtype.itemsize, Queue(found))


def _divides(row: Combination) -> bool:
    m, n, k = row.largest
    return not (PRODUCT % (2 * m) or PRODUCT % (2 * n) or PRODUCT % k) and row.atype == row.btype
