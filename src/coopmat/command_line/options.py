"""What the commands that build have in common: a source, a device, and every option of the table in runtime/options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from coopmat.diagnostics import Error
from coopmat.runtime import Kernel, Program
from coopmat.runtime.options import GROUPS, match_option, unknown_option

_KEY = "coopmat.support.build_options"

SOURCES = "OpenCL C (.cl, or - for standard input), LLVM IR (.ll), SPIR-V (.spv, .spvasm)."
Source = Annotated[Path, typer.Argument(metavar="FILE", help=SOURCES)]
CacheFolder = Annotated[Path | None, typer.Option("--cache-dir", metavar="DIR|off",
                                                  help="Keep compiled programs in DIR.")]
Linked = Annotated[list[Path] | None, typer.Option("--link", metavar="FILE", help="Link this file, too.")]
Specialized = Annotated[list[str] | None, typer.Option(
    "--spec", metavar="ID|NAME=VALUE", help="Set a specialisation constant (repeatable).")]
DeviceName = Annotated[str | None, typer.Option("--device", metavar="DEVICE", help="As `coopmat devices` lists it.")]


def split_command_line(words: list[str], own: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """The words for the command itself, and the build options among them.

    ``own`` are the command's options and whether each takes a value. Error for what is neither.
    """
    kept: list[str] = []
    options: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        used = 1
        if word == "--":
            return kept + words[position:], options
        if word in own:
            used = 1 + own[word]
        elif word.startswith("-") and not word.startswith("--") and word != "-" and word[:2] not in own:
            option, _, used = match_option(words[position:])
            if option is None:
                raise Error(unknown_option(word))
            options += words[position:position + used]
            position += used
            continue
        kept += words[position:position + used]
        position += used
    return kept, options


class BuildCommand(TyperCommand):
    """A command with build options besides its own ones; :func:`build_options` gives them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take out the build options, then read the rest."""
        own = {name: not getattr(parameter, "is_flag", False) for parameter in self.get_params(ctx)
               for name in parameter.opts if name.startswith("-")}
        kept, ctx.meta[_KEY] = split_command_line(args, own)
        return super().parse_args(ctx, kept)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The command's own options, then the table's by group."""
        super().format_options(ctx, formatter)
        for title, options in GROUPS.items():
            with formatter.section(f"Build options: {title.lower()}"):
                formatter.write_dl([(str(option), option.help) for option in options if option.help])


def build_options(context: typer.Context) -> list[str]:
    """The build options of a command line, in the form that :func:`coopmat.build` takes."""
    options: list[str] = context.meta[_KEY]
    return options


def chosen_kernel(program: Program, name: str | None) -> Kernel:
    """The kernel of a name, or the only one. Error, naming what there is, if that is none."""
    if name is not None:
        return program.kernel(name)
    if len(program.kernels) != 1:
        names = ", ".join(program.kernels)
        raise Error(f"choose a kernel of {program.source_name} with --kernel: {names}" if names else
                    f"{program.source_name} has no kernels")
    return next(iter(program.kernels.values()))
