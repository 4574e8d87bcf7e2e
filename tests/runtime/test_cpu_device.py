"""The CPU as a device: names, options, combinations, and launches through the public interface."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES
from coopmat.runtime.selection import default_name
from coopmat.sycl import aspect, cpu_selector_v, info
from coopmat.targets.cpu.combinations import INSTRUCTIONS, architecture_of, combinations
from coopmat.targets.cpu.features import cpu_features
from coopmat.targets.cpu.options import available_cores, default_threads
from tests.kit.paths import EXAMPLES

AMX = frozenset({"amx-tile", "amx-int8", "amx-bf16"})
MIX = """
kernel void mix(global uint* out, global const uint* in, uint rounds)
{
    size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    uint h = in[i] ^ (uint) get_group_id(0);
    for (uint r = 0; r < rounds; ++r) {
        h = h * 1664525u + 1013904223u;
        if (h & 4096u)
            h ^= h >> 7;
    }
    out[i] = h;
}
"""


def mixed(values: np.ndarray, groups: np.ndarray, rounds: int) -> np.ndarray:
    """What the kernel computes."""
    h = values ^ groups
    for _ in range(rounds):
        h = h * np.uint32(1664525) + np.uint32(1013904223)
        h = np.where(h & 4096, h ^ h >> np.uint32(7), h)
    return h


@pytest.fixture(scope="module")
def kernel() -> cm.Kernel:
    return cm.build(MIX, device="cpu").kernel("mix")


# ------------------------------------------------------------------ the device


def test_what_it_is() -> None:
    device = cm.device("cpu")
    assert device.name == "cpu"
    assert device.sub_group_sizes == (16, 4, 8, 32, 64)
    assert device.is_cpu()
    assert not device.is_gpu()
    assert not device.has(aspect.emulated)
    assert device.options == cm.CpuOptions()
    assert cm.device(cpu_selector_v).name == cm.devices()[0].name == "cpu"
    assert cm.device().name == "cpu"


def test_it_is_the_default_where_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COOPMAT_DEVICE")
    monkeypatch.setenv("COOPMAT_VULKAN", "off")
    monkeypatch.setattr("coopmat.targets.cuda.host.driver.device_count", lambda: 0)
    assert cm.device().name == "cpu"
    monkeypatch.setattr("coopmat.targets.cuda.host.driver.device_count", lambda: 1)
    assert default_name() == "cuda:0"


def test_every_row_of_every_table_once_and_the_native_ones_first() -> None:
    rows = cm.device("cpu").matrix_combinations
    expected = {(row.types, str(row)) for each in ARCHITECTURES.values() for row in each.combinations}
    assert len(rows) == len({(row.types, str(row)) for row in rows})
    assert {(row.types, str(row)) for row in rows} == expected
    assert [row.native for row in rows] == sorted((row.native for row in rows), reverse=True)
    assert cm.device("cpu").get_info(info.device.matrix_combinations) == rows


@pytest.mark.parametrize(("features", "native"), [
    (frozenset(), set()),
    (frozenset({"avx512f", "fma"}), set()),
    (frozenset({"avxvnni"}), {"sint8", "uint8"}),
    (frozenset({"avx512vnni", "avx512bf16"}), {"sint8", "uint8", "bf16"}),
    (AMX, {"sint8", "uint8", "bf16"}),
    (AMX | {"amx-fp16"}, {"sint8", "uint8", "bf16", "fp16"}),
])
def test_what_is_native(features: frozenset[str], native: set[str]) -> None:
    assert {row.atype for row in combinations(features) if row.native} == native


def test_sums_of_fp16_in_fp16_take_their_own_instruction() -> None:
    found = {row.dtype for row in combinations(frozenset({"avx512fp16"})) if row.native}
    assert found == {"fp16"}
    assert {row.dtype for row in combinations(AMX | {"amx-fp16"}) if row.native and row.atype == "fp16"} == {"fp32"}


def test_every_instruction_is_that_of_a_row() -> None:
    rows = combinations(())
    assert all(any(one.does(row) for row in rows) for one in INSTRUCTIONS)


def test_architectures() -> None:
    assert architecture_of(AMX, "x86_64") == "intel_cpu_spr"
    assert architecture_of(AMX | {"amx-fp16"}, "x86_64") == "intel_cpu_gnr"
    assert architecture_of({"amx-int8", "avx512f"}, "x86_64") == "x86_64"
    device = cm.device("cpu")
    assert device.architecture == device.get_info(info.device.architecture)
    assert device.architecture == architecture_of(cpu_features().used, os.uname().machine)


def test_no_shape_is_refused() -> None:
    """A shape that no table has."""
    source, options = EXAMPLES / "gemm.cl", "-DTM=3 -DTN=5 -DTK=7"
    assert cm.build(source, options, "cpu").kernels
    with pytest.raises(cm.KernelNotSupported):
        cm.build(source, options, "sim:intel_gpu_pvc")


# ------------------------------------------------------------------ options


@pytest.mark.parametrize(("options", "message"), [
    ({"bounds": 1}, "bounds must be True or False; found 1 of type int"),
    ({"numerics": "fast"}, "numerics must be 'hardware', 'exact' or an architecture .*_sm_90, .*; found 'fast'"),
    ({"numerics": "generic"}, "found 'generic' of type str"),
    ({"numerics": None}, "found None of type NoneType"),
    ({"races": "benign-equal"}, "races must be True or False; found 'benign-equal' of type str"),
    ({"seed": -1}, "seed must be an integer of at least 0; found -1 of type int"),
    ({"seed": True}, "seed must be an integer"),
    ({"threads": 0}, "threads must be an integer from 1 to 4096, or None; found 0"),
    ({"threads": True}, "threads must be an integer"),
    ({"threads": 2.0}, "threads must be an integer"),
    ({"printf_limit": -1}, "printf_limit must be an integer of at least 0"),
])
def test_options_are_checked(options: dict, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        cm.CpuOptions(**options)


def test_options_belong_to_their_kind_of_device() -> None:
    with pytest.raises(cm.Error, match="options of the device 'cpu' are CpuOptions, not SimulatorOptions"):
        cm.device("cpu", options=cm.SimulatorOptions())
    with pytest.raises(cm.Error, match="options of a simulated device are SimulatorOptions, not CpuOptions"):
        cm.device("sim:generic", options=cm.CpuOptions())
    with pytest.raises(cm.Error, match="are CpuOptions, not dict"):
        cm.device(cm.device("cpu"), options={})  # type: ignore[arg-type]
    options = cm.CpuOptions(threads=3)
    assert cm.device(cm.device("cpu"), options=options).options == options


def test_the_number_of_threads() -> None:
    assert default_threads({}) == default_threads({"COOPMAT_NUM_THREADS": " "}) == available_cores()
    assert cm.CpuOptions().thread_count({"COOPMAT_NUM_THREADS": "7"}) == 7
    assert cm.CpuOptions(threads=2).thread_count({"COOPMAT_NUM_THREADS": "7"}) == 2
    for text in ("0", "-1", "two", "1.5", "4097", "9" * 5000, "٣"):
        with pytest.raises(cm.Error, match="COOPMAT_NUM_THREADS: expected a number of threads from 1 to 4096, found"):
            default_threads({"COOPMAT_NUM_THREADS": text})


def test_a_wrong_number_of_threads_is_an_error_of_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOPMAT_NUM_THREADS", "many")
    with pytest.raises(cm.Error, match=r"COOPMAT_NUM_THREADS: .* found 'many'"):
        cm.build(MIX, device="cpu")


# ------------------------------------------------------------------ launches


def check_mix(kernel: cm.Kernel, queue: cm.Queue, size: tuple[int, int], local: tuple[int, int], rounds: int) -> None:
    given = np.random.default_rng(size[0]).integers(0, 2**32, size[::-1], np.uint32)
    found = np.zeros_like(given)
    queue.enqueue(kernel, size, local, found, given, rounds).wait()
    groups = np.arange(size[0], dtype=np.uint32)[None] // np.uint32(local[0])
    np.testing.assert_array_equal(found, mixed(given, groups, rounds))


@pytest.mark.parametrize("threads", [1, 2, 5, 64])
@pytest.mark.parametrize(("size", "local"), [((16, 1), (16, 1)), ((512, 64), (32, 2)), ((7 * 41, 3), (7, 1)),
                                             ((1000, 5), (1, 1))])
def test_any_number_of_threads_computes_the_same(kernel: cm.Kernel, threads: int, size, local) -> None:
    queue = cm.Queue(cm.device("cpu", options=cm.CpuOptions(threads=threads)))
    for _ in range(3):
        check_mix(kernel, queue, size, local, 20)


MEETING = """
kernel void meet(volatile global int* here, global int* met)
{
    atomic_inc(here);
    for (uint i = 0; i < 1u << 28; ++i)
        if (*here == 2) {
            met[get_group_id(0)] = 1;
            break;
        }
}
"""


def test_several_threads_work_at_once() -> None:
    """Two work-groups of one work-item wait for each other, which takes two threads."""
    kernel = cm.build(MEETING, device="cpu").kernel("meet")
    queue = cm.Queue(cm.device("cpu", options=cm.CpuOptions(threads=2)))
    here, met = np.zeros(1, np.int32), np.zeros(2, np.int32)
    queue.enqueue(kernel, 2, 1, here, met).wait()
    assert met.tolist() == [1, 1]


def test_portions_of_others_are_taken() -> None:
    """The first work-group waits for a later one of the same thread's: the other thread takes that."""
    source = """
    kernel void wait(global atomic_int* there, global int* out)
    {
        int g = get_group_id(0), seen = g != 0;
        if (g == 4)
            atomic_store(there, 1);
        for (int n = 0; n < 1000000000 && !seen; ++n)
            seen = atomic_load(there);
        out[g] = seen;
    }
    """
    device = cm.device("cpu", options=cm.CpuOptions(threads=2))
    there, out = np.zeros(1, np.int32), np.zeros(64, np.int32)
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("wait"), 64, 1, there, out).wait()
    assert out.all()


