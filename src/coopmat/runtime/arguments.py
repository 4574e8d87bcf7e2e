"""Binding the host's values to a kernel's parameters, with a check and a message for each way to get it wrong.

A kernel has one binder for each parameter (:func:`binder`), made when it is launched first. What arguments usually are
is taken on a short way; everything else, and every mistake, on the long one.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.diagnostics import LaunchError, value_text
from coopmat.runtime.arrays import EXPECTED, array_over, is_of_bytes, what_is_wrong
from coopmat.runtime.device import Device
from coopmat.runtime.device_arrays import refused_by
from coopmat.runtime.records import difference, is_native
from coopmat.spirv.analysis.kernels import Parameter
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.base.local_memory import LocalMemory

Bound = np.ndarray | DeviceArray | LocalMemory | bytes | None
"""An argument as targets take it: the array of a pointer, None for a null pointer, the bytes of a value."""
Binder = Callable[[Any], Bound]

_FLOAT_DTYPES = {
    ("float", 16): np.dtype(np.float16),
    ("float", 32): np.dtype(np.float32),
    ("float", 64): np.dtype(np.float64),
    ("bfloat", 16): np.dtype(ml_dtypes.bfloat16),
}
_BFLOAT16 = _FLOAT_DTYPES["bfloat", 16]
_SHORTS = (np.dtype(np.uint16), np.dtype(np.int16))
_FLOAT_CODES = {16: "<e", 32: "<f", 64: "<d"}
"""How :mod:`struct` calls the formats of Python's own rounding."""
_LOCAL_BYTES = "__coopmat_local_bytes__"
"""The method of arguments that stand for local memory: how many bytes."""
_UNSIGNED_TYPES = ("uchar", "ushort", "uint", "ulong", "unsigned", "size_t", "uintptr_t")


def local(nbytes: int) -> LocalMemory:
    """An argument for a local pointer parameter: ``nbytes`` bytes of memory for each work-group."""
    if isinstance(nbytes, bool) or not isinstance(nbytes, (int, np.integer)) or not (
            1 <= nbytes < 2**32):
        raise LaunchError(f"local memory needs a size of 1 to {2**32 - 1} bytes, as an int; found {value_text(nbytes)}")
    return LocalMemory(int(nbytes))


@dataclass(frozen=True, slots=True)
class Position:
    """A parameter and the words that name it in messages. device: the one that arguments are for; None for one that
    takes the host's memory."""

    kernel: str
    index: int
    parameter: Parameter
    shown: str
    device: Device | None = None

    def error(self, text: str) -> LaunchError:
        """What is wrong with an argument."""
        return LaunchError(f"argument {self.index} of kernel '{self.kernel}' ({self.shown}): {text}")


def binder(position: Position) -> Binder:
    """What brings arguments of a parameter to the form that targets take. It raises LaunchError for those that do not
    fit."""
    return _BINDERS[position.parameter.kind](position)


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


def _array_binder(position: Position) -> Binder:
    parameter = position.parameter
    is_const = parameter.const
    accepted = set(dtypes(parameter))  # and those that were found to fit
    if position.device is not None and position.device.is_apart:
        return _device_binder(position, accepted)

    def bind(argument: Any) -> np.ndarray | None:
        if type(argument) is np.ndarray and argument.dtype in accepted:
            flags = argument.flags
            if flags.carray or (is_const and flags.c_contiguous):
                return argument
        if argument is None:
            return None
        array = _array(position, argument)
        accepted.add(array.dtype)
        return array

    return bind


