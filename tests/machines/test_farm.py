"""A farm of a scheduler and workers, as processes on loopback: its devices, launches, sweeps, and what goes wrong."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.machines import farms
from tests import fuzz
from tests.kit.command_line import coopmat, failure
from tests.kit.paths import ROOT

pytestmark = pytest.mark.oracle("distributed")
KERNELS = """
kernel void add(global int *o, global const int *x, int n) { o[get_global_id(0)] += x[get_global_id(0)] * n; }
kernel void outside(global int *o) { o[get_global_id(0) + 1] = 1; }
int counter;
"""
WORKER = "from coopmat.command_line.main import main; main()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one and Path(one) != ROOT)}
"""Of workers, which have coopmat, and nothing of its tests."""
PATIENCE = 90  # seconds, on a busy machine


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def free_port_of(_: int) -> int:
    """A function of a module that workers do not have."""
    return free_port()


class Processes:
    """A scheduler, and workers of it."""

    def __init__(self, folder: Path) -> None:
        self.port, self.folder = free_port(), folder
        self.address = f"dask://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[Any]] = []
        self.start()

    def start(self) -> None:
        self.scheduler = self._start("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port",
                                     str(self.port), "--no-dashboard")
        self.workers.append(self._start("-c", WORKER, "worker", self.address, "--processes", "2"))

    def _start(self, *words: str) -> subprocess.Popen[Any]:
        return subprocess.Popen([sys.executable, *words], env=ENVIRONMENT, cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def farm(self) -> cm.Farm:
        """The farm, when both processes of the worker are there."""
        end = time.monotonic() + PATIENCE
        found = cm.farm(self.address)
        while len(found.workers()) < 2:
            assert time.monotonic() < end, "no workers"
            time.sleep(0.2)
        return found

    def stop(self) -> None:
        for one in (*self.workers, self.scheduler):
            one.terminate()
        for one in (*self.workers, self.scheduler):
            try:
                one.wait(10)
            except subprocess.TimeoutExpired:
                one.kill()


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    found = Processes(tmp_path_factory.mktemp("farm"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def farm(processes: Processes) -> cm.Farm:
    return processes.farm()


def worker_processes(farm: cm.Farm) -> list[int]:
    """The processes that run launches."""
    return list(farm.client.run(os.getpid, on_error="ignore").values())


def disturb(process: int, how: signal.Signals) -> None:
    """Stop a process for a second, or kill it."""
    os.kill(process, how)
    if how == signal.SIGSTOP:
        subprocess.Popen(["sh", "-c", f"sleep 1; kill -CONT {process}"])


def add(device: cm.Device, size: int, factor: int) -> None:
    """A launch whose result is checked."""
    rng = np.random.default_rng(factor)
    out, x = (rng.integers(-99, 99, size, np.int32) for _ in range(2))
    expected = out + x * factor
    cm.Queue(device).enqueue(cm.build(KERNELS).kernel("add"), size, 64, out, x, factor).wait()
    np.testing.assert_array_equal(out, expected)


def test_devices(farm: cm.Farm) -> None:
    names = {one.name for one in farm.devices()}
    assert {f"{farm.address}/cpu", f"{farm.address}/sim:intel_gpu_pvc"} <= names
    device = cm.device(f"{farm.address}/intel_gpu_pvc")
    assert device.name == f"{farm.address}/sim:intel_gpu_pvc"
    assert device.matrix_combinations == cm.device("sim:intel_gpu_pvc").matrix_combinations
    with pytest.raises(cm.Error, match="has a device 'cuda:9'; there are"):
        farm.device("cuda:9")
    assert "sim:intel_gpu_pvc" in coopmat("devices", "--farm", farm.address).stdout
    listed = {one["device"]: one for one in json.loads(coopmat("devices", "--farm", farm.address, "--json").stdout)}
    assert [listed[one]["processes"] for one in ("cpu", "sim:generic")] == [1, 2]
    assert listed["cpu"]["chip"] == cm.device("cpu").chip


def test_other_versions_are_refused(farm: cm.Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coopmat.machines.farms.__version__", "9.9")
    monkeypatch.setattr(farm, "_records", {})
    with pytest.raises(cm.Error, match=r"has coopmat .*, and here it is 9\.9: install the same version on both"):
        farm.workers()


@pytest.mark.parametrize("name", ["cpu", "sim:generic"])
def test_launches(farm: cm.Farm, name: str) -> None:
    device = farm.device(name)
    for size, factor in ((64, 3), (1 << 16, 4), (1 << 16, 5)):  # small arrays go with the launch, large ones before it
        add(device, size, factor)
    data = np.zeros(1 << 15, np.int32)
    cm.Queue(device).enqueue(cm.build(KERNELS).kernel("add"), data.size, 64, data, data, 1).wait()  # one array twice
    data = np.arange(1 << 15, dtype=np.int32)
    cm.Queue(device).enqueue(cm.build(KERNELS).kernel("add"), 64, 64, data[:128], data[64:], 2).wait()  # they overlap
    np.testing.assert_array_equal(data[:64], np.arange(64) + 2 * np.arange(64, 128))
    np.testing.assert_array_equal(data[64:], np.arange(64, 1 << 15))


def test_what_workers_keep(farm: cm.Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that a launch has written stay where they are, and those that are asked for again and are gone come again;
    also where a worker can only be reached by the scheduler."""
    def forget(dask_worker: Any) -> None:  # sent by value
        dask_worker.handlers["coopmat_launch"].__self__._kept.clear()

    kernel, queue = cm.build(KERNELS).kernel("add"), cm.Queue(farm.device("cpu"))
    data, ones = np.zeros(1 << 15, np.int32), np.ones(1 << 15, np.int32)
    for number in range(4):
        queue.enqueue(kernel, data.size, 64, data, ones, 1 + number).wait()
        if number == 1:
            farm.client.run(forget)
        if number == 2:
            monkeypatch.setattr(farm._launches, "_by_scheduler", dict.fromkeys(farm.addresses("cpu"), math.inf))
    assert (data == 1 + 2 + 3 + 4).all()


