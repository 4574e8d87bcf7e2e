"""A linear layer of PyTorch whose forward and backward pass are a kernel in Python, trained within torch.compile.

    python examples/torch_linear.py [DEVICE]

DEVICE is one of PyTorch's, cpu or cuda:0; by default the GPU, if PyTorch has one. The kernel multiplies bfloat16
matrices of any sizes, each as it lies or transposed; sums are float32.
"""

import sys

import torch

import coopmat as cm
from coopmat.sycl import *

tM, tN, tK, ITEMS = 128, 256, 64, 256


def product(name: str, a: layout, b: layout):
    """The operator C = A * B for operands that lie by rows or, as transposed tensors do, by columns."""

    @kernel(work_group_size=(1, ITEMS))
    def gemm(item: nd_item[2], A: ptr[const[bfloat16]], B: ptr[const[bfloat16]], C: ptr[float32],
             M: int, N: int, K: int):
        g = item.get_group()
        m, n = g.get_group_id(0) * tM, g.get_group_id(1) * tN
        tA = joint_matrix(work_group, bfloat16, use.a, tM, tK, a)
        tB = joint_matrix(work_group, bfloat16, use.b, tK, tN, b)
        tC = joint_matrix(work_group, float32, use.accumulator, tM, tN)
        joint_matrix_fill(g, tC, 0)
        for k in range(0, K, tK):
            if a == layout.row_major:
                joint_matrix_load_checked(g, tA, A, K, M, K, m, k)
            else:  # a checked load counts rows and columns as they lie in memory
                joint_matrix_load_checked(g, tA, A, M, K, M, k, m)
            if b == layout.row_major:
                joint_matrix_load_checked(g, tB, B, N, K, N, k, n)
            else:
                joint_matrix_load_checked(g, tB, B, K, N, K, n, k)
            joint_matrix_mad(g, tC, tA, tB, tC)
        joint_matrix_store_checked(g, tC, C, N, layout.row_major, M, N, m, n)

    m, n = int(a is layout.col_major), int(b is layout.row_major)  # which dimension of A has size M, of B size N
    return cm.torch.custom_op(
        gemm, name, outputs={"C": lambda M, N: (M, N)},
        values={"M": lambda A: A.shape[m], "N": lambda B: B.shape[n], "K": lambda A: A.shape[1 - m]},
        global_size=lambda M, N: (-(-M // tM), -(-N // tN) * ITEMS), local_size=(1, ITEMS))


linear = product("example::linear", layout.row_major, layout.col_major)                  # y = x * w^T
input_gradient = product("example::input_gradient", layout.row_major, layout.row_major)    # dy * w
weight_gradient = product("example::weight_gradient", layout.col_major, layout.row_major)  # dy^T * x


def backward(ctx, dy):
    x, w = ctx.saved_tensors
    dy = dy.to(torch.bfloat16).contiguous()
    return input_gradient(dy, w), weight_gradient(dy, x)


linear.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))


def ours(x, w):
    """The layer in mixed precision: float32 in and out."""
    return linear(x.to(torch.bfloat16), w.to(torch.bfloat16))


def trained(layer, x, target, w, steps: int):
    """The weights after some steps of gradient descent, and the loss before each."""
    w, losses = w.clone().requires_grad_(), []
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")  # a back end that needs no C++ compiler
    for _ in range(steps):
        loss = (compiled(x, w) - target).square().mean()
        (gradient,) = torch.autograd.grad(loss, w)
        w = (w - 20 * gradient).detach().requires_grad_()
        losses.append(loss.item())
    return w.detach(), losses


def main(arguments: list[str]) -> int:
    """Train with the kernel and with PyTorch's own layer, compare; 0 if all is well."""
    device = arguments[0] if arguments else "cuda:0" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    x, true = torch.randn(200, 100, device=device), torch.randn(150, 100, device=device)
    start, target = torch.zeros_like(true), torch.nn.functional.linear(x, true)

    rounded = torch.nn.functional.linear(x.bfloat16().float(), true.bfloat16().float())
    is_exact = torch.allclose(ours(x, true), rounded, rtol=1e-4, atol=1e-4)
    w, losses = trained(ours, x, target, start, 20)
    reference, _ = trained(torch.nn.functional.linear, x, target, start, 20)
    is_right = is_exact and torch.allclose(w, reference, rtol=0.02, atol=0.02)
    print(f"{device}: loss {losses[0]:.1f} to {losses[-1]:.3f} in {len(losses)} steps, weights as those of "
          f"torch.nn.functional.linear: {'right' if is_right else 'WRONG'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (cm.Error, RuntimeError) as error:
        sys.exit(str(error).splitlines()[0])
