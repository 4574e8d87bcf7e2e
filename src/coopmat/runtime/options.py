"""Build options: one table of everything that clBuildProgram, clang and the drivers call an option."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from coopmat.diagnostics import SNIPPET_WIDTH, Error, shortened, value_text
from coopmat.support import schedules
from coopmat.support.build_options import LANGUAGES, BuildOptions
from coopmat.support.schedules import ScheduleOptions

Options = str | Sequence[str] | None
"""Options as :func:`coopmat.build` takes them: one text, or a sequence of words."""

MAX_ERROR_LIMIT = 1_000_000


def _wrong(message: str) -> Error:
    """What is said of an option, which may be of any length."""
    return Error(shortened(message))


# ------------------------------------------------------------------ what options do


class Settings:
    """The fields of :class:`BuildOptions` while the options are read: each one gathers what is said."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def append(self, name: str, value: object) -> None:
        """Add to a field that is a sequence."""
        self.values[name] = (*self.values.get(name, ()), value)

    def build(self) -> BuildOptions:
        """The options."""
        return BuildOptions(**self.values)


Apply = Callable[[Settings, str], None]
"""Does what an option says, given its value, or the option itself where it has none."""


def _define(settings: Settings, value: str) -> None:
    name, equals, text = value.partition("=")
    settings.append("macros", (name, text if equals else "1"))


def _undefine(settings: Settings, value: str) -> None:
    settings.append("macros", (value, None))


def _to(name: str, convert: Callable[[str], object] = str) -> Apply:
    """Append the value to a field."""
    return lambda settings, value: settings.append(name, convert(value))


def _set(name: str, chosen: object) -> Apply:
    """Give a field a value."""
    def apply(settings: Settings, value: str) -> None:
        settings.values[name] = chosen
    return apply


def _fast_math(flags: str, *macros: str) -> Apply:
    """Let arithmetic assume something, in the words of SPIR-V, and define macros as 1, whatever they are already."""
    def apply(settings: Settings, value: str) -> None:
        for flag in flags.split():
            if flag not in settings.values.get("fast_math", ()):
                settings.append("fast_math", flag)
        for name in macros:
            settings.append("macros", (name, None))
            settings.append("macros", (name, "1"))
    return apply


def _permit(settings: Settings, value: str) -> None:
    """Allow the device something that it need not make use of."""


def _ignore(settings: Settings, value: str) -> None:
    """Take an option of somebody's driver that means nothing here; the front end says so."""
    settings.append("unused", value)


def _language(settings: Settings, value: str) -> None:
    name = value.upper()
    if name not in LANGUAGES:
        versions = ", ".join(LANGUAGES)
        reason = (f"C++ for OpenCL is not supported; kernels are written in OpenCL C: {versions}"
                  if "++" in value else f"the versions are {versions}")
        raise _wrong(f"invalid value '{value}' in '-cl-std={value}': {reason}")
    settings.values["language"] = LANGUAGES[name]


def _extensions(settings: Settings, value: str) -> None:
    for item in value.split(","):
        if item[:1] not in ("+", "-") or not item[1:].isidentifier():
            raise _wrong(f"invalid value '{value}' in '-cl-ext={value}': it is a list of +NAME and -NAME, such as "
                        "-cl-ext=-all,+cl_khr_fp16")
        settings.append("extensions", (item[1:], item[0] == "+"))


def _warning(settings: Settings, value: str) -> None:
    settings.append("warnings", {"-W": "-Wextra", "-pedantic": "-Wpedantic",
                                 "-pedantic-errors": "-Werror=pedantic"}.get(value, value))


def _error_limit(settings: Settings, value: str) -> None:
    if not value.isdecimal() or int(value) > MAX_ERROR_LIMIT:
        raise _wrong(f"invalid value '{value}' in '-ferror-limit={value}': it is a number of errors, 0 for no limit")
    settings.values["error_limit"] = int(value)


def _optimization(settings: Settings, value: str) -> None:
    if value not in ("-O", "-O0", "-O1", "-O2", "-O3", "-Os"):
        raise _wrong(f"invalid value in '{value}': the levels are -O0, -O1, -O2 and -O3")


def _schedule(settings: Settings, value: str) -> None:
    ScheduleOptions.parse(value)
    settings.values["schedule"] = value


def _sanitize(settings: Settings, value: str) -> None:
    if value != "signed-integer-overflow":
        raise _wrong(f"invalid value '{value}' in '-fsanitize={value}': it is signed-integer-overflow; what simulated "
                     "devices check besides needs no option")
    settings.values["marks_overflow"] = True


def _source_language(settings: Settings, value: str) -> None:
    if value != "cl":
        raise _wrong(f"invalid value '{value}' in '-x {value}': kernels are written in OpenCL C, which is '-x cl'")


def _refuse(reason: str) -> Apply:
    """An option that is known and cannot be obeyed."""
    def apply(settings: Settings, value: str) -> None:
        raise _wrong(f"option '{value}' is not supported: {reason}")
    return apply


