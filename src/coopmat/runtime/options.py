"""Build options: the part of clBuildProgram's options that the front end understands."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coopmat.diagnostics import Error
from coopmat.opencl.messages import warning_names

LANGUAGE = "-cl-std=CL3.0"


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of one compilation; ``defines`` maps a macro to its value, or to None for -U."""

    defines: dict[str, str | None] = field(default_factory=dict)
    include_paths: tuple[Path, ...] = ()
    ignored_warnings: tuple[str, ...] = ()
    warnings_as_errors: bool = False


def parse_options(options: Sequence[str]) -> BuildOptions:
    """Read ``-D``, ``-U``, ``-I`` (joined to their value or not), ``-w``, ``-Wno-NAME``, ``-Werror``, and
    ``-cl-std=CL3.0``, the language that the front end takes anyway. Raises Error for anything else."""
    if isinstance(options, str) or not isinstance(options, Sequence):
        raise Error(f'options are a sequence of strings, such as ("-DK=64", "-I", "include"); found {options!r}')
    defines: dict[str, str | None] = {}
    include_paths: list[Path] = []
    ignored: list[str] = []
    warnings_as_errors = False
    remaining = iter(options)
    for option in remaining:
        if not isinstance(option, str):
            raise Error(f"options are strings, found {option!r}")
        flag = option[:2]
        if flag in ("-D", "-U", "-I"):
            value = option[2:] or next(remaining, "")
            if not value:
                raise Error(f"option {flag} needs a value, such as {_EXAMPLES[flag]}")
            if flag == "-D":
                name, equals, text = value.partition("=")
                defines[name] = text if equals else "1"
            elif flag == "-U":
                defines[value] = None
            else:
                include_paths.append(Path(value))
        elif option == "-w":
            ignored.append("all")
        elif option == "-Werror":
            warnings_as_errors = True
        elif option.startswith("-Wno-"):
            ignored.append(_warning_name(option.removeprefix("-Wno-")))
        elif option == LANGUAGE:
            pass
        else:
            raise Error(f"unknown option '{option}': the options are -D NAME=VALUE, -U NAME, -I DIRECTORY, -w, "
                        f"-Wno-NAME, -Werror and {LANGUAGE}")
    return BuildOptions(defines, tuple(include_paths), tuple(ignored), warnings_as_errors)


def _warning_name(name: str) -> str:
    """``name`` if a warning is called so; else Error."""
    names = warning_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean '-Wno-{close[0]}'?" if close else "; docs/diagnostics.md lists the warnings"
        raise Error(f"no warning is called '{name}'{hint}")
    return name


_EXAMPLES = {"-D": "-D TILE=16", "-U": "-U TILE", "-I": "-I include"}
