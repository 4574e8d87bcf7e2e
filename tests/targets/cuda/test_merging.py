"""Kernels of single sub-groups on Hopper: which blocks of work-groups are merged, what is launched, and what else where
arguments do not allow that. The driver has no GPU; PTX is assembled where ptxas is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.spirv.edit.processing import schedule_of
from coopmat.spirv.transform.enlarge.matrices import NoMerge
from coopmat.spirv.transform.enlarge.merge import Merged
from coopmat.sycl import kernel
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.host import turning
from coopmat.targets.cuda.merging import Merging
from coopmat.targets.cuda.program import PtxProgram
from coopmat.targets.llvm.merging import kept
from tests.kit.targets.fake_cuda import FakeDriver, Launch, installed
from tests.kit.targets.ptx import assembled, ptx_of

SOURCE = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel __attribute__((intel_reqd_sub_group_size(32)))
void gemm(global const IN *a, global const IN *b, global OUT *c, int n, int k)
{
    size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    OUT M(16, 16, ACCUMULATOR) sum = coop_mat_init(0);
    for (int i = 0; i < k; i += 16) {
        IN M(16, 16, A) x = coop_mat_load(a + row * k + i, ROW, k);
        IN M(16, 16, B) y = coop_mat_load(b + (size_t)i * n + column, ROW, n);
        sum = coop_matmul_add(x, y, sum, FLAGS);
    }
    coop_mat_store(c + row * n + column, sum, ROW, n);
}
"""
BF16 = ("-DIN=__bf16", "-DOUT=float", "-DFLAGS=0")
S8 = ("-DIN=char", "-DOUT=int", "-DFLAGS=15")


def program_of(options: tuple[str, ...], chip: str = "sm_90a") -> PtxProgram:
    return PtxProgram(executable(cm.build(SOURCE, options).module), CHIPS[chip])


# ------------------------------------------------------------------ what is merged


@pytest.mark.parametrize(("groups", "block"), [
    ((512, 512, 1), (256, 128)),  # many blocks: the largest
    ((128, 64, 1), (128, 128)),  # 2048 x 1024: half a wave of the largest
    ((64, 64, 1), (128, 64))])
def test_blocks(groups: tuple[int, int, int], block: tuple[int, int]) -> None:
    """Columns and rows of a block of the launch, on 132 multiprocessors."""
    program = program_of(BF16)
    variant = program.variant(program.signatures["gemm"], (32, 1))
    found = next(Merging(program.module).of("gemm", variant, groups, 132))
    assert tuple(16 * factor for factor in found.factors[:2]) == block


def test_what_is_not_merged() -> None:
    for options, local, nulls, chip, reason in (
            (BF16, (32, 1), (), "sm_75", "sm_75 has no asynchronous copies"),
            (BF16, (32, 1), (1,), "sm_90a", "null pointers"),
            (BF16, (16, 4), (), "sm_90a", "not made of sub-groups of 32 along its first axis")):
        program = program_of(options, chip)
        variant = program.variant(program.signatures["gemm"], local, nulls)
        with pytest.raises(NoMerge, match=reason):
            next(Merging(program.module).of("gemm", variant, (8, 8, 1), 132))
        assert all(form.merged is None for form in program.forms("gemm", variant, (8, 8, 1), 132))
        assert list(program.reasons.values())


@pytest.mark.thinned(2)
@pytest.mark.parametrize("options", [BF16, ("-DIN=half", "-DOUT=float", "-DFLAGS=0"), S8], ids=lambda one: one[0])
def test_ptx(options: tuple[str, ...]) -> None:
    """Of every form; the merged ones multiply by wgmma, and spill nothing, but for some addresses where threads of
    full work-groups copy."""
    program = program_of(options)
    found = ptx_of(program, "gemm", (32, 1), group_counts=(200, 200, 1))
    merged = [one for one in found if one.variant.pipeline != "none"]
    assert bool(merged) == ("wgmma.mma_async" in found[0].text)
    assert merged
    for one in found:
        made = assembled(one)
        may_spill = one.variant.pipeline == "copies" and one.variant.local_size[0] >= 256
        assert made is None or made.spilled <= (200 if may_spill else 0), one


@pytest.mark.thinned(2)
@pytest.mark.parametrize("chip", ["sm_80", "sm_89", "sm_120a"])
def test_ptx_without_wgmma(chip: str) -> None:
    """Merged as well; a warp copies, the others multiply by mma.sync."""
    first, *_, last = ptx_of(program_of(BF16, chip), "gemm", (32, 1), group_counts=(200, 200, 1))
    assert first.variant.pipeline == "copies"
    assert "mma.sync.aligned.m16n8k16" in first.text
    assert "ldmatrix" in first.text
    assert "cp.async.cg" in first.text
    assert last.variant.pipeline == "none"
    assembled(first)