def _device_binder(position: Position, accepted: set[np.dtype[Any]]) -> Binder:
    """Of a device with memory of its own, which takes arrays of the host, too."""
    parameter, device = position.parameter, position.device
    assert device is not None
    foreign, is_const = device.foreign, parameter.const

    def bind(argument: Any) -> np.ndarray | DeviceArray | None:
        if argument is None:
            return None
        if type(argument) is np.ndarray:
            flags = argument.flags
            if argument.dtype in accepted and (flags.carray or (is_const and flags.c_contiguous)):
                return argument
        else:
            try:
                found = foreign(argument)
            except LaunchError as error:
                raise position.error(str(error)) from None
            if found is not None:
                if found.dtype not in accepted and not _fits(parameter, found.dtype):
                    raise position.error(_misfit(parameter, found.dtype))
                if found.is_read_only and not is_const:
                    raise position.error(_READ_ONLY)
                return found
        array = _array(position, argument)
        accepted.add(array.dtype)
        return array

    return bind


_READ_ONLY = ("its memory is read-only, but the kernel may write through this pointer: pass memory that can be written "
              "to, or declare the parameter const")


def dtypes(parameter: Parameter) -> tuple[np.dtype[Any], ...]:
    """The dtypes that arrays for a pointer to numbers have. SPIR-V's integers have no sign; 16 bits may be those of a
    bfloat16, for which OpenCL C has no type that every device takes."""
    type_ = parameter.type
    if parameter.is_untyped or type_.kind == "record":
        return ()
    if type_.kind in ("float", "bfloat"):
        found = _float_dtype(parameter)
        return (found, *_SHORTS) if found == _BFLOAT16 else (found,)
    bits = type_.bits
    if bits not in (8, 16, 32, 64):
        return ()
    bools = (np.dtype(np.bool_),) if (parameter.type_name or "").startswith("bool") else ()
    return (*bools, np.dtype(f"i{bits // 8}"), np.dtype(f"u{bits // 8}"), *((_BFLOAT16,) if bits == 16 else ()))


def _array(position: Position, argument: Any) -> np.ndarray:
    """The array for a pointer, the long way."""
    parameter = position.parameter
    if isinstance(argument, LocalMemory) or hasattr(type(argument), _LOCAL_BYTES):
        raise position.error(f"a {parameter.kind} pointer takes an array, found local memory")
    array = _memory(position, argument)
    if is_of_bytes(argument):
        array = _of_elements(position, array)
    elif not _fits(parameter, array.dtype):
        raise position.error(_misfit(parameter, array.dtype))
    if not is_native(array.dtype):
        dtype = "array.dtype.newbyteorder('=')" if array.dtype.kind == "V" else f"'{array.dtype.name}'"
        raise position.error(f"the array's byte order is not this machine's: found {array.dtype}; pass a copy made "
                             f"with array.astype({dtype})")
    return array


def _memory(position: Position, argument: Any) -> np.ndarray:
    """What an argument shows of its memory, if a kernel can use it as it is."""
    try:
        array = array_over(argument)
    except LaunchError as error:  # it was freed
        raise position.error(str(error)) from None
    if array is None:
        try:
            (position.device.foreign if position.device is not None else refused_by("cpu"))(argument)
        except LaunchError as error:
            raise position.error(str(error)) from None
        raise position.error(f"a pointer takes {EXPECTED}; found {type(argument).__name__}{_way_to_array(argument)}")
    wrong = what_is_wrong(array)
    if wrong is not None:
        raise position.error(wrong)
    if not array.flags.writeable and not position.parameter.const:
        raise position.error(_READ_ONLY)
    return array


def _way_to_array(argument: Any) -> str:
    if isinstance(argument, np.ma.MaskedArray):
        return "; a kernel knows no masks: pass array.data, or array.filled(value)"
    return "; numpy.asarray makes one of it" if hasattr(argument, "__array__") else ""


def _of_elements(position: Position, array: np.ndarray) -> np.ndarray:
    """Plain bytes as elements of the parameter's type."""
    parameter, memory = position.parameter, array.reshape(-1).view(np.uint8)
    if parameter.is_untyped or parameter.type.kind == "record":
        return memory
    dtype = array_dtype(parameter)
    if memory.size % dtype.itemsize:
        raise position.error(f"{memory.size} bytes are no whole number of elements of {dtype}, {dtype.itemsize} bytes "
                             "each")
    found = memory.view(dtype)
    if not found.flags.aligned:
        raise position.error(f"the memory of a pointer to {dtype} must begin at a multiple of {dtype.alignment} bytes")
    return found


