"""The built-in functions and types of OpenCL C, all of them.

Most functions are rows of one :mod:`.table`, from the modules :mod:`.arithmetic`, :mod:`.async_copies`,
:mod:`.atomics`, :mod:`.block_io`, :mod:`.compiler`, :mod:`.dot_products`, :mod:`.matrix_mad`, :mod:`.memory`,
:mod:`.sub_groups`, :mod:`.synchronization` and :mod:`.work_items`, written in the language of :mod:`.patterns`; a call
is resolved by :mod:`.resolution`. The functions that no row describes: :mod:`.printf`, the :mod:`.conversions`
``convert_…`` and ``as_…``, those of the compiler that look at their operands themselves (:mod:`.compiler_calls`,
:mod:`.choices`), and those of cooperative :mod:`.matrices`. :mod:`.predefined_types` has the names of types.
"""

from __future__ import annotations

from collections.abc import Collection

from coopmat.opencl.builtins import compiler_calls, conversions, matrices
from coopmat.opencl.builtins.patterns import Overload
from coopmat.opencl.builtins.resolution import BuiltinFamily, build
from coopmat.opencl.builtins.table import (
    PRINTF,
    ROWS,
    SINCE,
    TABLE,
    UNSUPPORTED,
    candidates,
    has_builtin,
    is_known,
    names,
    resolve_call,
    viable,
)
from coopmat.support.build_options import LATEST, Language

__all__ = ["PRINTF", "ROWS", "SINCE", "TABLE", "UNSUPPORTED", "BuiltinFamily", "Overload", "build", "candidates",
           "has_builtin", "is_builtin", "is_builtin_function", "is_known", "names", "resolve_call", "viable"]


def is_builtin(name: str) -> bool:
    """Whether a function of this name exists without being declared, or is known by name only."""
    return is_known(name) or _has_no_row(name)


def is_builtin_function(name: str, features: Collection[str] | None = None, language: Language = LATEST) -> bool:
    """Whether OpenCL C declares a function of this name, which ``__has_builtin`` asks; with ``features``,
    whether it does so on a device that defines these macros."""
    known = name in names() if features is None else has_builtin(name, features, language)
    return known or _has_no_row(name)


def _has_no_row(name: str) -> bool:
    """Whether a function outside of the table has this name."""
    return name in matrices.FUNCTION_NAMES or name in compiler_calls.NAMES or conversions.is_conversion(name)