def test_the_transposing_kernel_is_assembled() -> None:
    for size in (1, 4):
        text = turning.turning_ptx(CHIPS["sm_90a"], size)
        assert f".entry {turning.SYMBOL}(" in text


# ------------------------------------------------------------------ launches


@pytest.fixture
def gpu() -> Iterator[FakeDriver]:
    with installed() as driver:
        _, context = driver.cuDevicePrimaryCtxRetain(0)
        driver.cuCtxSetCurrent(context)
        yield driver


class Recorded:
    """What was launched, by the kernel's name."""

    program: cm.Program

    def __init__(self, gpu: FakeDriver) -> None:
        self.launches: list[tuple[str, Launch]] = []
        gpu.kernels = {name: partial(self.note, name) for name in ("gemm", turning.SYMBOL)}

    def note(self, name: str, launch: Launch) -> None:
        self.launches.append((name, launch))


class Memory:
    """Memory of the GPU, as other libraries show it. gap: the bytes before it."""

    def __init__(self, gpu: FakeDriver, count: int, dtype: Any, gap: int) -> None:
        _, address = gpu.cuMemAlloc(count * np.dtype(dtype).itemsize + gap)
        self.coopmat = DeviceArray(address + gap, (count,), np.dtype(dtype), device=0)

    def __coopmat_array__(self) -> DeviceArray:
        return self.coopmat


