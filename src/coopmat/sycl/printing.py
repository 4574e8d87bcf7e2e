"""printf, in kernels and on the host."""

from __future__ import annotations

from typing import Any

from coopmat.sycl.device_functions import host_device_function


@host_device_function
def printf(format: str, *arguments: Any) -> None:
    """``printf("%d %6.3f\\n", i, x)``: print as C does; the length of an argument need not be said, and ``%v4f``
    prints a vector (OpenCL C 6.15.14). Python's ``print`` and f-strings work in kernels, too."""
    print(format % arguments, end="")
