"""Build options of kernels in Python: those of docs/build-options.md that mean something there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coopmat.diagnostics import Error
from coopmat.diagnostics.warning_levels import WarningLevels, levels_of
from coopmat.runtime.options import Options, parse_options, split_options
from coopmat.support.build_options import ERROR_LIMIT, BuildOptions

NDEBUG = "NDEBUG"


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """What a compilation is told. ``has_assertions``: ``assert`` is compiled. ``warnings``: the -W options in order.
    ``schedule``: what -coopmat-schedule= says."""

    has_assertions: bool = __debug__
    warnings: tuple[str, ...] = ()
    error_limit: int = ERROR_LIMIT
    schedule: str | None = None

    @property
    def levels(self) -> WarningLevels:
        """Which warnings are shown, and which are errors."""
        return levels_of(self.warnings, {})


def kernel_options(name: str, *given: Options) -> KernelOptions:
    """The options of the kernel ``name``, later ones over earlier ones. Error for those that only OpenCL C has."""
    found = parse_options([word for options in given for word in split_options(options)])
    allowed = replace(BuildOptions(), macros=found.macros, warnings=found.warnings, error_limit=found.error_limit,
                      schedule=found.schedule, marks_overflow=found.marks_overflow, unused=found.unused)
    macros = [macro for macro, _ in found.macros if macro != NDEBUG]
    if macros:
        raise Error(f"kernel '{name}' is written in Python, which has no macros except NDEBUG, which turns assert off; "
                    f"found '{macros[0]}': a variable of the module, or of the function around the kernel, is a "
                    "constant in it")
    if found != allowed:
        raise Error(f"kernel '{name}' is written in Python: its options are -DNDEBUG, those of warnings (-W…, -w), "
                    "-ferror-limit=N, -fsanitize= and -coopmat-schedule=; the others are OpenCL C's")
    has_assertions = found.macros[-1][1] is None if found.macros else __debug__  # -UNDEBUG turns them on again
    return KernelOptions(has_assertions, found.warnings, found.error_limit, found.schedule)
