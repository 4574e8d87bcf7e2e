"""Build options of kernels in Python: those of docs/build-options.md that mean something there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coopmat.diagnostics import Error
from coopmat.diagnostics.warning_levels import WarningLevels, levels_of
from coopmat.runtime.options import FAST_MATH_MACROS, Options, parse_options, split_options
from coopmat.support.build_options import BuildOptions

NDEBUG = "NDEBUG"


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """What a compilation is told. ``has_assertions``: ``assert`` is compiled. ``build``: everything else."""

    has_assertions: bool
    build: BuildOptions

    @property
    def levels(self) -> WarningLevels:
        """Which warnings are shown, and which are errors."""
        return levels_of(self.build.warnings, {})


def kernel_options(name: str, *given: Options) -> KernelOptions:
    """The options of the kernel ``name``, later ones over earlier ones. Error for those that only OpenCL C has."""
    found = parse_options([word for options in given for word in split_options(options)])
    allowed = replace(BuildOptions(), macros=found.macros, warnings=found.warnings, error_limit=found.error_limit,
                      schedule=found.schedule, marks_overflow=found.marks_overflow, fast_math=found.fast_math,
                      unused=found.unused)
    named = [(macro, text) for macro, text in found.macros if macro not in FAST_MATH_MACROS]
    macros = [macro for macro, _ in named if macro != NDEBUG]
    if macros:
        raise Error(f"kernel '{name}' is written in Python, which has no macros except NDEBUG, which turns assert off; "
                    f"found '{macros[0]}': a variable of the module, or of the function around the kernel, is a "
                    "constant in it")
    if found != allowed:
        raise Error(f"kernel '{name}' is written in Python: its options are -DNDEBUG, those of warnings (-W…, -w), "
                    "-ferror-limit=N, -fsanitize=, -coopmat-schedule= and those of mathematics (-cl-fast-relaxed-math, "
                    "…); the others are OpenCL C's")
    has_assertions = named[-1][1] is None if named else __debug__  # -UNDEBUG turns them on again
    return KernelOptions(has_assertions, found)
