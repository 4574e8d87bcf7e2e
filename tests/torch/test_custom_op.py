"""Kernels as operators of PyTorch: results, fake tensors, torch.compile, gradients, and what each mistake says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

import coopmat as cm
from coopmat.sycl import const, float32, int32, kernel, nd_item, ptr
from tests.kit.paths import EXAMPLES

torch = pytest.importorskip("torch", reason="torch is not here (PyTorch: pip install torch)")

SOURCE = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void scale(global float *out, global const float *in, float factor, int n, global const float *bias)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = in[i] * factor + (bias ? bias[i] : 0);
}
kernel void add(global int *data, int value) { data[get_global_id(0)] += value; }
kernel void halve(global __bf16 *out, global const __bf16 *in)
{
    out[get_global_id(0)] = in[get_global_id(0)] * (__bf16)0.5f;
}
kernel void split(global const float *in, global float *low, global int *high, local float *scratch)
{
    int i = get_global_id(0);
    scratch[get_local_id(0)] = in[i];
    high[i] = (int)scratch[get_local_id(0)];
    low[i] = in[i] - high[i];
}
kernel void copy(global char *out, global const char *in) { out[get_global_id(0)] = in[get_global_id(0)]; }
struct Pair { int a, b; };
kernel void pair(global int *out, struct Pair p) { out[0] = p.a; }
kernel void nothing(global float *out) { out[get_global_id(0)] = 1; }
"""
PROGRAM = cm.build(SOURCE)
NUMBERS = count()
ROUNDED = {"rtol": 1e-6, "atol": 1e-6}


@kernel
def twice(item: nd_item[1], out: ptr[float32], x: ptr[const[float32]], factor: float = 2.0, shift: int32 = 0):
    i = item.get_global_id(0)
    out[i] = x[i] * factor + shift


def name() -> str:
    """Of an operator that is new."""
    return f"coopmat_tests::op{next(NUMBERS)}"


def made(kernel_name: str, **description: Any) -> Any:
    return cm.torch.custom_op(PROGRAM.kernel(kernel_name), name(), **description)


