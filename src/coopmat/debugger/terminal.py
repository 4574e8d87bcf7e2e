"""Reading commands at a terminal: with completion and history where prompt_toolkit is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator


def read_lines(prompt: str, words: Callable[[], list[str]]) -> Iterator[str]:
    """The lines that are typed, until the end of the input; ``words`` are what completion offers."""
    read = _prompt_toolkit(prompt, words) if sys.stdin is not None and sys.stdin.isatty() else None
    while True:
        try:
            yield read() if read is not None else input(prompt)
        except EOFError:
            return
        except KeyboardInterrupt:
            print()


def _prompt_toolkit(prompt: str, words: Callable[[], list[str]]) -> Callable[[], str] | None:
    """What reads a line with completion and history, or None where there is no prompt_toolkit."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, Completion
    except ImportError:
        return None

    class Words(Completer):
        def get_completions(self, document: object, complete_event: object) -> Iterator[object]:
            typed = document.get_word_before_cursor()  # type: ignore[attr-defined]
            for word in sorted(set(words())):
                if typed and word.startswith(typed):
                    yield Completion(word, start_position=-len(typed))

    session = PromptSession(completer=Words(), complete_while_typing=False)
    return lambda: str(session.prompt(prompt))
