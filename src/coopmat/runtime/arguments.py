"""Binding the host's values to a kernel's parameters, with a check and a message for each way to get it wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.runtime.program import Kernel
from coopmat.spirv.kernels import Parameter
from coopmat.targets.simulator import LocalMemory

_FLOAT_DTYPES = {
    ("float", 16): np.dtype(np.float16),
    ("float", 32): np.dtype(np.float32),
    ("float", 64): np.dtype(np.float64),
    ("bfloat", 16): np.dtype(ml_dtypes.bfloat16),
}
_UNSIGNED_TYPES = ("uchar", "ushort", "uint", "ulong", "unsigned", "size_t", "uintptr_t")


def local(nbytes: int) -> LocalMemory:
    """An argument for a local pointer parameter: ``nbytes`` bytes of memory for each work-group."""
    if isinstance(nbytes, bool) or not isinstance(nbytes, (int, np.integer)) or not (
            1 <= nbytes < 2**32):
        raise LaunchError(f"local memory needs a size of 1 to {2**32 - 1} bytes, as an int; found {nbytes!r}")
    return LocalMemory(int(nbytes))


def bind(kernel: Kernel, arguments: Sequence[Any], shown: Sequence[str]) -> list[np.ndarray | LocalMemory]:
    """Check ``arguments`` against the kernel's parameters and give each the form that a target takes:
    arrays as they are, numbers as numpy arrays of the parameter's type. Raises LaunchError, with the parameters as
    ``shown``."""
    parameters = kernel.signature.parameters
    if len(arguments) != len(parameters):
        raise LaunchError(f"kernel '{kernel.name}' takes {len(parameters)} arguments, found {len(arguments)}: "
                          f"{kernel.signature}")
    return [_bind(_Position(kernel.name, index, parameter, text), argument)
            for index, (parameter, argument, text) in enumerate(zip(parameters, arguments, shown, strict=True))]


def behind(argument: Any) -> Any:
    """What an argument stands for: ``__coopmat_array__()`` gives the array of a pointer, ``__coopmat_local_bytes__()``
    the size of local memory; every other argument stands for itself.

    Raises LaunchError for memory that was freed.
    """
    kind = type(argument)
    if hasattr(kind, "__coopmat_array__"):
        return argument.__coopmat_array__()
    if hasattr(kind, "__coopmat_local_bytes__"):
        return local(argument.__coopmat_local_bytes__())
    return argument


def _bind(position: _Position, argument: Any) -> np.ndarray | LocalMemory:
    try:
        found = behind(argument)
    except LaunchError as error:
        raise position.error(str(error)) from None
    return _BINDERS[position.parameter.kind](position, found)


@dataclass(frozen=True, slots=True)
class _Position:
    """A parameter and the words that name it in messages."""

    kernel: str
    index: int
    parameter: Parameter
    shown: str

    def error(self, text: str) -> LaunchError:
        return LaunchError(f"argument {self.index} of kernel '{self.kernel}' ({self.shown}): {text}")


# -------------------------------------------------------------------------------- pointers


def array_dtype(parameter: Parameter) -> np.dtype[Any]:
    """The dtype of the arrays that bind to a pointer parameter, or of the number for a value parameter."""
    type_ = parameter.type
    if type_.kind in ("float", "bfloat"):
        return _float_dtype(parameter)
    if type_.kind == "record":
        return np.dtype((np.void, type_.size))
    return np.dtype(f"{'u' if is_unsigned(parameter) else 'i'}{type_.bits // 8}")


def _float_dtype(parameter: Parameter) -> np.dtype[Any]:
    found = _FLOAT_DTYPES.get((parameter.type.kind, parameter.type.bits))
    if found is None:
        raise LaunchError(f"'{parameter}' cannot be passed: floating-point numbers of {parameter.type.bits} bits are "
                          "not supported; the formats are fp16, bf16, fp32 and fp64")
    return found


def is_unsigned(parameter: Parameter) -> bool:
    """Whether the source language's type is known to be unsigned."""
    words = (parameter.type_name or "").rstrip("*0123456789").split()
    return bool(words) and words[0] in _UNSIGNED_TYPES


def _bind_array(position: _Position, argument: Any) -> np.ndarray:
    parameter = position.parameter
    if isinstance(argument, LocalMemory):
        raise position.error(f"expected a numpy array for a {parameter.kind} pointer, found local memory")
    if not isinstance(argument, np.ndarray) or is_masked(argument):
        raise position.error(f"expected a numpy array for a pointer, found {type(argument).__name__}")
    if not _fits(parameter, argument.dtype):
        raise position.error(f"expected an array of {_expected_dtypes(parameter)}, found {argument.dtype}")
    if not argument.flags.c_contiguous:
        raise position.error(f"the array of shape {argument.shape} is not contiguous (strides "
                             f"{argument.strides}): pass a copy made with numpy.ascontiguousarray")
    if not argument.dtype.isnative:
        raise position.error(f"the array's byte order is not this machine's: found {argument.dtype.str}")
    if not argument.flags.writeable and not parameter.const:
        raise position.error("the array is read-only, but the kernel may write through this pointer: "
                             "pass a writable array, or declare the parameter const")
    return np.asarray(argument)


def is_masked(array: np.ndarray) -> bool:
    """Whether some elements of an array do not count; numpy loads its module of such arrays when it is named."""
    return type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray)