def test_launches_from_eight_threads(kernel: cm.Kernel) -> None:
    queue = cm.Queue(cm.device("cpu", options=cm.CpuOptions(threads=3)))
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(20):
                check_mix(kernel, queue, (64 * (1 + number), 1 + step % 3), (32, 1), 5 + 40 * (step % 4))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_eight_threads_compile_a_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from coopmat.targets.cpu.program import CpuProgram

    made = []
    original = CpuProgram._made
    monkeypatch.setattr(CpuProgram, "_made", lambda *arguments: (made.append(1), original(*arguments))[1])
    fresh, queue = cm.build(MIX, device="cpu").kernel("mix"), cm.Queue("cpu")
    fresh.program.load(queue.device)
    threads = [threading.Thread(target=check_mix, args=(fresh, queue, (64, 2), (16, 1), 3)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    source = f"""
import os, numpy as np, coopmat as cm
kernel = cm.build({MIX!r}, device="cpu").kernel("mix")
queue = cm.Queue(cm.device("cpu", options=cm.CpuOptions(threads=4)))
def run():
    data = np.arange(1 << 12, dtype=np.uint32)
    for _ in range(3):
        queue.enqueue(kernel, data.size, 16, data, data, 500).wait()
    return data
first = run()
child = os.fork()
if child == 0:
    os._exit(0 if (run() == first).all() else 3)
assert (run() == first).all()
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", source], check=True, timeout=120)


def test_wrong_sizes_and_arguments(kernel: cm.Kernel) -> None:
    queue, data = cm.Queue("cpu"), np.zeros(64, np.uint32)
    with pytest.raises(cm.LaunchError, match="not a multiple"):
        queue.enqueue(kernel, 60, 16, data, data, 1)
    with pytest.raises(cm.LaunchError, match="expected an array of int32 or uint32, found float32"):
        queue.enqueue(kernel, 64, 16, data.astype(np.float32), data, 1)
    required = cm.build("kernel __attribute__((reqd_work_group_size(8, 2, 1))) void k(global int* p) { p[0] = 1; }",
                        device="cpu").kernel("k")
    with pytest.raises(cm.LaunchError, match=r"requires work-groups of \(8, 2, 1\), found \(16, 1, 1\)"):
        queue.enqueue(required, 64, 16, np.zeros(1, np.int32))


# ------------------------------------------------------------------ assembly and dumps


def test_explanation() -> None:
    program = cm.build("kernel void twice(global int *p) { p[get_global_id(0)] *= 2; }", device="cpu")
    with pytest.raises(cm.Error, match="'cpu' chooses when a kernel is launched, and none has been"):
        assert program.explanation
    cm.Queue(cm.device("cpu")).enqueue(program.kernel("twice"), 64, 16, np.arange(64, dtype=np.int32)).wait()
    assert program.explanation.startswith("twice: sub-groups of 16 work-items on ")
    assert "4 work-groups" in program.explanation
    with pytest.raises(cm.Error, match=r"built for no device: what is chosen for it is told after build"):
        assert cm.build("kernel void f(global int *p) { *p = 1; }").explanation


def test_assembly() -> None:
    program = cm.build(MIX + "kernel void other(global int* p) { p[get_global_id(0)] = 7; }", device="cpu")
    assert "# kernel 'mix' for " in program.asm
    assert "# kernel 'other' for " in program.asm
    assert program.asm.count("run:") == 2
    assert program.optimized(1).asm
    with pytest.raises(cm.Error, match="built for no device: assembly is made for build"):
        assert cm.build(MIX).asm
    with pytest.raises(cm.Error, match="'sim:generic' runs no machine code: assembly is made for the device 'cpu'"):
        assert cm.build(MIX, device="sim:generic").asm


def test_dumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for wish, files in (("", set()), ("ll", {"mix.ll"}), (" asm , ll", {"mix.ll", "mix.asm"})):
        for old in tmp_path.iterdir():
            old.unlink()
        monkeypatch.setenv("COOPMAT_DUMP", wish)
        program = cm.build(MIX, device="cpu")
        check_mix(program.kernel("mix"), cm.Queue("cpu"), (64, 1), (16, 1), 3)
        assert {path.name for path in tmp_path.iterdir()} == files
    assert "define void @run(" in (tmp_path / "mix.ll").read_text()
    assert "run:" in (tmp_path / "mix.asm").read_text()


def test_dumps_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOPMAT_DUMP", "ll,bc")
    program = cm.build(MIX, device="cpu")
    with pytest.raises(cm.Error, match="COOPMAT_DUMP: expected some of ll, asm, ptx, separated by commas; found 'bc'"):
        check_mix(program.kernel("mix"), cm.Queue("cpu"), (64, 1), (16, 1), 3)
    monkeypatch.setenv("COOPMAT_DUMP", "ll")
    (tmp_path / "mix.ll").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cm.Error, match=r"mix\.ll"):
        check_mix(program.kernel("mix"), cm.Queue("cpu"), (64, 1), (16, 1), 3)


ENDLESS = """
import os, signal, sys, threading, time
import numpy as np
import coopmat as cm

signal.signal(signal.SIGINT, signal.default_int_handler)
device = cm.device("cpu", options=cm.CpuOptions(threads=int(sys.argv[1])))
program = cm.build('''
kernel void endless(global volatile int *p) { while (p[0] == 0) { } }
kernel void straight(global int *p) { p[get_global_id(0) & 15] = 1; }
kernel void count(global int *p, int n) { for (int i = 0; i < n; i++) p[get_global_id(0)] += i; }
''', device=device)
queue, numbers = cm.Queue(device), np.zeros(64, np.int32)
queue.enqueue(program.kernel("count"), 64, 16, numbers, 1).wait()  # all is compiled
for name, size in (("endless", 64), ("straight", 1 << 32), ("endless", 64)):
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        queue.enqueue(program.kernel(name), size, 16, np.zeros(64, np.int32)).wait()
        print("ended")
    except KeyboardInterrupt:
        print("interrupted")
queue.enqueue(program.kernel("count"), 64, 16, numbers, 4).wait()
print(set(numbers.tolist()))
"""


@pytest.mark.skipif(os.name != "posix", reason="sends the signal of Ctrl-C")
@pytest.mark.parametrize("threads", ["1", "3"])
def test_an_endless_kernel_is_interrupted(threads: str) -> None:
    found = subprocess.run([sys.executable, "-c", ENDLESS, threads], capture_output=True, text=True, timeout=120)
    assert (found.stdout, found.returncode) == (3 * "interrupted\n" + "{6}\n", 0), found.stderr
