"""NVIDIA's driver, through cuda-bindings: every call is checked, and every error of the driver is one of ours."""

from __future__ import annotations

from functools import cache
from typing import Any

from coopmat.diagnostics import Error, LaunchError

MISSING = "CUDA devices need NVIDIA's Python bindings: 'pip install coopmat[cuda]' brings them"


@cache
def bindings() -> Any:
    """The module cuda.bindings.driver. Error if it is not installed."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise Error(f"{MISSING} ({error})") from None
    return driver


@cache
def _started() -> Any:
    """The driver, initialised. Error if there is none, or no GPU."""
    driver = bindings()
    try:
        status = driver.cuInit(0)[0]
    except RuntimeError as error:  # the library itself is not there
        raise Error(f"there is no NVIDIA driver here: {error}") from None
    if status:
        raise Error(f"NVIDIA's driver does not start: {_text(driver, status)}")
    return driver


def call(name: str, *arguments: Any, error: type[Error] = LaunchError, what: str = "") -> Any:
    """Call a function of the driver; what it gives beside its status. ``what``: what was to be done, for the error."""
    driver = _started()
    status, *found = getattr(driver, name)(*arguments)
    if status:
        raise error(f"{what or name}: {_text(driver, status)}")
    return found[0] if len(found) == 1 else tuple(found) or None


def _text(driver: Any, status: Any) -> str:
    """The driver's words for an error."""
    failed, words = driver.cuGetErrorString(status)
    known = "" if failed or not words else f" ({words.decode()})"
    return f"{getattr(status, 'name', status)}{known}"


def device_count() -> int:
    """The GPUs that the driver shows; 0 where there is no driver."""
    try:
        return int(call("cuDeviceGetCount", error=Error))
    except Error:
        return 0


def driver_version() -> int:
    """The CUDA version that the driver knows: 13.0 is 13000."""
    return int(call("cuDriverGetVersion", error=Error))