def test_times_are_the_workers(farm: cm.Farm) -> None:
    device, x = farm.device("cpu"), np.ones(1 << 20, np.int32)
    kernel = cm.build(KERNELS).kernel("add")
    start = time.perf_counter()
    event = cm.Queue(device).enqueue(kernel, 64, 64, np.zeros(1 << 20, np.int32), x, 1).wait()
    assert 0 < event.elapsed < (time.perf_counter() - start) / 2
    assert "of launches on its worker" in device.timer().note
    assert device.timer().hardware == cm.device("cpu").chip
    assert "of the simulation" in farm.device("sim:generic").timer().note


def test_errors_of_kernels_come_back(farm: cm.Farm) -> None:
    with pytest.raises(cm.OutOfBounds, match="element 64"):
        cm.Queue(farm.device("sim:generic")).enqueue(cm.build(KERNELS).kernel("outside"), 64, 64,
                                                     np.zeros(64, np.int32)).wait()


@pytest.mark.parametrize("name", ["cpu", "sim:generic"])
def test_what_kernels_say_is_said_here(farm: cm.Farm, capsys: pytest.CaptureFixture[str], name: str) -> None:
    options, warning = (cm.CpuOptions(bounds=True), nullcontext()) if name == "cpu" else (
        None, pytest.warns(cm.SignedOverflowWarning))
    source = """kernel void say(global int *o) {
                    printf("%d\\n", (int)get_global_id(0));
                    o[1 << 20] = o[0] + o[1]; }"""
    kernel = cm.build(source, "-fsanitize=signed-integer-overflow").kernel("say")
    with warning, pytest.raises(cm.OutOfBounds):
        cm.Queue(farm.device(name, options=options)).enqueue(kernel, 1, 1, np.full(4, 1 << 30, np.int32)).wait()
    assert capsys.readouterr().out == "0\n"


def test_a_launch_on_several_workers(farm: cm.Farm) -> None:
    name = f"{farm.address}/sim:generic"
    add(cm.device(f"{name},{name}"), 4096, 7)


def test_sweeps(farm: cm.Farm) -> None:
    assert {one.configuration: one.value for one in cm.sweep(abs, range(-50, 50), on=farm.address)} == {
        x: abs(x) for x in range(-50, 50)}
    with pytest.raises(cm.Error, match=r"do not have what the function needs: No module named 'tests'"):
        list(cm.sweep(free_port_of, [1], on=farm.address))


def test_configurations_launch_on_their_own_farm(farm: cm.Farm) -> None:
    """Launches wait for launches only: configurations that wait for some may have every process of the farm."""
    address, source = farm.address, KERNELS

    def launch(factor: int) -> int:  # sent by value
        out, ones = np.zeros(64, np.int32), np.ones(64, np.int32)
        queue = cm.Queue(cm.device(f"{address}/sim:generic"))
        queue.enqueue(cm.build(source).kernel("add"), 64, 64, out, ones, factor).wait()
        return int(out.sum())

    assert {one.configuration: one.value for one in cm.sweep(launch, range(6), on=farm)} == {
        factor: 64 * factor for factor in range(6)}


def test_processes_that_are_forked_have_their_own_connection(farm: cm.Farm) -> None:
    device = farm.device("sim:generic")
    add(device, 64, 1)
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        code = 1
        try:
            add(device, 64, 2)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    add(device, 64, 3)


