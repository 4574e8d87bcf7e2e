"""Arguments by value, as the bytes that kernels get."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from coopmat.spirv.analysis.kernels import DataType, Parameter


def as_bytes(parameter: Parameter, argument: Any) -> bytes:
    """The bytes of an argument by value; a Python number is converted to the parameter's type."""
    if type(argument) is bytes:
        return argument
    if isinstance(argument, np.ndarray | np.generic):
        return argument.tobytes()
    if isinstance(argument, bytearray):
        return bytes(argument)
    return _number_bytes(parameter.type, argument)


def _number_bytes(kind: DataType, number: float) -> bytes:
    if kind.kind == "float":
        return np.array(number, f"f{kind.bits // 8}").tobytes()
    if kind.kind == "bfloat":
        return np.array(number, ml_dtypes.bfloat16).tobytes()
    width = max(kind.bits, 8)
    return (int(number) % (1 << width)).to_bytes(width // 8, "little")
