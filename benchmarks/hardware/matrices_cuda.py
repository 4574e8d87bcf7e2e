"""Kernels of work-groups on an NVIDIA GPU beside the libraries:
``python benchmarks/hardware/matrices_cuda.py [--device cuda:0] [--only WORDS] [--rounds 5]``.

Each line is one kernel and one shape: operations for each byte of the matrices; TFLOP/s of ours and of the peer
(medians of rounds in which both take turns on the same random data, each from a graph of launches), and the median of
the rounds' ratios, peer's time / ours. Needs torch, whose cuBLAS, flash attention and cuDNN are the peers, as is Triton
where it is. The result is checked before it is timed. roofline.py draws what this prints.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import functools
import importlib.util
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import coopmat as cm
from coopmat.sycl import *
from examples import joint_matrix_split_k as split_k
from examples.joint_matrix_work_group_attention import attention_kernel

Run = Callable[[], Any]
TIMED = 0.015  # seconds in a round
SHAPES = ((2048,) * 3, (4096,) * 3, (8192,) * 3, (4000, 3000, 5000))
SMALL = ((512, 512, 8192), (1024,) * 3, (3000,) * 3, (5000, 7000, 4000))
LARGE = SHAPES[1:3]
TORCH = {"float32": torch.float32, "bfloat16": torch.bfloat16, "half": torch.float16, "int8": torch.int8,
         "int32": torch.int32}
TF32_DROPPED = 0x1FFF  # the bits of a float that tf32 does not have


@dataclass(frozen=True)
class Case:
    """Ours, the peers by name, and the operations of one run; the bytes that have to be read or written."""

    ours: Run
    peers: dict[str, Run]
    operations: float
    nbytes: float


@dataclass(frozen=True)
class Gemm:
    """A GEMM: the types of A and B, of the accumulator and of C, and a tile of M x N x K. columns: which of A and B are
    column-major."""

    element: Any
    accumulator: Any
    result: Any
    tile: tuple[int, int, int] = (128, 256, 64)
    columns: str = ""
    items: int = 256

    def kernel(self) -> Any:
        """The kernel."""
        T, Acc, Out, (tM, tN, tK), ITEMS = self.element, self.accumulator, self.result, self.tile, self.items
        Stored = float32 if T is precision.tf32 else T
        is_a_by_columns, is_b_by_columns = "A" in self.columns, "B" in self.columns
        orders = [layout.col_major if flag else layout.row_major for flag in (is_a_by_columns, is_b_by_columns)]

        @kernel(work_group_size=(1, ITEMS))
        def gemm(item: nd_item[2], A: ptr[const[Stored]], B: ptr[const[Stored]], C: ptr[Out], M: int, N: int, K: int):
            g = item.get_group()
            m, n = g.get_group_id(0) * tM, g.get_group_id(1) * tN
            tA = joint_matrix(work_group, T, use.a, tM, tK, orders[0])
            tB = joint_matrix(work_group, T, use.b, tK, tN, orders[1])
            tC = joint_matrix(work_group, Acc, use.accumulator, tM, tN)
            joint_matrix_fill(g, tC, 0)
            for k in range(0, K, tK):
                if is_a_by_columns:
                    joint_matrix_load_checked(g, tA, A, M, K, M, k, m)
                else:
                    joint_matrix_load_checked(g, tA, A, K, M, K, m, k)
                if is_b_by_columns:
                    joint_matrix_load_checked(g, tB, B, K, N, K, n, k)
                else:
                    joint_matrix_load_checked(g, tB, B, N, K, N, k, n)
                joint_matrix_mad(g, tC, tA, tB, tC)
            result = joint_matrix(work_group, Out, use.accumulator, tM, tN)
            joint_matrix_copy(g, tC, result)
            joint_matrix_store_checked(g, result, C, N, layout.row_major, M, N, m, n)

        return gemm


GEMMS = {
    "bf16, fp32 out": (Gemm(bfloat16, float32, float32), SHAPES),
    "bf16, bf16 out": (Gemm(bfloat16, float32, bfloat16), SHAPES),
    "fp16, fp32 out": (Gemm(half, float32, float32), SHAPES),
    "fp16, fp16 out": (Gemm(half, float32, half), SHAPES),
    "bf16, B by columns": (Gemm(bfloat16, float32, float32, columns="B"), LARGE),
    "bf16, A by columns": (Gemm(bfloat16, float32, float32, columns="A"), LARGE),
    "tf32, B by columns": (Gemm(precision.tf32, float32, float32, (128, 256, 32), "B"), LARGE),
    "fp16 sums": (Gemm(half, half, half), LARGE),
    "s8, B by columns": (Gemm(int8, int32, int32, (128, 256, 128), "B"), LARGE),
    "s8, B by rows": (Gemm(int8, int32, int32, (128, 256, 128)), LARGE),
}
TILES = {(128, 256, 64): 256, (256, 128, 64): 256, (192, 192, 64): 384, (128, 192, 64): 256, (128, 128, 64): 256,
         (128, 64, 64): 256, (128, 64, 128): 256, (64, 256, 64): 128}
"""Among which the fastest is looked for, for shapes that fill a GPU badly, and the work-items of each."""
PARTS = (2, 4, 8, 16)
"""Into how many K is cut, likewise."""


def random(shape: tuple[int, ...], element: Any) -> torch.Tensor:
    """Normal numbers, or integers of the whole range."""
    if element is int8:
        return torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
    found = torch.randn(shape, device="cuda").to(TORCH.get(str(element), torch.float32))
    if element is precision.tf32:
        found.view(torch.int32).bitwise_and_(~TF32_DROPPED)
    return found


def library_gemm(case: Gemm, a: torch.Tensor, b: torch.Tensor) -> Run:
    """The same by cuBLAS."""
    if case.element is int8:
        return lambda: torch._int_mm(a, b.t().contiguous().t()) if "B" not in case.columns else torch._int_mm(a, b)
    if case.result is float32 and case.element is not precision.tf32:
        return lambda: torch.mm(a, b, out_dtype=torch.float32)
    return lambda: torch.mm(a, b)


def triton_gemm(a: torch.Tensor, b: torch.Tensor, result: torch.dtype) -> dict[str, Run]:
    """The same by Triton, where it is."""
    if importlib.util.find_spec("triton") is None:
        return {}
    import triton_gemm

    return {"Triton": triton_gemm.run_of(a, b, torch.empty(a.shape[0], b.shape[1], device="cuda", dtype=result))}


def bytes_of(*tensors: torch.Tensor) -> float:
    """Of all of them."""
    return float(sum(one.numel() * one.element_size() for one in tensors))


def gemm_case(queue: Any, case: Gemm, shape: tuple[int, int, int]) -> Case:
    """Of a kernel of a work-group."""
    m, n, k = shape
    a, b = random((m, k), case.element), random((k, n), case.element)
    own = [one.t().contiguous() if name in case.columns else one for name, one in (("A", a), ("B", b))]
    peer_b = own[1].t() if "B" in case.columns else b
    c = torch.full((m, n), -1, device="cuda", dtype=TORCH[str(case.result)])
    rows, columns = -(-m // case.tile[0]), -(-n // case.tile[1])
    built = cm.build(case.kernel(), device=queue.device).kernel("gemm")
    ours = queue.prepare(built, (columns * case.items, rows), (case.items, 1), *own, c, m, n, k)
    ours()
    torch.cuda.synchronize()
    for part in (slice(0, 200), slice(m - 200, m)):
        check(c[part], a[part].double() @ b.double(), case.result)
    peers = {"cuBLAS": library_gemm(case, a, peer_b)}
    if case.element in (bfloat16, half) and case.accumulator is float32:
        peers |= triton_gemm(a, peer_b, TORCH[str(case.result)])
    return Case(ours, peers, 2.0 * m * n * k, bytes_of(a, b, c))


def tuned_case(queue: Any, shape: tuple[int, int, int]) -> Case:
    """Of the tile that cm.autotune finds, or of parts of K that a second kernel adds, whichever is faster."""
    m, n, k = shape
    a, b = random((m, k), bfloat16), random((k, n), bfloat16)
    c = torch.full((m, n), -1, device="cuda", dtype=torch.float32)
    gemms = {tile: Gemm(bfloat16, float32, float32, tile, items=items) for tile, items in TILES.items()}
    tuned = cm.autotune({"tile": list(TILES)}, cache_dir="off", progress=False)(lambda tile: gemms[tile].kernel())

    def groups(config: Any, _: Any) -> Any:
        (tM, tN, _tK), items = config["tile"], TILES[config["tile"]]
        return nd_range((-(-m // tM), -(-n // tN) * items), (1, items))

    queue.parallel_for(groups, tuned, a, b, c, m, n, k).wait()
    tile = tuned.best()["tile"]
    runs = {f"{tile}": gemm_case(queue, gemms[tile], shape).ours}
    runs |= {f"{parts} parts": found for parts in PARTS if (found := split_run(queue, a, b, c, parts)) is not None}
    times = {name: seconds(run) for name, run in runs.items()}
    best = min(times, key=times.__getitem__)
    print(f"  {shape}: {best} of {', '.join(f'{name} {1e6 * time:.1f} us' for name, time in times.items())}")
    return Case(runs[best], {"cuBLAS": lambda: torch.mm(a, b, out_dtype=torch.float32),
                             **triton_gemm(a, b, torch.float32)}, 2.0 * m * n * k, bytes_of(a, b, c))


def split_run(queue: Any, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, parts: int) -> Run | None:
    """The kernels of examples/joint_matrix_split_k.py; None where there is too little of K."""
    (m, k), n = a.shape, b.shape[1]
    down, beside, steps = -(-m // split_k.tM), -(-n // split_k.tN), -(-k // (parts * split_k.tK))
    if steps < 4:
        return None
    rows = down * split_k.tM
    sums = torch.zeros((parts, rows, n), device="cuda")
    gemm, add = (cm.build(one, device=queue.device).kernel(one.name) for one in (split_k.gemm, split_k.add))
    first = queue.prepare(gemm, (beside * split_k.ITEMS, down, parts), (split_k.ITEMS, 1, 1), a, b, sums, m, n, k,
                          steps, rows, parts)
    second = queue.prepare(add, (-(-m * n // 256) * 256,), (256,), sums, c, m * n, rows * n, parts)

    def run() -> None:
        first()
        second()

    run()
    torch.cuda.synchronize()
    check(c, a.double() @ b.double(), float32)
    return run


PLAIN = Gemm(bfloat16, float32, bfloat16)


def fused_kernel(epilogue: str) -> Any:
    """The plain GEMM with one of EPILOGUES."""
    is_scaled, function = "residual" in epilogue, native_gelu if "native" in epilogue else gelu
    (tM, tN, tK), ITEMS = PLAIN.tile, PLAIN.items

    @kernel(work_group_size=(1, ITEMS))
    def gemm(item: nd_item[2], A: ptr[const[bfloat16]], B: ptr[const[bfloat16]], bias: ptr[const[float32]],
             scale: ptr[const[float32]], residual: ptr[const[bfloat16]], C: ptr[bfloat16], M: int, N: int, K: int):
        g = item.get_group()
        m, n = g.get_group_id(0) * tM, g.get_group_id(1) * tN
        tA = joint_matrix(work_group, bfloat16, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(work_group, bfloat16, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(work_group, float32, use.accumulator, tM, tN)
        joint_matrix_fill(g, tC, 0)
        for k in range(0, K, tK):
            joint_matrix_load_checked(g, tA, A, K, M, K, m, k)
            joint_matrix_load_checked(g, tB, B, N, K, N, k, n)
            joint_matrix_mad(g, tC, tA, tB, tC)
        row = joint_matrix(work_group, float32, use.accumulator, tM, tN)
        joint_matrix_load_checked(g, row, bias, 0, layout.row_major, M, N, m, n)
        if is_scaled:
            scales = joint_matrix(work_group, float32, use.accumulator, tM, tN)
            joint_matrix_load_checked(g, scales, scale, 0, layout.row_major, M, N, m, n)
            more = joint_matrix(work_group, bfloat16, use.accumulator, tM, tN)
            joint_matrix_load_checked(g, more, residual, N, layout.row_major, M, N, m, n)
            added = joint_matrix(work_group, float32, use.accumulator, tM, tN)
            joint_matrix_copy(g, more, added)
            tC = function(tC * scales + row) + added
        else:
            tC = function(tC + row)
        tD = joint_matrix(work_group, bfloat16, use.accumulator, tM, tN)
        joint_matrix_copy(g, tC, tD)
        joint_matrix_store_checked(g, tD, C, N, layout.row_major, M, N, m, n)

    return gemm


def gelu(x: Any) -> Any:
    """Of a number, or of a matrix."""
    return x * 0.5 * (1.0 + erf(x * 0.7071067811865476))


def native_gelu(x: Any) -> Any:
    """GELU by the hyperbolic tangent, as libraries have it, written with two native functions."""
    return x * native.recip(1.0 + native.exp2(x * (-2.302208198 - 0.1029432397 * x * x)))


EPILOGUES = ("bias, GELU", "bias, native GELU", "scales, bias, GELU, residual")


def fused_case(queue: Any, epilogue: str, shape: tuple[int, int, int]) -> Case:
    """A GEMM with its epilogue, beside the same kernel without one and torch's kernels."""
    m, n, k = shape
    a, b, residual = random((m, k), bfloat16), random((k, n), bfloat16), random((m, n), bfloat16)
    bias, scale = torch.randn(2, n, device="cuda")
    c = torch.full((m, n), -1, device="cuda", dtype=torch.bfloat16)
    sizes = (-(-n // PLAIN.tile[1]) * PLAIN.items, -(-m // PLAIN.tile[0])), (PLAIN.items, 1)
    runs = [queue.prepare(cm.build(one, device=queue.device).kernel("gemm"), *sizes, a, b, *more, c, m, n, k)
            for one, more in ((fused_kernel(epilogue), (bias, scale, residual)), (PLAIN.kernel(), ()))]
    runs[0]()
    torch.cuda.synchronize()
    exact, is_scaled = a[:200].double() @ b.double(), "residual" in epilogue
    approximate = "tanh" if "native" in epilogue else "none"
    if is_scaled:
        exact = F.gelu(exact * scale + bias) + residual[:200]
    else:
        exact = F.gelu(exact + bias, approximate=approximate)
    check(c[:200], exact, bfloat16)
    short, factors = bias.bfloat16(), scale.bfloat16()

    def peer() -> torch.Tensor:
        if is_scaled:
            return F.gelu(torch.addcmul(short, a @ b, factors)) + residual
        return F.gelu(torch.addmm(short, a, b), approximate=approximate)

    return Case(runs[0], {"plain": runs[1], "torch": peer}, 2.0 * m * n * k,
                bytes_of(a, b, c, *([residual] if is_scaled else [])))


class Wrong(Exception):
    """A kernel computed something else."""


def check(found: torch.Tensor, exact: torch.Tensor, result: Any) -> None:
    """Refuse to time what is wrong."""
    error = ((found.double() - exact).norm() / exact.norm()).item()
    if not error < (1e-4 if result in (float32, int32) else 4e-3):
        raise Wrong(f"the result is wrong: relative error {error:.1e}")


TYPES = ("-DIN=half", "-DOUT=float", "-DTM=16", "-DTN=16", "-DTK=16", "-DFLAGS=0")
SUB_GROUPS = {"gemm": (TYPES, (16, 16), 32), "gemm_blocked": (TYPES, (32, 32), 32),
              "gemm_tuned_gpu": ((), (256, 128), 256)}
"""Examples in OpenCL C: build options, the rows and columns that a work-group computes, and its work-items."""


def sub_group_case(queue: Any, name: str, options: tuple[str, ...], tile: tuple[int, int], items: int,
                   shape: tuple[int, int, int]) -> Case:
    """A GEMM in OpenCL C as people write it, beside cuBLAS, and beside the same in CUDA C++'s wmma."""
    m, n, k = shape
    a, b = random((m, k), half), random((k, n), half)
    c = torch.full((m, n), -1, device="cuda", dtype=torch.float32)
    built = cm.build((ROOT / "examples" / f"{name}.cl").read_text(), options=list(options), device=queue.device)
    ours = queue.prepare(built.kernel("gemm"), (n // tile[1] * items, m // tile[0]), (items, 1), a, b, c, n, k)
    ours()
    torch.cuda.synchronize()
    for part in (slice(0, 200), slice(m - 200, m)):
        check(c[part], a[part].double() @ b.double(), float32)
    peers = {"cuBLAS": lambda: torch.mm(a, b, out_dtype=torch.float32)}
    run = getattr(wmma_library(), name, None)
    if run is not None:
        stream = torch.cuda.current_stream().cuda_stream
        arguments = [ctypes.c_void_p(one.data_ptr()) for one in (a, b, c)]
        peers["wmma"] = lambda: run(*arguments, m, n, k, ctypes.c_void_p(stream))
    return Case(ours, peers, 2.0 * m * n * k, bytes_of(a, b, c))


@functools.cache
def wmma_library() -> Any:
    """wmma_gemm.cu, by nvcc; None where there is none."""
    compiler = shutil.which("nvcc")
    if compiler is None:
        print("no nvcc: nothing is compared with CUDA C++")
        return None
    library = Path(tempfile.mkdtemp()) / "wmma.so"
    subprocess.run([compiler, "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", library,
                    Path(__file__).with_name("wmma_gemm.cu")], check=True)
    return ctypes.CDLL(str(library))


def attention_case(queue: Any, depth: int, is_causal: bool) -> Case:
    """Flash attention of fp16: batch 4, 16 heads, length 4096."""
    heads, length, (rows, keys, items) = 64, 4096, ATTENTION
    q, k, v = (random((4, 16, length, depth), half) for _ in range(3))
    out, scale = torch.full_like(q, float("nan")), float(depth**-0.5 * np.log2(np.e))
    built = cm.build(attention_kernel(half, half, rows, keys, depth, items, is_causal), device=queue.device)
    ours = queue.prepare(built.kernel("attention"), (length // rows * items, heads), (items, 1), q, k, v, out, heads,
                         length, scale)
    ours()
    torch.cuda.synchronize()
    some = (slice(3, 4), slice(14, 16))
    exact = F.scaled_dot_product_attention(*(one[some].double() for one in (q, k, v)), is_causal=is_causal)
    check(out[some], exact, half)

    def peer(backend: SDPBackend) -> Run:
        def run() -> None:
            with sdpa_kernel(backend):
                F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
        return run

    operations = 4.0 * heads * length * length * depth / (2 if is_causal else 1)
    return Case(ours, {"flash": peer(SDPBackend.FLASH_ATTENTION), "cuDNN": peer(SDPBackend.CUDNN_ATTENTION)},
                operations, bytes_of(q, k, v, out))


ATTENTION = (128, 128, 256)  # rows, keys, work-items


def seconds(run: Run) -> float:
    """The time of one run, of many in a row: in a graph, so that nobody waits for Python."""
    if run not in _graphs:
        run()
        once = elapsed(run)
        count = min(max(1, int(TIMED / max(once, 1e-6) / REPLAYS)), MOST_IN_GRAPH)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            for _ in range(count):
                run()
        _graphs[run] = graph.replay, count
    replay, count = _graphs[run]
    replay()

    def replays() -> None:
        for _ in range(REPLAYS):
            replay()

    return elapsed(replays) / (count * REPLAYS)


def elapsed(run: Run) -> float:
    """The seconds that the GPU takes."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e-3


_graphs: dict[Run, tuple[Run, int]] = {}
REPLAYS, MOST_IN_GRAPH = 3, 200


def report(name: str, case: Case, rounds: int) -> None:
    """Measure by turns, and print a line."""
    own, others = [], {peer: [] for peer in case.peers}  # type: ignore[var-annotated]
    for _ in range(rounds):
        own.append(seconds(case.ours))
        for peer, run in case.peers.items():
            others[peer].append(seconds(run))
            time.sleep(0.02)
    texts = [f"{name:<44} {case.operations / case.nbytes:6.0f} {case.operations / statistics.median(own) / 1e12:7.1f}"]
    for peer, times in others.items():
        ratio = statistics.median(other / mine for other, mine in zip(times, own, strict=True))
        texts.append(f"{peer} {case.operations / statistics.median(times) / 1e12:7.1f}  ratio {ratio:.3f}")
    print("  ".join(texts), flush=True)


def cases(queue: Any) -> Iterator[tuple[str, Callable[[], Case]]]:
    """The lines: names, and what makes the kernel, its peers and their operations."""
    for name, (case, shapes) in GEMMS.items():
        for shape in shapes:
            yield f"{name} {'x'.join(map(str, shape))}", functools.partial(gemm_case, queue, case, shape)
    for shape in SMALL:
        yield f"bf16, small and deep {'x'.join(map(str, shape))}", functools.partial(tuned_case, queue, shape)
    for name in EPILOGUES:
        for shape in LARGE:
            yield f"bf16, {name} {'x'.join(map(str, shape))}", functools.partial(fused_case, queue, name, shape)
    for name, (options, tile, items) in SUB_GROUPS.items():
        for shape in LARGE:
            yield (f"sub-groups, {name} {'x'.join(map(str, shape))}",
                   functools.partial(sub_group_case, queue, name, options, tile, items, shape))
    for depth in (64, 128):
        for is_causal in (False, True):
            yield (f"attention fp16, depth {depth}{', causal' * is_causal}",
                   functools.partial(attention_case, queue, depth, is_causal))


def driver() -> str:
    """The version of NVIDIA's driver."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")[0] or "unknown"


def main() -> None:
    """Measure what is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default="", help="lines whose names contain one of these words, separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    words = options.only.split(",")
    device = cm.device(options.device)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.cuda.set_stream(torch.cuda.Stream())  # graphs take no launches of the default one
    queue = cm.Queue(device, stream=torch.cuda.current_stream().cuda_stream)
    print(f"{datetime.date.today()} {torch.cuda.get_device_name()}, driver {driver()}, torch {torch.__version__}; "
          "operations a byte, TFLOP/s, ratio of times")
    print("python " + " ".join(["benchmarks/hardware/matrices_cuda.py", *sys.argv[1:]]))
    wrong = 0
    for line, case in cases(queue):
        if any(word in line for word in words):
            _graphs.clear()
            try:
                report(line, case(), options.rounds)
            except (Wrong, cm.Error) as error:
                wrong += 1
                print(f"{line:<44} {error}", flush=True)
    sys.exit(min(wrong, 1))


if __name__ == "__main__":
    main()
