"""The report of a launch, and the forms that it is written in."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coopmat.diagnostics import Error
from coopmat.report.model import ReportData
from coopmat.report.text import as_text
from coopmat.support.files import write_atomically


@dataclass(frozen=True)
class Report(ReportData):
    """What a launch did, counted on a simulated device: docs/report.md, and :class:`~coopmat.report.model.ReportData`
    for the numbers."""

    def to_dict(self) -> dict[str, Any]:
        """All of it as dictionaries, lists, numbers and texts."""
        found = asdict(self)
        found["times"] |= {"total": self.times.total, "bound": self.times.bound}
        found["intensity"] |= {"requested": self.intensity.requested, "compulsory": self.intensity.compulsory}
        return found

    def json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def text(self) -> str:
        """For a terminal."""
        return as_text(self)

    def html(self) -> str:
        """One page that needs no network."""
        from coopmat.report.page import as_html

        return as_html(self)

    def save(self, path: str | Path) -> None:
        """Write it as HTML, JSON or text, as the name ends. Error for another ending."""
        write_atomically(Path(path), self.written(path).encode())

    def written(self, path: str | Path) -> str:
        """What :meth:`save` writes."""
        return str(getattr(self, form_of(path))())


FORMS = {".html": "html", ".htm": "html", ".json": "json", ".txt": "text"}


def form_of(path: str | Path) -> str:
    """The form that a file's name asks for; Error for a name that asks for none."""
    form = FORMS.get(Path(path).suffix.lower())
    if form is None:
        raise Error(f"a report is written to a file that ends in {', '.join(FORMS)}; found '{path}'")
    return form