def scaling() -> Any:
    """out = in * factor + bias, for any number of elements and dimensions."""
    return made("scale", outputs={"out": lambda in_: in_.shape}, values={"n": lambda in_: in_.numel()},
                defaults={"bias": None}, global_size=lambda n: -(-n // 64) * 64, local_size=64)


@pytest.fixture(scope="module")
def scale() -> Any:
    return scaling()


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Compiled functions of other tests do not count towards dynamo's limit."""
    yield
    torch._dynamo.reset()


def check(op: Any, *args: Any, **named: Any) -> None:
    assert set(torch.library.opcheck(op, args, named).values()) == {"SUCCESS"}


# -------------------------------------------------------------------------------- results


def test_of_a_program(scale: Any) -> None:
    x, bias = torch.randn(10, 7), torch.randn(10, 7)
    torch.testing.assert_close(scale(x, 3.0), x * 3)
    torch.testing.assert_close(scale(x, factor=3, bias=bias), x * 3 + bias, **ROUNDED)
    check(scale, x, 3.0, bias)
    check(scale, x, 3.0)


def test_the_operator_is_known_by_its_name() -> None:
    op = cm.torch.custom_op(PROGRAM.kernel("add"), "coopmat_tests::add", mutates=["data"],
                            global_size=lambda data: data.numel())
    data = torch.arange(5, dtype=torch.int32)
    assert torch.ops.coopmat_tests.add(data, 3) is None
    assert data.tolist() == [3, 4, 5, 6, 7]
    assert str(torch.ops.coopmat_tests.add.default._schema) == (
        "coopmat_tests::add(Tensor(a0!) data, SymInt value) -> ()")
    check(op, data, 1)


def test_of_a_kernel_in_python() -> None:
    op = cm.torch.custom_op(twice, name(), outputs={"out": lambda x: x.shape}, global_size=lambda x: x.numel())
    x = torch.randn(6, 5)
    assert torch.equal(op(x), 2 * x)
    assert torch.equal(op(x, 4.0, shift=1), 4 * x + 1)
    check(op, x, 3.0)


def test_sizes_of_kernels_in_python_are_in_the_order_of_sycl() -> None:
    @kernel
    def places(item: nd_item[2], out: ptr[int32], x: ptr[const[int32]]):
        out[item.get_global_linear_id()] = item.get_global_id(0) * 10 + item.get_local_id(1)

    op = cm.torch.custom_op(places, name(), outputs={"out": lambda x: x.shape}, global_size=lambda x: tuple(x.shape),
                            local_size=(1, 2))
    assert op(torch.zeros(2, 4, dtype=torch.int32)).tolist() == [[0, 1, 0, 1], [10, 11, 10, 11]]


def test_bfloat16_without_a_copy() -> None:
    op = made("halve", mutates=["out"], global_size=lambda out: out.numel())
    out, x = torch.zeros(3, 4, dtype=torch.bfloat16), torch.randn(3, 4).to(torch.bfloat16)
    op(out[1:], x[1:])
    assert torch.equal(out[1:], x[1:] * 0.5)
    assert torch.equal(out[0], torch.zeros(4, dtype=torch.bfloat16))


@pytest.mark.oracle("cuda")
def test_on_a_gpu(scale: Any) -> None:
    op = made("halve", mutates=["out"], global_size=lambda out: out.numel())
    with torch.cuda.stream(torch.cuda.Stream()):
        out, x = torch.zeros(30, device="cuda", dtype=torch.bfloat16), torch.randn(30, device="cuda").to(torch.bfloat16)
        for _ in range(100):
            x = x + 1
            op(out, x)
            x = out * 2
        assert torch.equal(out, x * 0.5)
    x = torch.randn(50, 3, device="cuda")
    torch.testing.assert_close(scale(x, 3.0, x), x * 4, **ROUNDED)
    compiled = torch.compile(lambda x: scale(x.sin(), 2.0).relu(), fullgraph=True)
    torch.testing.assert_close(compiled(x), (2 * x.sin()).relu())
    check(scale, x, 3.0)


@pytest.mark.oracle("cuda")
def test_in_a_cuda_graph(scale: Any) -> None:
    x = torch.randn(64, device="cuda")
    scale(x, 2.0)  # compiled before
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = scale(x, 2.0)
    x.fill_(5)
    graph.replay()
    assert torch.equal(out, torch.full_like(out, 10))


@pytest.mark.oracle("cuda")
def test_the_example_on_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    from examples import torch_linear

    assert torch_linear.main([]) == 0
    assert capsys.readouterr().out.startswith("cuda:0: ")


@pytest.mark.oracle("cuda")
def test_tensors_of_two_devices(scale: Any) -> None:
    with pytest.raises(cm.LaunchError, match=r"found 'in_' on cpu and 'bias' on cuda:0: move one, .* bias.to\('cpu'\)"):
        scale(torch.ones(3), 1.0, torch.ones(3, device="cuda"))


def test_several_outputs_and_local_memory() -> None:
    shape: Callable[..., Any] = lambda in_: in_.shape  # noqa: E731
    op = made("split", outputs={"high": shape, "low": shape}, values={"scratch": lambda: cm.local(4 * 8)},
              global_size=lambda high: high.numel(), local_size=8)
    x = torch.tensor([1.5, 2.25] * 8)
    high, low = op(x)
    assert (high.dtype, low.dtype) == (torch.int32, torch.float32)
    assert torch.equal(high + low, x)
    check(op, x)


def test_a_dtype_that_the_kernel_does_not_tell() -> None:
    op = made("copy", outputs={"out": lambda in_: (in_.shape, torch.uint8)}, global_size=lambda out: out.numel())
    found = op(torch.arange(4, dtype=torch.int8))
    assert found.dtype == torch.uint8
    assert found.tolist() == [0, 1, 2, 3]


def test_nothing_runs_for_no_elements(scale: Any) -> None:
    assert scale(torch.zeros(0, 3), 1.0).shape == (0, 3)


def test_a_name_can_be_given_again() -> None:
    again = name()
    for factor in (1.0, 5.0):
        op = cm.torch.custom_op(twice, again, outputs={"out": lambda x: x.shape}, values={"factor": factor},
                                global_size=lambda x: x.numel())
        assert op(torch.ones(1)).item() == factor


# -------------------------------------------------------------------------------- torch.compile and autograd


@pytest.mark.parametrize("dynamic", [False, True])
def test_it_stays_in_the_graph(scale: Any, dynamic: bool) -> None:
    compiled = torch.compile(lambda x: scale(x.sin().t().contiguous(), 2.0).relu(), fullgraph=True, dynamic=dynamic,
                             backend="aot_eager")
    for rows in (3, 5, 70):
        x = torch.randn(rows, 9)
        torch.testing.assert_close(compiled(x), (2 * x.sin().t()).relu())


def test_tensors_that_are_written_in_place_in_a_graph() -> None:
    op = made("add", mutates=["data"], global_size=lambda data: data.numel())

    def work(x):
        y = x * 2
        op(y, 5)
        return y + 1

    x = torch.arange(6, dtype=torch.int32)
    assert torch.equal(torch.compile(work, fullgraph=True, backend="aot_eager")(x), x * 2 + 6)


def test_gradients() -> None:
    op = scaling()
    op.register_autograd(lambda ctx, dy: (op(dy.contiguous(), ctx.factor), None, None),
                         setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]))
    x = torch.randn(9, requires_grad=True)
    op(x, 3.0).sum().backward()
    assert torch.equal(x.grad, torch.full((9,), 3.0))
    check(op, x, 3.0)
    loss = torch.compile(lambda x: op(x, 4.0).square().sum(), fullgraph=True, backend="aot_eager")
    (found,) = torch.autograd.grad(loss(x), x)
    torch.testing.assert_close(found, 32 * x)


