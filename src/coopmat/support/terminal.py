"""Output for people: the one console that commands print tables on.

rich is imported where something is printed with it: most commands print nothing, and importing it takes time.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

LEAST_WIDTH = 100  # a narrower terminal wraps the lines; cells are never cut off


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, and wide enough for our tables where there is none."""
    from rich.console import Console

    return Console(width=max(LEAST_WIDTH, shutil.get_terminal_size().columns), stderr=stderr)


def progress(text: str) -> Live:
    """A line that moves while something runs, where the standard error output is a terminal.

    What is printed meanwhile appears above it if that goes to a terminal, too; otherwise it goes its own way.
    """
    from rich.live import Live
    from rich.spinner import Spinner

    return Live(Spinner("dots", text, style="status.spinner"), console=console(stderr=True), transient=True,
                redirect_stdout=sys.stdout.isatty())


@contextmanager
def progress_bar(text: str, total: int, *, is_shown: bool = True) -> Iterator[Callable[[str], None]]:
    """A bar that grows where the standard error output is a terminal; what the block gets is called with what comes
    next, when one of ``total`` parts begins."""
    if not (is_shown and sys.stderr.isatty()):
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True,
                  redirect_stdout=sys.stdout.isatty()) as shown:
        task = shown.add_task(text, total=total)
        begun = 0

        def begin(part: str) -> None:
            nonlocal begun
            shown.update(task, completed=begun, description=f"{text}: {part}")
            begun += 1

        yield begin


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table in the style of all commands."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for column in columns:
        made.add_column(column, no_wrap=True)
    return made