# ------------------------------------------------------------------ the table


class Form(Enum):
    """How an option and its value are written."""

    FLAG = "-w"
    JOINED = "-cl-std=CL1.2"  # the value follows at once
    SEPARATE = "-include FILE"  # the value is the next word
    EITHER = "-DK=64 or -D K=64"
    PREFIX = "-Wno-shadow"  # everything that begins so; the value is the whole word


@dataclass(frozen=True, slots=True)
class Option:
    """One row: how an option begins, what its value is called, what it does, and what the help says of it."""

    name: str
    form: Form
    apply: Apply
    help: str
    value: str = ""

    def __str__(self) -> str:
        """The option as help shows it."""
        blank = " " if self.form in (Form.SEPARATE, Form.EITHER) else ""
        return f"{self.name}{blank}{self.value}"


FAST_MATH_MACROS = ("__FAST_RELAXED_MATH__", "__FINITE_MATH_ONLY__")
PERMITTED = "permits other results; the simulator computes exactly anyway"

PREPROCESSOR = (
    Option("-D", Form.EITHER, _define, "define a macro, as 1 where nothing is said", "NAME[=VALUE]"),
    Option("-U", Form.EITHER, _undefine, "undefine a macro", "NAME"),
    Option("-I", Form.EITHER, _to("include_paths", Path), "look for #include files here", "DIR"),
    Option("-isystem", Form.EITHER, _to("system_include_paths", Path), "the same, after -I and without warnings",
           "DIR"),
    Option("-include", Form.SEPARATE, _to("included_files"), "include a file before the source", "FILE"),
)
LANGUAGE = (
    Option("-cl-std=", Form.JOINED, _language, f"the version of OpenCL C: {', '.join(LANGUAGES)} (the default)",
           "VERSION"),
    Option("-cl-ext=", Form.JOINED, _extensions, "turn extensions on and off; 'all' means all", "+NAME|-NAME,..."),
    Option("-cl-single-precision-constant", Form.FLAG, _set("single_precision_constants", True),
           "constants without suffix are float"),
    Option("-x", Form.EITHER, _source_language, "the source is OpenCL C", "cl"),
)
MATHEMATICS = (
    Option("-cl-fast-relaxed-math", Form.FLAG, _fast_math("NotNaN NotInf NSZ AllowRecip Fast", *FAST_MATH_MACROS),
           "the two options below, and define __FAST_RELAXED_MATH__"),
    Option("-cl-finite-math-only", Form.FLAG, _fast_math("NotNaN NotInf", FAST_MATH_MACROS[1]),
           f"define __FINITE_MATH_ONLY__; no operand or result is an infinity or a NaN; {PERMITTED}"),
    Option("-cl-unsafe-math-optimizations", Form.FLAG, _fast_math("NSZ AllowRecip"),
           "functions of float by faster forms, whose errors are those that OpenCL C allows then, on the CPU and on "
           "NVIDIA's GPUs; the simulator computes exactly anyway"),
    Option("-cl-no-signed-zeros", Form.FLAG, _fast_math("NSZ"), PERMITTED),
    *(Option(name, Form.FLAG, _permit, PERMITTED) for name in ("-cl-mad-enable", "-cl-denorms-are-zero")),
    Option("-cl-fp32-correctly-rounded-divide-sqrt", Form.FLAG, _permit, "always so in the simulator"),
)
TRANSLATION = (
    Option("-fsanitize=", Form.JOINED, _sanitize, "have simulated devices warn of signed arithmetic that overflows",
           "signed-integer-overflow"),
    *(Option(name, Form.FLAG, _permit, "the program stays as written unless `coopmat compile -O` optimises it")
      for name in ("-cl-opt-disable", "-cl-strict-aliasing")),
    Option("-O", Form.PREFIX, _optimization, "the same", "0..3"),
    Option(schedules.OPTION, Form.JOINED, _schedule,
           f"what a GPU, and of that a CPU the blocks, does instead of what it would choose: {schedules.FORM}",
           "ITEM,..."),
    Option("-g", Form.FLAG, _permit, "source lines are always kept"),
    Option("-cl-kernel-arg-info", Form.FLAG, _permit, "the names of arguments are always kept"),
    Option("-cl-uniform-work-group-size", Form.FLAG, _permit, "always so: work-groups are of one size"),
    Option("-cl-no-subgroup-ifp", Form.FLAG, _permit, "permits sub-groups that do not make progress independently"),
)
DIAGNOSTICS = (
    Option("-w", Form.FLAG, _warning, "no warnings"),
    Option("-Werror", Form.FLAG, _warning, "warnings are errors; -Werror=NAME: this one; -Wno-error=NAME: "
                                                  "not this one"),
    Option("-Wfatal-errors", Form.FLAG, _set("error_limit", 1), "stop after the first error"),
    Option("-Wp,", Form.PREFIX, _refuse("give the preprocessor's options without -Wp,"), ""),
    Option("-W", Form.PREFIX, _warning, "turn a warning or a group on: -Wall, -Wextra, -Wconversion, "
                                               "-Weverything; -Wno-NAME turns it off; the last one wins", "NAME"),
    Option("-pedantic-errors", Form.FLAG, _warning, "what the standard does not have is an error"),
    Option("-pedantic", Form.FLAG, _warning, "warn of what the standard does not have"),
    Option("-ferror-limit=", Form.JOINED, _error_limit, "stop after N errors (20); 0: never", "N"),
)
DRIVERS = (
    Option("-cl-intel-", Form.PREFIX, _ignore, "Intel's: taken and ignored with a warning", "..."),
    Option("-ze-", Form.PREFIX, _ignore, "Level Zero's: the same", "..."),
    Option("-cl-nv-", Form.PREFIX, _ignore, "NVIDIA's: the same", "..."),
    Option("-M", Form.PREFIX, _refuse("dependencies are not written"), ""),
)
GROUPS: dict[str, tuple[Option, ...]] = {
    "Preprocessor": PREPROCESSOR, "Language": LANGUAGE, "Warnings and errors": DIAGNOSTICS,
    "Mathematics": MATHEMATICS, "Translation": TRANSLATION, "Drivers": DRIVERS,
}
"""The options by what they are about."""

