"""Kernel arguments, sizes and outputs as text on the command line of ``coopmat run``."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.diagnostics import Error, LaunchError
from coopmat.formats import FORMATS
from coopmat.runtime import local
from coopmat.spirv.analysis.kernels import Parameter
from coopmat.spirv.module.literals import parse_integer
from coopmat.support.files import read_bytes, write_atomically

MAX_ARRAY_BYTES = 2**32
NPY_MAGIC = b"\x93NUMPY"


def parse_sizes(option: str, text: str) -> tuple[int, ...]:
    """``"64,16"`` as (64, 16); LaunchError if it is not one to three whole numbers."""
    parts = text.split(",")
    if not all(re.fullmatch("[0-9]{1,18}", part.strip()) for part in parts):
        raise LaunchError(f"{option} takes one to three whole numbers such as 64,16; found '{text}'")
    return tuple(int(part) for part in parts)


def parse_argument(text: str, parameter: Parameter | None) -> Any:
    """One --arg as the value to launch with; ``parameter`` is what it is for, if the kernel has it."""
    if text == "null":
        return None
    if text.startswith("zeros:"):
        return _zeros(text)
    if text.startswith("local:"):
        size = text.removeprefix("local:")
        if not re.fullmatch("[0-9]{1,18}", size):
            raise LaunchError(f"--arg {text}: expected local:BYTES, such as local:1024")
        return local(int(size))
    if text.endswith(".npy"):
        return load_array(Path(text), parameter)
    return _number(text)


def _zeros(text: str) -> np.ndarray:
    match = re.fullmatch(r"zeros:(\w+):([0-9]+(?:[x,][0-9]+){0,7})", text)
    if not match:
        raise LaunchError(f"--arg {text}: expected zeros:DTYPE:SHAPE, such as zeros:int32:256x256, "
                          "with at most 8 dimensions")
    shape = tuple(int(size) for size in re.split("[x,]", match[2]))
    dtype = _dtype(match[1])
    if np.prod([float(size) for size in shape]) * dtype.itemsize > MAX_ARRAY_BYTES:
        raise LaunchError(f"--arg {text}: more than {MAX_ARRAY_BYTES} bytes")
    return np.zeros(shape, dtype)


def _dtype(name: str) -> np.dtype[Any]:
    """A dtype by numpy's name, ml_dtypes' name, or the name of a matrix type (bf16, sint8, …)."""
    if name in FORMATS:
        return np.dtype(FORMATS[name].dtype)
    if name == "bfloat16":
        return np.dtype(ml_dtypes.bfloat16)
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in "iuf":
        raise LaunchError(f"unknown element type '{name}': use a numpy name such as int8 or float16, bfloat16, "
                          f"or one of {', '.join(FORMATS)}")
    return dtype


def load_array(path: Path, parameter: Parameter | None) -> np.ndarray:
    """A .npy file. Numpy stores the types of ml_dtypes as raw bytes: the parameter says what they are."""
    content = read_bytes(path)
    if not content.startswith(NPY_MAGIC):
        raise Error(f"cannot read '{path}': it is not a .npy file (those begin with {NPY_MAGIC!r})")
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        reason = "it holds Python objects" if "allow_pickle" in str(error) else error
        raise Error(f"cannot read '{path}' as a .npy file: {reason}") from error
    if array.dtype.kind == "V" and parameter is not None and parameter.type.kind == "bfloat" and array.itemsize == 2:
        array = array.view(ml_dtypes.bfloat16)
    return np.ascontiguousarray(array)


def _number(text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            raise LaunchError(f"--arg {text}: expected a number, null, FILE.npy, zeros:DTYPE:SHAPE or local:BYTES"
                              ) from None


def parse_values(texts: list[str]) -> dict[int | str, bool | int | float]:
    """The --spec options: specialisation constant, by SpecId or name, → value."""
    values: dict[int | str, bool | int | float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        number = parse_integer(name)
        key = name if number is None else number
        if not equals or not name:
            raise LaunchError(f"--spec {text}: expected ID=VALUE or NAME=VALUE, such as 3=64 or TILE=64")
        if key in values:
            raise LaunchError(f"--spec {text}: specialisation constant {name} has the value {values[key]} already")
        values[key] = parse_value(text, value)
    return values


def parse_value(text: str, value: str) -> bool | int | float:
    if value in ("true", "false"):
        return value == "true"
    integer = parse_integer(value)
    if integer is not None:
        return integer
    try:
        return float.fromhex(value) if "0x" in value.lower() else float(value)
    except (ValueError, OverflowError):
        raise LaunchError(f"--spec {text}: '{value}' is no number, and neither true nor false") from None


def parse_outputs(texts: list[str], arguments: list[Any]) -> dict[int, Path]:
    """The --out options as argument index → file, checked before anything runs."""
    outputs: dict[int, Path] = {}
    for text in texts:
        index, equals, name = text.partition("=")
        if not equals or not re.fullmatch("[0-9]{1,9}", index) or not name.endswith(".npy"):
            raise LaunchError(f"--out {text}: expected INDEX=FILE.npy, such as 2=c.npy")
        if int(index) >= len(arguments) or not isinstance(arguments[int(index)], np.ndarray):
            raise LaunchError(f"--out {text}: argument {index} is not an array")
        if int(index) in outputs:
            raise LaunchError(f"--out {text}: argument {index} is saved to '{outputs[int(index)]}' already")
        if not Path(name).parent.is_dir():
            raise LaunchError(f"--out {text}: there is no folder '{Path(name).parent}'")
        outputs[int(index)] = Path(name)
    return outputs


def save_outputs(outputs: dict[int, Path], arguments: list[Any]) -> None:
    """Write the arrays, each file whole or not at all."""
    for index, path in outputs.items():
        stream = io.BytesIO()
        np.save(stream, arguments[index], allow_pickle=False)
        write_atomically(path, stream.getvalue())