def test_random_kernels_are_checked_on_a_farm(farm: cm.Farm, capsys: pytest.CaptureFixture[str],
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    assert fuzz.main(["--on", farm.address, "--seeds", "3:5", "--checks", "source,graph"]) == 0
    assert "4 checks, 0 with something wrong" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        fuzz.main(["--checks", "none"])
    assert "the checks are source, llvm, graph" in capsys.readouterr().err


def test_commands_take_a_farms_device(farm: cm.Farm, tmp_path: Path) -> None:
    """As a user gives it: a device is a device."""
    device, source = f"{farm.address}/sim:generic", tmp_path / "scale.cl"
    source.write_text("kernel void scale(global float *o, global const float *x) { o[get_global_id(0)] = 2 * "
                      "x[get_global_id(0)]; }")
    ones = tmp_path / "ones.npy"
    np.save(ones, np.ones(64, np.float32))
    arguments = ["--global", "64", "--arg", "zeros:fp32:64", "--arg", str(ones)]
    launch = ["--kernel", "scale", "--local", "16", *arguments]
    out = tmp_path / "out.npy"
    coopmat("run", str(source), "--device", device, *launch, "--out", f"0={out}").check_returncode()
    assert (np.load(out) == 2).all()
    compared = coopmat("compare", str(source), "--devices", f"cpu,{device}", *launch)
    assert compared.returncode == 0
    assert f"{device} against cpu: all results are equal" in compared.stdout
    ranges = ["--local-range", "16", "--local-range", "32", "--rep", "1"]
    tuned = coopmat("tune", str(source), "--device", device, *arguments, *ranges)
    assert tuned.returncode == 0, tuned.stderr
    assert f"--device {device}" in tuned.stdout
    demo = coopmat("demo", "--devices", device)
    assert "2 runs on 1 devices: all results are right" in demo.stdout
    with pytest.raises(cm.Error, match="the options of the device 'sim:generic' are SimulatorOptions"):
        farm.device("sim:generic", options=cm.CpuOptions())


def test_workers_that_end_or_stop_cost_time_only(farm: cm.Farm, long_form: bool) -> None:
    rng = np.random.default_rng(22)
    device, start = farm.device("sim:generic"), time.monotonic()
    for number in range(200 if long_form else 12):
        if rng.random() < (0.05 if long_form else 0.2):
            chosen = sorted(worker_processes(farm))
            if chosen:
                disturb(int(rng.choice(chosen)), signal.SIGSTOP if rng.random() < 0.5 else signal.SIGKILL)
        add(device, 1 << int(rng.integers(8, 16)), number)
    assert time.monotonic() - start < (1200 if long_form else 240)


def test_a_scheduler_that_hangs_is_an_error(processes: Processes, farm: cm.Farm,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    device = farm.device("sim:generic")
    with monkeypatch.context() as patched:
        patched.setattr(farms, "PATIENCE", 2.0)
        patched.setattr(farms, "FRESH", 0.0)
        os.kill(processes.scheduler.pid, signal.SIGSTOP)
        try:
            with pytest.raises(cm.Error, match=r"the scheduler of .* does not answer: timed out"):
                add(device, 64, 1)
        finally:
            os.kill(processes.scheduler.pid, signal.SIGCONT)
    add(device, 64, 1)


@pytest.mark.slow
def test_a_kernel_that_ends_workers_is_put_into_quarantine(farm: cm.Farm) -> None:
    program = cm.build("kernel void wild(global int *o) { o[(size_t)1 << 60] = 1; }")
    kernel = program.kernel("wild")  # the CPU does not check accesses unless it is told to
    for _ in range(2):
        with pytest.raises(cm.LaunchError, match=r"kernel 'wild' is in quarantine: it has ended"):
            cm.Queue(farm.device("cpu")).enqueue(kernel, 64, 64, np.zeros(64, np.int32)).wait()
    add(farm.device("cpu"), 64, 1)


@pytest.mark.slow
def test_a_kernel_that_never_ends_gives_its_worker_back(farm: cm.Farm) -> None:
    """When nobody waits for it any more."""
    def be_quick() -> None:  # sent by value
        from coopmat.machines import service

        service.ABANDONED = 2.0

    farm.client.run(be_quick)
    kernel = cm.build("kernel void never(global int *o) { volatile int x = 1; while (x) o[0] += x; }").kernel("never")
    out = np.zeros(64, np.int32)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)  # as Ctrl-C
    try:
        signal.alarm(2)
        with pytest.raises(KeyboardInterrupt):
            cm.Queue(farm.device("cpu")).enqueue(kernel, 1, 1, out).wait()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not out.any()
    add(farm.device("cpu"), 64, 1)


def test_addresses() -> None:
    for wrong in ("127.0.0.1:8786", "dask://host", "dask://host:8786/", "dask://host:port", None):
        with pytest.raises(cm.Error, match="a farm is called dask://host:port"):
            cm.farm(wrong)  # type: ignore[arg-type]
    assert "only with TLS" in failure("worker", "dask://127.0.0.1:1", "--host", "0.0.0.0")


@pytest.mark.slow
def test_a_scheduler_that_vanishes_is_an_error(tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    try:
        farm = processes.farm()
        device = farm.device("sim:generic")
        outcomes = cm.sweep(abs, range(10000), on=farm)
        next(outcomes)
        processes.scheduler.kill()
        processes.scheduler.wait()
        with pytest.raises(cm.Error, match="start the sweep again"):
            list(outcomes)
        start = time.monotonic()
        with pytest.raises(cm.Error, match=r"does not answer|no scheduler answers"):
            add(device, 1 << 14, 1)
        assert time.monotonic() - start < 30 + 5
        assert processes.workers[0].wait(PATIENCE) == 1  # with a message
        processes.start()
        processes.farm()
        add(device, 1 << 14, 1)
    finally:
        processes.stop()
