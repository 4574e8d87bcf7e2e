"""Lines of the source, by what became of them."""

from __future__ import annotations

from collections.abc import Iterator

MOST_PLACES = 12  # of one kind


class Places:
    """Kinds of code → the lines of the source that have it."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, None]] = {}

    def add(self, kind: str, place: str | None) -> None:
        """Note one."""
        self._found.setdefault(kind, {})[_short(place) if place else "an unknown line"] = None

    def lines(self) -> Iterator[str]:
        """A line for each kind."""
        for kind, places in self._found.items():
            shown = list(places)[:MOST_PLACES]
            more = f" and {len(places) - len(shown)} more lines" if len(places) > len(shown) else ""
            yield f"{kind}: {', '.join(shown)}{more}"


def _short(place: str) -> str:
    """A file's name and the line, without folders and column."""
    file, line, *_ = place.rsplit("/", 1)[-1].split(":")
    return f"{file}:{line}"
