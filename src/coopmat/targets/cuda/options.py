"""The options of NVIDIA's GPUs as devices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.targets.base.output import DEFAULT_PRINTF_LIMIT


@dataclass(frozen=True, kw_only=True)
class CudaOptions:
    """How kernels run on an NVIDIA GPU (docs/gpu.md).

    ``diagnose``: a launch that ends in an illegal access is run again in the simulator, which raises the error that it
    finds there, with line and buffer. Every launch is waited for then, and its memory copied before.
    ``printf_limit``: the bytes that printf may write in one launch; what does not fit is dropped.

    Raises :class:`~coopmat.diagnostics.Error` for a value of another type or out of range.
    """

    diagnose: bool = False
    printf_limit: int = DEFAULT_PRINTF_LIMIT

    def __post_init__(self) -> None:
        if not isinstance(self.diagnose, bool | np.bool_):
            raise Error(f"a GPU's option diagnose must be True or False; found {value_text(self.diagnose)} of type "
                        f"{type(self.diagnose).__name__}")
        limit = self.printf_limit
        if not isinstance(limit, int | np.integer) or isinstance(limit, bool) or limit < 0:
            raise Error(f"a GPU's option printf_limit must be an integer of at least 0; found {value_text(limit)} of "
                        f"type {type(limit).__name__}")
