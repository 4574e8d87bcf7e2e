"""The error codes of SYCL's exceptions, which every error of this package has."""

from __future__ import annotations

from coopmat.diagnostics.quoting import SpelledEnum


class errc(SpelledEnum):
    """Error codes of SYCL's exceptions (SYCL 4.13.2), as far as coopmat raises them."""

    success = 0
    runtime = 1
    kernel = 2
    nd_range = 3
    invalid = 4
    kernel_not_supported = 5
    feature_not_supported = 6
    build = 7
