"""The public Python names: building, launching, and what each mistake says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm

SCALE = """
kernel void scale(global float *out, global const float *in, float factor, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = in[i] * factor;
}
kernel void fill(global int *out, uint value) { out[get_global_id(0)] = value; }
kernel void reverse(global int *data, local int *scratch)
{
    int i = get_local_id(0), n = get_local_size(0);
    scratch[i] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = scratch[n - 1 - i];
}
kernel void vectors(global int4 *out, int4 value, char c, ulong big) { out[get_global_id(0)] = value + c + (int)big; }
"""


@pytest.fixture(scope="module")
def program() -> cm.Program:
    return cm.build(SCALE)


@pytest.fixture(scope="module")
def queue() -> cm.Queue:
    return cm.Queue(cm.device("sim:generic"))


def test_results_are_in_the_arrays(program: cm.Program, queue: cm.Queue) -> None:
    source, target = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    event = queue.enqueue(program.kernel("scale"), 64, 16, target, source, 0.5, 60).wait()
    np.testing.assert_array_equal(target[:60], source[:60] / 2)
    np.testing.assert_array_equal(target[60:], 0)
    assert event.elapsed > 0


def test_local_memory(program: cm.Program, queue: cm.Queue) -> None:
    data = np.arange(32, dtype=np.int32)
    queue.enqueue(program.kernel("reverse"), (32,), (8,), data, cm.local(32)).wait()
    np.testing.assert_array_equal(data, np.arange(32).reshape(4, 8)[:, ::-1].ravel())


def test_signed_and_unsigned_arrays_bind_alike(program: cm.Program, queue: cm.Queue) -> None:
    data = np.zeros(8, np.uint32)
    queue.enqueue(program.kernel("fill"), 8, 8, data, 2**32 - 1).wait()
    assert (data == 2**32 - 1).all()


def test_vector_and_narrow_values(program: cm.Program, queue: cm.Queue) -> None:
    data = np.zeros((2, 4), np.int32)
    queue.enqueue(program.kernel("vectors"), 2, 2, data, [1, 2, 3, 4], -1, 10).wait()
    np.testing.assert_array_equal(data, [[10, 11, 12, 13]] * 2)


def test_devices() -> None:
    names = [device.name for device in cm.devices()]
    assert names[0] == "cpu"
    assert names[-1] == "sim:generic"
    assert "sim:intel_gpu_pvc" in names
    assert cm.device().name == "cpu"
    assert cm.device("sim:amd_gpu_gfx90a").sub_group_sizes == (64,)
    first = cm.device("sim:intel_gpu_pvc").matrix_combinations[0]
    assert (first.max_msize, first.msize, first.max_nsize, first.nsize) == (8, 0, 0, 16)


def test_default_device_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOPMAT_DEVICE", "sim:intel_cpu_spr")
    assert cm.device().name == "sim:intel_cpu_spr"
    assert cm.device("sim:generic").name == "sim:generic"


@pytest.mark.parametrize("name", ["cpu:0", "sim:cpu", "cuda:", "opencl:", "sim:", "sim", "",
                                  "sim:nvidia_gpu_sm_7", "vulkan:"])
def test_a_device_that_does_not_exist(name: str) -> None:
    with pytest.raises(cm.Error, match="intel_gpu_pvc"):
        cm.device(name or "none")


def test_a_device_of_a_driver_that_does_not_exist() -> None:
    """One line that says what is missing."""
    with pytest.raises(cm.Error, match="there is no device opencl:9999: "):
        cm.device("opencl:9999")


def test_a_gpu_that_does_not_exist() -> None:
    """One line that says what is missing."""
    with pytest.raises(cm.Error, match=r"pip install coopmat\[cuda\]|there is no|does not start") as caught:
        cm.device("cuda:9999")
    assert "\n" not in str(caught.value)


ZEROS = np.zeros(64, np.float32)


def launch_errors() -> list[tuple[str, str, tuple, tuple, tuple, str]]:
    out, good = np.zeros(64, np.float32), (ZEROS, 1.0, 64)
    read_only = np.zeros(64, np.float32)
    read_only.flags.writeable = False
    return [
        ("count", "scale", (64,), (16,), (out, ZEROS, 1.0), "takes 4 arguments, found 3"),
        ("dtype", "scale", (64,), (16,), (np.zeros(64), *good), "expected an array of float32, found float64"),
        ("read-only", "scale", (64,), (16,), (read_only, *good), "read-only"),
        ("strided", "scale", (32,), (16,), (np.zeros((64, 2), np.float32)[:, 0], *good), "not contiguous"),
        ("list", "scale", (64,), (16,), ([0.0] * 64, *good), "a pointer takes a numpy array, or an object that shows"),
        ("byte order", "scale", (64,), (16,), (np.zeros(64, ">f4"), *good), "float32"),
        ("huge float", "scale", (64,), (16,), (out, ZEROS, 1e300, 64), "too large for float32"),
        ("fraction", "scale", (64,), (16,), (out, ZEROS, 1.0, 1.5), "1.5 is not an integer"),
        ("overflow", "scale", (64,), (16,), (out, ZEROS, 1.0, 2**31), "out of range: -2147483648 to 2147483647"),
        ("nan", "scale", (64,), (16,), (out, ZEROS, 1.0, float("nan")), "is not an integer"),
        ("text", "scale", (64,), (16,), (out, ZEROS, "1", 64), "expected a number"),
        ("none", "scale", (64,), (16,), (out, ZEROS, None, 64), "expected a number"),
        ("negative", "fill", (8,), (8,), (np.zeros(8, np.int32), -1), "out of range: 0 to 4294967295"),
        ("array for local", "reverse", (8,), (8,), (np.zeros(8, np.int32), np.zeros(8, np.int32)), "coopmat.local"),
        ("local for array", "reverse", (8,), (8,), (cm.local(8), cm.local(8)), "found local memory"),
        ("vector length", "vectors", (2,), (2,), (np.zeros(8, np.int32), [1, 2, 3], 0, 0), "expected 4 numbers"),
        ("vector element", "vectors", (2,), (2,), (np.zeros(8, np.int32), [1, 2, 3, 2**40], 0, 0), "out of range"),
        ("multiple", "scale", (60,), (16,), (out, *good), "60 in dimension 0 is not a multiple of the local size 16"),
        ("dimensions", "scale", (64, 1), (16,), (out, *good), "number of dimensions, 2 and 1"),
        ("zero", "scale", (0,), (16,), (out, *good), "at least 1"),
        ("four", "scale", (64, 1, 1, 1), (16, 1, 1, 1), (out, *good), "one to three dimensions"),
        ("float size", "scale", (64.0,), (16,), (out, *good), "must consist of ints"),
        ("big group", "scale", (16384,), (16384,), (out, *good), "has 16384 work-items; the device takes at most 8192"),
    ]


@pytest.mark.parametrize(("kernel", "global_size", "local_size", "arguments", "message"),
                         [row[1:] for row in launch_errors()], ids=[row[0] for row in launch_errors()])
def test_each_launch_mistake_has_its_message(program: cm.Program, queue: cm.Queue, kernel: str, global_size: tuple,
                                             local_size: tuple, arguments: tuple, message: str) -> None:
    with pytest.raises(cm.LaunchError) as caught:
        queue.enqueue(program.kernel(kernel), global_size, local_size, *arguments)
    assert message in str(caught.value)


def test_read_only_array_for_a_const_pointer(program: cm.Program, queue: cm.Queue) -> None:
    source, target = np.ones(16, np.float32), np.zeros(16, np.float32)
    source.flags.writeable = False
    queue.enqueue(program.kernel("scale"), 16, 16, target, source, 2.0, 16).wait()
    assert (target == 2).all()


def test_missing_kernel(program: cm.Program) -> None:
    with pytest.raises(cm.LaunchError, match=r"no kernel 'scal'.*scale, fill.*did you mean 'scale'"):
        program.kernel("scal")


def test_local_memory_needs_a_size() -> None:
    with pytest.raises(cm.LaunchError, match="1 to 4294967295 bytes"):
        cm.local(0)


def test_something_else_than_a_kernel(queue: cm.Queue) -> None:
    with pytest.raises(cm.LaunchError, match="expected a kernel"):
        queue.enqueue("scale", 1, 1)


def test_bfloat16_arrays(queue: cm.Queue) -> None:
    kernel = cm.build("kernel void twice(global __bf16 *p) { p[get_global_id(0)] *= (__bf16)2.0f; }").kernel("twice")
    data = np.arange(8).astype(ml_dtypes.bfloat16)
    queue.enqueue(kernel, 8, 8, data).wait()
    np.testing.assert_array_equal(data.astype(float), np.arange(8) * 2.0)


def test_the_same_program_in_every_form(program: cm.Program, queue: cm.Queue, tmp_path: Path) -> None:
    """OpenCL C, its SPIR-V as bytes, file and text, and its LLVM IR all compute the same."""
    (tmp_path / "scale.cl").write_text(SCALE)
    (tmp_path / "scale.spv").write_bytes(program.spirv)
    (tmp_path / "scale.spvasm").write_text(program.spirv_asm)
    (tmp_path / "scale.ll").write_text(program.llvm_ir)
    sources = [program.spirv, *(tmp_path / f"scale{suffix}" for suffix in (".cl", ".spv", ".spvasm", ".ll"))]
    for source in sources:
        built = cm.build(source)
        assert set(built.kernels) == set(program.kernels)
        result = np.zeros(16, np.float32)
        queue.enqueue(built.kernel("scale"), 16, 16, result, np.arange(16, dtype=np.float32), 3.0, 12).wait()
        np.testing.assert_array_equal(result, np.where(np.arange(16) < 12, np.arange(16) * 3, 0))


@pytest.mark.parametrize(("source", "error", "message"), [
    ("kernel void f( {", cm.CompileError, "error: "),
    (b"", cm.ValidationError, ""),
    (b"\x03\x02\x23\x07" + b"\x00" * 10, cm.ValidationError, ""),
    (b"not spirv at all", cm.ValidationError, ""),
    (Path("missing.cl"), cm.Error, "cannot read 'missing.cl'"),
    (Path("kernel.txt"), cm.Error, "must end in .cl, .ll, .spv or .spvasm"),
    (42, cm.Error, "a source is OpenCL C text"),
])
def test_sources_that_cannot_be_built(source: object, error: type[cm.Error], message: str) -> None:
    with pytest.raises(error) as caught:
        cm.build(source)
    assert message in str(caught.value)


@pytest.mark.parametrize(("options", "message"), [
    (("-O5",), "invalid value in '-O5'"),
    (("-D",), "-D needs a value"),
    (("-D", "1x=3"), "1x"),
    ("-DK=3 '", "cannot be split into words: no closing quotation"),
    ("-DK=3 FOO", "'FOO' is no option: options begin with '-'"),
    (("-DK=3", 5), "options are strings, found 5"),
])
def test_options_that_make_no_sense(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(cm.Error) as caught:
        cm.build("", options)
    assert message in str(caught.value)


def test_an_empty_file_is_a_program() -> None:
    assert cm.build("").kernels == {}


def test_defines_and_includes(tmp_path: Path, queue: cm.Queue) -> None:
    (tmp_path / "value.h").write_text("#define VALUE (BASE + 1)\n")
    source = '#include "value.h"\nkernel void f(global int *p) { p[0] = VALUE; }'
    program = cm.build(source, ("-D", "BASE=41", f"-I{tmp_path}"))
    data = np.zeros(1, np.int32)
    queue.enqueue(program.kernel("f"), 1, 1, data).wait()
    assert data[0] == 42


@pytest.mark.parametrize(("action", "message"), [
    (lambda: cm.build("gemm.cl"), "pathlib.Path('gemm.cl')"),
    (lambda: cm.build("", 5), "or a sequence such as"),
    (lambda: cm.build("", device=5), "chosen by its name"),
    (lambda: cm.build("").kernel(None), "chosen by its name"),
    (lambda: cm.device("sim:generic", options=5), "SimulatorOptions"),
    (lambda: cm.device("sim:INTEL_GPU_PVC"), "did you mean 'sim:intel_gpu_pvc'"),
    (lambda: cm.local(2**70), "1 to 4294967295 bytes"),
])
def test_other_mistakes(action: Callable[[], object], message: str) -> None:
    with pytest.raises(cm.Error) as caught:
        action()
    assert message in str(caught.value)


def test_a_device_may_be_given_by_name() -> None:
    assert cm.build("", None, "sim:generic").kernels == {}


def test_subclasses_of_arrays(program: cm.Program, queue: cm.Queue) -> None:
    data = np.zeros(8, np.int32).view(np.recarray)
    queue.enqueue(program.kernel("fill"), 8, 8, data, 7).wait()
    assert (data == 7).all()
    with pytest.raises(cm.LaunchError, match="found MaskedArray"):
        queue.enqueue(program.kernel("fill"), 8, 8, np.ma.zeros(8, np.int32), 7)


COUNTERS = """
global int counter = 5, table[4];
global int *global saved;
constant int primes[3] = {2, 3, 5};
constant int *global at;
kernel void count(void)
{
    atomic_inc(&counter);
    if (get_global_id(0) == 0) { saved = &table[2]; at = &primes[1]; table[2] += 42; }
}
kernel void read(global int *out) { out[0] = counter; out[1] = *saved; out[2] = at[1]; }
"""


def test_variables_of_a_program_keep_their_values() -> None:
    """From launch to launch and from kernel to kernel; another build of the source has its own."""
    first, second = cm.build(COUNTERS), cm.build(COUNTERS)
    queue, out = cm.Queue("sim:generic"), np.zeros(3, np.int32)
    launches = ((first, 1000, (1005, 42, 5)), (first, 16, (1021, 84, 5)), (second, 8, (13, 42, 5)))
    for program, items, expected in launches:
        queue.enqueue(program.kernel("count"), items, 8).wait()
        queue.enqueue(program.kernel("read"), 1, 1, out).wait()
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("loop", "line"), [
    ("while (1);", 3), ("for (;;) {}", 3), ("do p[get_local_id(0)]++; while (1);", 3)])
def test_an_endless_loop_ends_and_names_its_line(loop: str, line: int) -> None:
    device = cm.device("sim:generic", options=cm.SimulatorOptions(step_limit=1000))
    kernel = cm.build(f"kernel void k(global int *p)\n{{\n    {loop}\n}}\n").kernel("k")
    with pytest.raises(cm.SimulationError, match=rf"an endless loop\?.*at <source>:{line}:"):
        cm.Queue(device).enqueue(kernel, 16, 16, np.zeros(16, np.int32))