def _fits(parameter: Parameter, dtype: np.dtype[Any]) -> bool:
    if dtype.hasobject:
        return False
    if parameter.type.kind == "record":
        return (dtype.itemsize == 1 and dtype.kind in "iub") or difference(parameter.type, dtype) is None
    return parameter.is_untyped or dtype.newbyteorder("=") in dtypes(parameter)


def _misfit(parameter: Parameter, dtype: np.dtype[Any]) -> str:
    """What was expected instead of an array of some dtype."""
    if parameter.type.kind == "record":
        return (f"expected structures of {parameter.type.size} bytes, or of bytes, found {dtype}: "
                f"{difference(parameter.type, dtype)}")
    if not dtypes(parameter):
        return f"integers of {parameter.type.bits} bits cannot be passed; those of 8, 16, 32 and 64 bits can"
    *others, last = map(str, dtypes(parameter))
    return f"expected an array of {', '.join(others)}{' or ' * bool(others)}{last}, found {dtype}"


def _local_binder(position: Position) -> Binder:
    def bind(argument: Any) -> LocalMemory:
        if hasattr(type(argument), _LOCAL_BYTES):
            argument = local(argument.__coopmat_local_bytes__())
        if not isinstance(argument, LocalMemory):
            raise position.error("expected coopmat.local(nbytes) for a pointer to local memory, "
                                 f"found {type(argument).__name__}")
        return argument

    return bind


# -------------------------------------------------------------------------------- values


def _value_binder(position: Position) -> Binder:
    type_ = position.parameter.type
    if type_.kind == "pointer":
        return _refusal(position, "a pointer inside a value cannot be set from the host")
    if type_.kind == "record":
        return lambda argument: _record(position, argument)
    if type_.count == 1:
        return _number_binder(position)
    return lambda argument: _vector(position, argument)


def _number_binder(position: Position) -> Binder:
    """Of a scalar: what Python's own conversions take goes a short way."""
    type_ = position.parameter.type
    if type_.kind == "float" and type_.bits in _FLOAT_CODES:
        pack = struct.Struct(_FLOAT_CODES[type_.bits]).pack

        def bind_float(argument: Any) -> bytes:
            if type(argument) is float:
                try:
                    return pack(argument)
                except OverflowError:
                    pass  # the message is the long way's
            return _scalar(position, argument).tobytes()

        return bind_float
    if type_.kind == "int":
        low, high = integer_range(position.parameter)
        size, mask = type_.size, (1 << type_.bits) - 1

        def bind_integer(argument: Any) -> bytes:
            if type(argument) is int or isinstance(argument, np.integer):
                number = int(argument)
                if low <= number <= high:
                    return (number & mask).to_bytes(size, "little")
            return _scalar(position, argument).tobytes()

        return bind_integer
    return lambda argument: _scalar(position, argument).tobytes()


def _scalar(position: Position, argument: Any) -> np.ndarray:
    return np.array(_number(position, argument), array_dtype(position.parameter))


def _vector(position: Position, argument: Any) -> bytes:
    type_ = position.parameter.type
    values = argument.tolist() if isinstance(argument, np.ndarray) else argument
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or len(values) != type_.count:
        raise position.error(f"expected {type_.count} numbers, found {value_text(argument)}")
    numbers = np.array([_number(position, value) for value in values], array_dtype(position.parameter))
    return numbers.tobytes().ljust(type_.size, b"\0")  # three components take the place of four


