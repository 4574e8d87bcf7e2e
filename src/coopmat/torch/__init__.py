"""Kernels as operators of PyTorch (docs/torch.md). PyTorch is imported when an operator is made.

    gemm = cm.torch.custom_op(kernel, "mylib::gemm", outputs={"C": lambda A, B: (A.shape[0], B.shape[1])},
                              values={...}, global_size=lambda A, B: ..., local_size=(1, 16))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from coopmat.diagnostics import Error

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def custom_op(kernel: Any, name: str, *, outputs: Mapping[str, Any] = _NOTHING, mutates: Sequence[str] = (),
              inputs: Sequence[str] = (), values: Mapping[str, Any] = _NOTHING,
              defaults: Mapping[str, Any] = _NOTHING, global_size: Any, local_size: Any = None) -> Any:
    """Register a kernel as an operator of PyTorch, ``torch.ops.mylib.gemm`` for the name ``"mylib::gemm"``.

    kernel: one in Python (``@kernel``), or one of a built program.
    outputs: the pointers whose tensors the operator allocates and returns, in this order, with the shape of each:
        a tuple of ints, or a pair of shape and ``torch.dtype``; by default the dtype is that of the pointer.
    mutates: the pointers whose tensors are written in place.
    inputs: the pointers that are only read, although the kernel does not declare them const.
    values: what the operator itself gives to parameters, such as sizes and ``coopmat.local(nbytes)``.
    defaults: of arguments that may be left out, as the default values of a kernel in Python are; None lets a pointer
        be null.
    global_size, local_size: of the launch, in the order of the kernel's language: SYCL's for kernels in Python,
        OpenCL's for others. A local size of None lets the runtime choose. Nothing runs where a global size has a 0.

    Shapes, values and sizes are constants, or functions that name the arguments which they want as their parameters:
    the operator's own, the values (each can ask for those before it), for sizes also the outputs; ``**`` takes all.
    The operator's arguments are the kernel's other parameters in their order: tensors for pointers, numbers for
    numbers. A name that is a word of Python's gets an underscore: ``in_``.

    Returns the operator as ``torch.library.custom_op`` does: it is called, ``register_autograd`` gives it a gradient,
    ``register_vmap`` a batch; it has an implementation for fake tensors. Tensors must be contiguous, on one device,
    and of the kernel's element types. They are used without a copy: those on the CPU by the device ``cpu``, those on an
    NVIDIA GPU by ``cuda:0`` and so on, in PyTorch's current stream.

    Raises Error if PyTorch is not installed or the description does not fit the kernel; the operator raises LaunchError
    for tensors that do not fit.
    """
    try:
        from coopmat.torch.description import operator
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise Error("operators of PyTorch need PyTorch, which is not installed here: pip install 'coopmat[torch]'"
                    ) from None
    return operator(kernel, name, outputs=outputs, mutates=mutates, inputs=inputs, values=values, defaults=defaults,
                    global_size=global_size, local_size=local_size)