def test_without_a_gradient_backward_says_so(scale: Any) -> None:
    with pytest.raises(RuntimeError, match="register_autograd"):
        scale(torch.ones(3, requires_grad=True), 1.0).sum().backward()


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    from examples import torch_linear

    assert torch_linear.main(["cpu"]) == 0
    assert capsys.readouterr().out.endswith("torch.nn.functional.linear: right\n")
    x, w = (torch.randn(rows, 33).to(torch.bfloat16).requires_grad_() for rows in (70, 45))
    check(torch_linear.linear, x, w)


def test_example_on_a_device_that_is_none() -> None:
    found = subprocess.run([sys.executable, EXAMPLES / "torch_linear.py", "gpu"], capture_output=True, text=True,
                           timeout=120, check=False)
    assert found.returncode == 1
    assert found.stderr.count("\n") == 1


# -------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(("call", "message"), [
    (lambda op: op(torch.ones(3, dtype=torch.float64), 1.0),
     r"argument 'in_': expected a tensor of torch.float32, found torch.float64: convert it, .*to\(torch.float32\)"),
    (lambda op: op(torch.ones(3, 2).t(), 1.0),
     r"argument 'in_': expected a contiguous tensor, found one of shape \(2, 3\) with strides \(1, 2\): pass "
     r"tensor.contiguous\(\)"),
    (lambda op: op(torch.ones(3), 1.0, torch.ones(3, device="meta")),
     r"all tensors must be on one device; found 'in_' on cpu and 'bias' on meta: move one, .* bias.to\('cpu'\)"),
    (lambda op: op(torch.ones(3).to_sparse(), 1.0), r"expected a dense tensor, .*torch.sparse_coo.*to_dense"),
    (lambda op: op(torch.ones(3), 1e300), r"argument 2 of kernel 'scale' .*1e\+300 is too large for float32"),
], ids=["dtype", "strides", "devices", "sparse", "number"])
def test_tensors_that_do_not_fit(scale: Any, call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(cm.LaunchError, match=message):
        call(scale)


def test_a_wrong_dtype_is_found_before_anything_runs(scale: Any) -> None:
    compiled = torch.compile(lambda x: scale(x, 1.0), fullgraph=True, backend="eager")
    with pytest.raises(Exception, match=r"argument 'in_': expected a tensor of torch.float32, found torch.float16"):
        compiled(torch.ones(3, dtype=torch.float16))


@pytest.mark.parametrize(("shape", "message"), [
    (lambda **everything: 3, "expected a shape, a tuple of ints, or a pair of shape and torch.dtype; found 3"),
    (lambda: (3.0,), r"found \(3.0,\)"),
    (lambda: ((3,), torch.float64), "output 'out': expected a tensor of torch.float32, found torch.float64"),
])
def test_shapes_that_are_none(shape: Any, message: str) -> None:
    op = made("scale", outputs={"out": shape}, values={"n": 3}, global_size=64)
    with pytest.raises(cm.LaunchError, match=message):
        op(torch.ones(3), 1.0, torch.ones(3))


GOOD = {"outputs": {"out": lambda in_: in_.shape}, "values": {"n": 3}, "global_size": 64}


@pytest.mark.parametrize(("kernel_name", "changed", "message"), [
    ("scale", {"outputs": {"ot": (3,)}}, "outputs names 'ot', .* has no such parameter; did you mean 'out'"),
    ("scale", {"outputs": {"n": (3,)}, "values": {}}, "outputs names 'int n', which is no pointer to global memory"),
    ("scale", {"outputs": {"in": (3,)}}, "'global const float.* in', which the kernel declares const"),
    ("scale", {"outputs": {}}, r"may write to 'global float\* out', which is not const: name it in outputs, if .*"),
    ("scale", {"mutates": "out"}, r"mutates are names in a sequence, such as mutates=\('out',\)"),
    ("scale", {"global_size": lambda x: 3}, "global_size: the function asks for 'x', .*: in_, factor, bias, n, out"),
    ("scale", {"values": {"n": lambda out: 3}}, "value of 'n': the function asks for 'out', .*: in_, factor, bias"),
    ("scale", {"global_size": lambda *x: 3}, r"the parameter '\*x' of the function has no argument's name"),
    ("scale", {"defaults": {"bias": (1,)}}, r"default of 'bias' must be an int, a float, a bool or None; found \(1,\)"),
    ("scale", {"defaults": {"in": None}}, "has no argument that is always a tensor|PyTorch does not take its schema"),
    ("split", {"outputs": {"low": (3,), "high": (3,)}, "values": {}},
     r"'local float\* scratch' is neither a tensor nor a number: give it a value, values={'scratch': cm.local\(nb"),
    ("pair", {"values": {}}, "'struct Pair p' is neither a tensor nor a number"),
    ("nothing", {"outputs": {"out": (3,)}, "values": {}}, "has no argument that is always a tensor"),
])
def test_descriptions_that_do_not_fit(kernel_name: str, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        made(kernel_name, **{**GOOD, **changed})


@pytest.mark.parametrize("wrong", ["gemm", "a::b::c", "my lib::x", "", 3, None])
def test_names_that_are_none(wrong: Any) -> None:
    with pytest.raises(cm.Error, match=rf"such as 'mylib::gemm'; found {re.escape(repr(wrong))}"):
        cm.torch.custom_op(PROGRAM.kernel("add"), wrong, mutates=["data"], global_size=1)


def test_what_is_no_kernel() -> None:
    with pytest.raises(cm.Error, match=r"made of a kernel in Python, .* program.kernel\(name\); found Program"):
        cm.torch.custom_op(PROGRAM, name(), global_size=1)


def test_without_torch() -> None:
    code = ("import sys; sys.modules['torch'] = None\nimport coopmat as cm\n"
            "try:\n    cm.torch.custom_op(None, 'a::b', global_size=1)\nexcept cm.Error as error:\n    print(error)")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'coopmat[torch]'" in found.stdout