def _record(position: Position, argument: Any) -> bytes:
    """The bytes of a structure: of one of numpy's or ctypes' with the same layout, or as they are."""
    type_ = position.parameter.type
    if isinstance(argument, bytes | bytearray):
        if len(argument) != type_.size:
            raise position.error(f"expected a structure of {type_.size} bytes, found {len(argument)} bytes")
        return bytes(argument)
    native = "pass a copy made with value.astype(value.dtype.newbyteorder('='))"
    if isinstance(argument, ctypes.Structure | ctypes.Union):
        native = f"derive it from {'ctypes.Structure' if isinstance(argument, ctypes.Structure) else 'ctypes.Union'}"
        argument = _of_ctypes(argument)
    if not isinstance(argument, np.ndarray | np.void):
        raise position.error(f"expected a structure of {type_.size} bytes: a structured scalar of numpy, one of "
                             f"ctypes, or bytes; found {value_text(argument)}")
    whole = np.dtype((argument.dtype, argument.shape)) if argument.shape else argument.dtype
    wrong = difference(type_, whole)
    if wrong is not None:
        raise position.error(f"expected a structure of {type_.size} bytes, found {argument.dtype}: {wrong}")
    if not is_native(whole):
        raise position.error(f"the structure's byte order is not this machine's: found {argument.dtype}; {native}")
    return argument.tobytes()


def _of_ctypes(structure: Any) -> Any:
    """A structure of ctypes as numpy's; as it is where numpy has none such."""
    try:
        return np.frombuffer(bytes(structure), np.dtype(type(structure)))[0]
    except (TypeError, ValueError, NotImplementedError):
        return structure


def as_number(argument: Any) -> int | float | None:
    """A number of Python's for a number of any kind; None for what is none. OverflowError for a finite one that a float
    does not hold."""
    value = argument[()] if isinstance(argument, np.ndarray) and argument.ndim == 0 else argument
    if isinstance(value, (bool, np.bool_, Integral)):
        return int(value)
    if not isinstance(value, (Real, ml_dtypes.bfloat16)):
        return None
    number = float(value)
    if math.isinf(number) and value != number:
        raise OverflowError
    return number


def _number(position: Position, argument: Any) -> Any:
    """``argument`` as a number of the parameter's type: integers exactly, floating-point numbers rounded as numpy does.
    """
    try:
        value = as_number(argument)
    except OverflowError:
        raise position.error(f"{value_text(argument)} is too large for {array_dtype(position.parameter)}") from None
    if value is None:
        raise position.error(f"expected a number, found {value_text(argument)} of type {type(argument).__name__}")
    type_ = position.parameter.type
    if type_.kind in ("float", "bfloat"):
        return _floating(position, value, argument)
    return _integer(position, value, argument)


def _integer(position: Position, value: int | float, argument: Any) -> int:
    if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
        raise position.error(f"{value_text(argument)} is not an integer: convert it first, for example with int()")
    low, high = integer_range(position.parameter)
    if not low <= value <= high:
        raise position.error(f"{value_text(argument)} is out of range: {low} to {high}")
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


def _floating(position: Position, value: int | float, argument: Any) -> Any:
    dtype = array_dtype(position.parameter)
    try:
        number = float(value)
        with np.errstate(all="ignore"):
            rounded = dtype.type(number)
        is_too_large = math.isinf(rounded) and not math.isinf(number)
    except OverflowError:
        is_too_large = True
    if is_too_large:
        raise position.error(f"{value_text(argument)} is too large for {dtype}")
    return rounded


def _refusal(position: Position, text: str) -> Binder:
    def refuse(_: Any) -> None:
        raise position.error(text)

    return refuse


_BINDERS: Mapping[str, Callable[[Position], Binder]] = {
    "global": _array_binder,
    "constant": _array_binder,
    "local": _local_binder,
    "value": _value_binder,
    "opaque": lambda position: _refusal(
        position, f"{position.parameter.type.kind}s cannot be passed; use buffers, local memory and values"),
}