def enqueue(gpu: FakeDriver, options: tuple[str, ...], m: int, n: int, k: int, gap: int = 0) -> Recorded:
    """Launch the kernel over memory of the GPU; ``gap``: bytes that B begins behind a multiple of 256."""
    found = Recorded(gpu)
    element, result = (ml_dtypes.bfloat16, np.float32) if options[0] == BF16[0] else (np.int8, np.int32)
    arrays = [Memory(gpu, *one) for one in ((m * k, element, 0), (k * n, element, gap), (m * n, result, 0))]
    queue, found.program = cm.Queue("cuda:0"), cm.build(SOURCE, options)
    queue.enqueue(found.program.kernel("gemm"), (n // 16 * 32, m // 16), (32, 1), *arrays, n, k).wait()
    return found


def test_a_merged_launch(gpu: FakeDriver) -> None:
    """Persistent work-groups with tensor maps of A, B and C, as large as the work-groups need."""
    m, n, k = 272, 528, 80
    [(name, launch)] = enqueue(gpu, BF16, m, n, k).launches
    assert name == "gemm"
    assert launch.group[0] > 128
    assert launch.grid[0] <= 4  # multiprocessors
    (_, *a), (_, *b), (_, *c) = launch.maps
    assert a[:3] == [k, m, 2 * k]
    assert b[:3] == [n, k, 2 * n]
    assert c[:3] == [n, m, 4 * n]


def test_an_address_that_tensor_maps_refuse(gpu: FakeDriver) -> None:
    """Work-groups are merged; threads copy what they multiply."""
    [(_, launch)] = enqueue(gpu, BF16, 64, 64, 64, gap=4).launches
    assert launch.group[0] > 32
    assert not launch.maps


def test_a_loop_that_wraps_around(gpu: FakeDriver) -> None:
    """Its end is no 32-bit number: the kernel as it is."""
    queue = cm.Queue("cuda:0")
    found = Recorded(gpu)
    memory, out = cm.malloc_device[np.int8](4096, queue), cm.malloc_device[np.int32](256, queue)
    kernel = cm.build(SOURCE, S8).kernel("gemm")
    queue.enqueue(kernel, (32, 1), (32, 1), memory, memory, out, 16, 2**31 - 8).wait()
    assert found.launches[-1][1].group == (32, 1, 1)


def test_an_operand_that_is_transposed_first(gpu: FakeDriver) -> None:
    """B of bytes by rows: its transposed form, in memory of the launch, is what is multiplied."""
    m, n, k = 256, 512, 144
    before = gpu.allocated
    (first, turn), (second, launch) = enqueue(gpu, S8, m, n, k).launches
    assert (first, second) == (turning.SYMBOL, "gemm")
    assert turn.grid == (n // 64, -(-k // 64), 1)
    (a, *_), (b, *sizes), _ = launch.maps
    assert sizes[:3] == [k, n, k]
    assert b != a
    assert gpu.allocated <= before + 4  # what was transposed is freed


def test_an_operand_of_no_whole_words(gpu: FakeDriver) -> None:
    [(_, launch)] = enqueue(gpu, S8, 64, 64, 64, gap=2).launches
    assert launch.group == (32, 1, 1)


# ------------------------------------------------------------------ what was chosen, and what is fixed


def explanation(gpu: FakeDriver, options: tuple[str, ...], sizes: tuple[int, int, int] = (256, 512, 128), gap: int = 0
                ) -> str:
    device = cm.device("cuda:0")
    found = enqueue(gpu, options, *sizes, gap=gap)
    return "\n".join(device.explanation(found.program.load(device)))


def test_explanations(gpu: FakeDriver) -> None:
    said = explanation(gpu, BF16)
    assert said.startswith("gemm: work-groups of ")
    for text in ("neighbouring work-groups are one", "fetched ahead by tensor maps: a, b",
                 "results leave by tensor maps: c", "persistent work-groups"):
        assert text in said
    assert "transposed in memory first: b" in explanation(gpu, S8)
    refused = explanation(gpu, BF16, gap=4)
    assert "neighbouring work-groups are one" in refused
    assert "fetched ahead by 128 threads with cp.async" in refused


@pytest.mark.parametrize(("schedule", "said", "not_said"), [
    ("block:none", "no pipeline", "neighbouring"), ("block:64x128", "4 x 8 neighbouring|8 x 4 neighbouring", "8 x 8"),
    ("cluster:none", "fetched ahead", "clusters"), ("cluster:x", "clusters of 2 work-groups along x", "along y"),
    ("pipeline:loads", "fetched ahead", "results leave"), ("pipeline:copies", "cp.async", "tensor maps"),
    ("block:128x128,cluster:y", "8 x 8 .*\n.*\n.*along y", "along x"),
    ("block:none,pipeline:none", "no pipeline", "neighbouring")])
def test_schedules(gpu: FakeDriver, schedule: str, said: str, not_said: str) -> None:
    found = explanation(gpu, (*BF16, f"-coopmat-schedule={schedule}"))
    assert re.search(said, found), found
    assert not_said not in found


@pytest.mark.parametrize(("schedule", "reason"), [
    ("block:96x96", "there are blocks of 128x256, 192x192, 128x192, 128x128, 64x256, 64x128"),
    ("block:none,pipeline:loads", "block:none")])
def test_schedules_that_there_are_not(gpu: FakeDriver, schedule: str, reason: str) -> None:
    with pytest.raises(cm.Error, match=f"kernel 'gemm'.*-coopmat-schedule=.*{reason}"):
        enqueue(gpu, (*BF16, f"-coopmat-schedule={schedule}"), 64, 64, 64)


def test_a_schedule_that_does_not_take_the_arguments(gpu: FakeDriver) -> None:
    with pytest.raises(cm.LaunchError, match="nothing that -coopmat-schedule= allows takes this launch: "):
        enqueue(gpu, (*BF16, "-coopmat-schedule=pipeline:stores"), 64, 64, 64, gap=4)


@pytest.mark.parametrize("text", [",", "block", "block:", "block:12", "block:0x8", "pipeline:fast", "cluster:z",
                                  "stages:4", "block:none,block:none"])
def test_wrong_schedules(text: str) -> None:
    with pytest.raises(cm.Error, match=r"invalid item '.*' in '-coopmat-schedule=.*': it takes block:none\|ROWS"):
        cm.build("kernel void f() {}", [f"-coopmat-schedule={text}"])


def test_schedules_of_kernels_in_python() -> None:
    """By their own options, and by those of a build, which come last; in the module, so that SPIR-V keeps them."""
    text = "def f(item: nd_item[1], p: ptr[int32]):\n    p[0] = 1\n"
    first, second = "-coopmat-schedule=block:none", "-coopmat-schedule=cluster:x"
    for own, given, expected in ((first, (), first), ((), second, second), (first, second, second), ((), (), None)):
        module = cm.build(kernel.from_source(text, options=own), given).module
        assert module.processed == ([] if expected is None else [expected])
        assert not module.validate()
        assert schedule_of(cm.build(module.to_bytes()).module) == schedule_of(module)


class Entries(dict[str, bytes]):
    """A cache."""

    put = dict.__setitem__


@pytest.mark.parametrize("options", [BF16, S8, (*BF16, "-coopmat-schedule=block:none")])
def test_what_the_cache_keeps(options: tuple[str, ...]) -> None:
    """The forms, or why there are none: the second time nothing is analysed; damaged entries are made again."""
    program, memory, analysed = program_of(options, "sm_90a"), Entries(), 0
    variant = program.variant(program.signatures["gemm"], (32, 1))

    def made() -> Iterator[Merged]:
        nonlocal analysed
        analysed += 1
        yield from Merging(program.module).of("gemm", variant, (50, 50, 1), 132)

    def found() -> list[Merged] | str:
        try:
            return list(kept(made, memory, str))  # type: ignore[arg-type]
        except NoMerge as reason:
            return str(reason)

    def shown(forms: list[Merged] | str) -> object:
        return forms if isinstance(forms, str) else [(replace(one, module=program.module), one.module.to_bytes())
                                                     for one in forms]

    first = shown(found())
    assert first
    assert shown(found()) == first
    assert analysed == 1
    memory["0"] = memory["0"][:3]
    assert shown(found()) == first
    assert analysed == 2
