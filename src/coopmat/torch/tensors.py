"""Tensors as the memory of kernels."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import torch

from coopmat.diagnostics import LaunchError, value_text
from coopmat.runtime.arguments import array_dtype, dtypes
from coopmat.runtime.device import Device
from coopmat.runtime.queue import Queue
from coopmat.runtime.selection import device as find_device
from coopmat.spirv.analysis.kernels import Parameter


def own_dtype(parameter: Parameter) -> Any:
    """The ``torch.dtype`` of a pointer's elements; None where the kernel does not tell, or PyTorch has none such."""
    if parameter.is_untyped or parameter.type.kind == "record":
        return None
    return getattr(torch, array_dtype(parameter).name, None)


def taken(parameter: Parameter) -> tuple[Any, ...]:
    """The dtypes of the tensors that a pointer takes; none for a number, and for a pointer that takes all."""
    if not parameter.is_pointer or parameter.is_untyped or parameter.type.kind == "record":
        return ()
    return tuple(getattr(torch, found.name) for found in dtypes(parameter) if hasattr(torch, found.name))


def check_tensor(what: str, tensor: Any, dtypes: tuple[Any, ...]) -> None:
    """Refuse what no kernel can use, real or fake; ``what`` names it in messages."""
    if tensor.layout != torch.strided:
        raise LaunchError(f"{what}: expected a dense tensor, found one of layout {tensor.layout}: pass "
                          "tensor.to_dense()")
    if dtypes and tensor.dtype not in dtypes:
        *others, last = map(str, dtypes)
        raise LaunchError(f"{what}: expected a tensor of {', '.join(others)}{' or ' * bool(others)}{last}, found "
                          f"{tensor.dtype}: convert it, for example with tensor.to({dtypes[0]})")


def device_of(what: str, tensors: Iterable[tuple[str, Any]]) -> Any:
    """The device that all tensors are on. LaunchError, which calls the operator ``what``, if they differ."""
    (first, tensor), *others = tensors
    for name, other in others:
        if other.device != tensor.device:
            raise LaunchError(f"{what}: all tensors must be on one device; found '{first}' on {tensor.device} and "
                              f"'{name}' on {other.device}: move one, for example with "
                              f"{name}.to({str(tensor.device)!r})")
    return tensor.device


@cache
def _device(name: str) -> Device:
    return find_device(name)


def queue_on(what: str, device: Any) -> Queue:
    """A queue of the device that stands for one of PyTorch's: of a GPU, its current stream."""
    if device.type == "cpu":
        return Queue(_device("cpu"))
    if device.type == "cuda" and torch.version.cuda is not None:
        return Queue(_device(f"cuda:{device.index}"), stream=torch.cuda.current_stream(device).cuda_stream)
    raise LaunchError(f"{what}: expected tensors on the CPU or on an NVIDIA GPU, found them on {device}: move them "
                      "with tensor.cpu()")


def memory_of(what: str, tensor: Any) -> Any:
    """A tensor's memory as queues take it, without a copy: on the CPU an array of numpy, of bfloat16, which numpy does
    not know, one of integers."""
    if not tensor.is_contiguous():
        raise LaunchError(f"{what}: expected a contiguous tensor, found one of shape {tuple(tensor.shape)} with "
                          f"strides {tensor.stride()}: pass tensor.contiguous()")
    tensor = tensor.detach()
    if tensor.is_cuda:
        return tensor
    return tensor.view(torch.int16).numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def shape_and_dtype(what: str, given: Any, dtype: Any) -> tuple[tuple[Any, ...], Any]:
    """What a shape function gave: a shape, or a pair of shape and dtype."""
    shape = given
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], torch.dtype):
        shape, dtype = given
    if not isinstance(shape, tuple | list) or not all(_is_size(size) for size in shape):
        raise LaunchError(f"{what}: expected a shape, a tuple of ints, or a pair of shape and torch.dtype; found "
                          f"{value_text(given)}")
    return tuple(shape), dtype


def _is_size(size: Any) -> bool:
    return isinstance(size, int | np.integer | torch.SymInt) and not isinstance(size, bool)