OPTIONS: tuple[Option, ...] = tuple(option for group in GROUPS.values() for option in group)


# ------------------------------------------------------------------ reading


def split_options(options: Options) -> list[str]:
    """Options as words. A text is split as a shell would; Error for anything that is no option."""
    if options is None:
        return []
    if isinstance(options, str):
        return _words(options)
    if not isinstance(options, Sequence):
        raise _wrong('options are a str such as "-DK=64 -I include" or a sequence such as ("-DK=64", "-I", "include"); '
                    f"found {value_text(options)}")
    words = []
    for option in options:
        if not isinstance(option, str | os.PathLike):
            raise _wrong(f"options are strings, found {value_text(option)}")
        words.append(os.fspath(option))
    return words


_PARTS = re.compile(r"""(?P<plain>[^ \t\r\n'"\\]+)|\\(?P<escaped>.)|'(?P<single>[^']*)'|
                        "(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"|(?P<blanks>[ \t\r\n]+)|(?P<open>.)""",
                    re.DOTALL | re.VERBOSE)
"""What a shell's line consists of; what begins none of it is ``open``."""


def _words(text: str) -> list[str]:
    """The words of a text as :func:`shlex.split` finds them, which takes time with the square of a word's length."""
    words: list[list[str]] = []
    is_inside = False
    for part in _PARTS.finditer(text):
        kind, found = part.lastgroup, part[part.lastindex or 0]
        if kind == "open":
            missing = "escaped character" if found == "\\" else "closing quotation"
            raise _wrong(f"options '{shortened(text, whole=SNIPPET_WIDTH)}' cannot be split into words: no {missing}")
        if kind != "blanks":
            if not is_inside:
                words.append([])
            words[-1].append(re.sub(r'\\(["\\])', r"\1", found) if kind == "double" else found)
        is_inside = kind != "blanks"
    return ["".join(parts) for parts in words]


def parse_options(options: Options) -> BuildOptions:
    """Read options of the table; Error, with what would work, for anything else."""
    settings = Settings()
    words = split_options(options)
    position = 0
    while position < len(words):
        option, value, used = match_option(words[position:])
        if option is None:
            raise _wrong(unknown_option(words[position]))
        option.apply(settings, value)
        position += used
    return settings.build()


def match_option(words: Sequence[str]) -> tuple[Option | None, str, int]:
    """The option that ``words`` begin with, its value and how many words it takes; None for no option.

    Error where the value is missing.
    """
    word = words[0]
    for option in sorted(OPTIONS, key=lambda row: -len(row.name)):
        if option.form is Form.FLAG and word == option.name:
            return option, word, 1
        if option.form is Form.FLAG or not word.startswith(option.name):
            continue
        rest = word[len(option.name):]
        if option.form is Form.PREFIX:
            return option, word, 1
        if rest and option.form in (Form.JOINED, Form.EITHER):
            return option, rest, 1
        if not rest and option.form in (Form.SEPARATE, Form.EITHER) and len(words) > 1 and words[1]:
            return option, words[1], 2
        if not rest:
            raise _wrong(f"option {option.name} needs a value: {option}")
    return None, "", 0


def unknown_option(word: str) -> str:
    """What is said about a word that is no option."""
    known = [row.name for row in OPTIONS] + [f"-cl-std={name}" for name in LANGUAGES]
    close = difflib.get_close_matches(word, known, n=1)
    if not word.startswith("-"):
        return f"'{word}' is no option: options begin with '-', and a value with blanks needs quotes"
    return (f"unknown option '{word}'; did you mean '{close[0]}'?" if close
            else f"unknown option '{word}'; `coopmat check --help` and docs/build-options.md list the options")