def _fits(parameter: Parameter, dtype: np.dtype[Any]) -> bool:
    if dtype.hasobject:
        return False
    type_ = parameter.type
    if parameter.is_untyped:
        return True
    if type_.kind == "record":
        return dtype.itemsize in (type_.size, 1)
    if type_.kind in ("float", "bfloat"):
        return dtype == _float_dtype(parameter)
    return (dtype.kind in "iu" or _is_bool(parameter, dtype)) and dtype.itemsize * 8 == type_.bits


def _is_bool(parameter: Parameter, dtype: np.dtype[Any]) -> bool:
    """Arrays of bools bind to pointers to bool, whose values in memory are bytes that are 0 or 1."""
    return dtype.kind == "b" and (parameter.type_name or "").startswith("bool")


def _expected_dtypes(parameter: Parameter) -> str:
    type_ = parameter.type
    if type_.kind == "record":
        return f"structures of {type_.size} bytes, or of bytes"
    if type_.kind in ("float", "bfloat"):
        return str(_float_dtype(parameter))
    words = "bool, " if _is_bool(parameter, np.dtype(np.bool_)) else ""
    return f"{words}int{type_.bits} or uint{type_.bits}"


def _bind_local(position: _Position, argument: Any) -> LocalMemory:
    if not isinstance(argument, LocalMemory):
        raise position.error("expected coopmat.local(nbytes) for a pointer to local memory, "
                             f"found {type(argument).__name__}")
    return argument


# -------------------------------------------------------------------------------- values


def _bind_value(position: _Position, argument: Any) -> np.ndarray:
    type_ = position.parameter.type
    if type_.kind == "pointer":
        raise position.error("a pointer inside a value cannot be set from the host")
    if type_.kind == "record":
        return _bind_record(position, argument)
    if type_.count == 1:
        return np.array(_number(position, argument), array_dtype(position.parameter))
    values = argument.tolist() if isinstance(argument, np.ndarray) else argument
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or len(values) != type_.count:
        raise position.error(f"expected {type_.count} numbers, found {argument!r}")
    return np.array([_number(position, value) for value in values], array_dtype(position.parameter))


def _bind_record(position: _Position, argument: Any) -> np.ndarray:
    size = position.parameter.type.size
    content = argument.tobytes() if isinstance(argument, (np.ndarray, np.generic)) else argument
    if not isinstance(content, (bytes, bytearray)) or len(content) != size:
        found = f"{len(content)} bytes" if isinstance(content, (bytes, bytearray)) else repr(argument)
        raise position.error(f"expected a numpy structure or bytes of size {size}, found {found}")
    return np.frombuffer(bytes(content), np.uint8)


def as_number(argument: Any) -> int | float | None:
    """A number of Python's for a number of any kind; None for what is none."""
    value = argument[()] if isinstance(argument, np.ndarray) and argument.ndim == 0 else argument
    if isinstance(value, (bool, np.bool_, Integral)):
        return int(value)
    if isinstance(value, (Real, ml_dtypes.bfloat16)):
        return float(value)
    return None


def _number(position: _Position, argument: Any) -> Any:
    """``argument`` as a number that the parameter's type holds exactly."""
    value = as_number(argument)
    if value is None:
        raise position.error(f"expected a number, found {argument!r} of type {type(argument).__name__}")
    type_ = position.parameter.type
    if type_.kind in ("float", "bfloat"):
        return _floating(position, value, argument)
    return _integer(position, value, argument)


def _integer(position: _Position, value: int | float, argument: Any) -> int:
    if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
        raise position.error(f"{argument!r} is not an integer: convert it first, for example with int()")
    low, high = integer_range(position.parameter)
    if not low <= value <= high:
        raise position.error(f"{argument!r} is out of range: {low} to {high}")
    bits = position.parameter.type.bits
    wrapped = int(value) & (1 << bits) - 1
    unsigned = is_unsigned(position.parameter)
    return wrapped if unsigned or wrapped < 1 << bits - 1 else wrapped - (1 << bits)


def integer_range(parameter: Parameter) -> tuple[int, int]:
    """The smallest and largest value; both signs' if the module does not tell the sign."""
    bits = parameter.type.bits
    if parameter.type.kind == "bool":
        return 0, 1
    if is_unsigned(parameter):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1 if parameter.type_name else 2**bits - 1


def _floating(position: _Position, value: int | float, argument: Any) -> Any:
    dtype = array_dtype(position.parameter)
    try:
        with np.errstate(all="ignore"):
            converted = dtype.type(float(value))
    except OverflowError as error:
        raise position.error(f"{argument!r} is too large for {dtype}") from error
    if value == value and float(converted) != value:
        if np.isinf(float(converted)):
            raise position.error(f"{argument!r} is too large for {dtype}")
        name = f"ml_dtypes.{dtype}" if position.parameter.type.kind == "bfloat" else f"numpy.{dtype}"
        raise position.error(f"{argument!r} is not exact in {dtype} (the nearest is {float(converted)!r}): "
                             f"round it yourself, with {name}({argument!r})")
    return converted


def _refuse(position: _Position, argument: Any) -> np.ndarray:
    raise position.error(f"{position.parameter.type.kind}s cannot be passed; use buffers, local memory and values")


_BINDERS: dict[str, Callable[[_Position, Any], np.ndarray | LocalMemory]] = {
    "global": _bind_array,
    "constant": _bind_array,
    "local": _bind_local,
    "value": _bind_value,
    "opaque": _refuse,
}

