"""What a comparison of devices found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coopmat.comparison.differences import Difference, count_of, value_text
from coopmat.comparison.explanation import Explanation

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("array", "device", "differ", "at most", "at", "reference", "device's")


@dataclass(frozen=True)
class Comparison:
    """The results of one launch on several devices, each held against those of ``reference``.

    devices: their names, in the order given. differences: one for each array that a device wrote and each device but
    the reference. explanation: where two simulated devices part; None if no two differ, or nobody asked for it. note:
    what else there is to say.
    """

    kernel: str
    devices: tuple[str, ...]
    reference: str
    differences: tuple[Difference, ...]
    explanation: Explanation | None = None
    note: str = ""

    @property
    def equal(self) -> bool:
        """Whether all devices agree on every element; a NaN equals every NaN, and -0 equals +0."""
        return not any(one.differing for one in self.differences)

    def is_within(self, ulps: int) -> bool:
        """Whether no element is farther from the reference than so many units in the last place (integers: than that
        number)."""
        return all(one.is_within(ulps) for one in self.differences)

    @property
    def headline(self) -> str:
        """The outcome in a line."""
        others = [name for name in self.devices if name != self.reference]
        against = f"kernel {self.kernel} on {', '.join(others)} against {self.reference}"
        if not self.differences:
            return f"{against}: no device wrote to an array"
        if self.equal:
            return f"{against}: all results are equal"
        wrong = list(dict.fromkeys(one.device for one in self.differences if one.differing))
        return f"{against}: results differ on {', '.join(wrong)}"

    def report(self) -> str:
        """Everything, as text."""
        lines = [self.headline]
        for array in dict.fromkeys((one.array, one.argument) for one in self.differences):
            rows = [one for one in self.differences if (one.array, one.argument) == array]
            shape = " x ".join(map(str, rows[0].shape))
            lines.append(f"{array[0]} (argument {array[1]}, {rows[0].dtype}, {shape})")
            lines += [f"  {one.device}: {one}" for one in rows]
        return "\n".join([*lines, *self.remarks()])

    def __str__(self) -> str:
        return self.report()

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {"kernel": self.kernel, "devices": list(self.devices), "reference": self.reference, "equal": self.equal,
                "differences": [one.as_dict() for one in self.differences],
                "explanation": None if self.explanation is None else self.explanation.as_dict(), "note": self.note}

    def json_text(self) -> str:
        """:meth:`as_dict` as a text."""
        return json.dumps(self.as_dict(), indent=1) + "\n"

    def table(self) -> Table:
        """The figures, as rich prints them; cells are wrapped, not cut off."""
        from rich.text import Text

        from coopmat.support.terminal import table

        made = table(*COLUMNS)
        for column in made.columns:
            column.no_wrap, column.overflow = False, "fold"
        made.columns[COLUMNS.index("device")].min_width = max(len(one.device) for one in self.differences)
        for one in self.differences:
            made.add_row(*map(Text, _cells(one)))
        return made

    def remarks(self) -> list[str]:
        """What is said after the figures: the explanation, and the note."""
        found = self.explanation.lines() if self.explanation is not None else []
        return [*found, *([self.note] if self.note else [])]


def _cells(one: Difference) -> list[str]:
    largest = one.largest
    differ = f"{one.differing} of {one.elements}" + (f" ({one.share:.1%})" if one.differing else "")
    differ += f"; other bits: {one.other_bits}" if one.other_bits else ""
    where = ["", "", ""] if largest is None else [", ".join(map(str, largest.index)), *map(value_text, largest.values)]
    return [one.array, one.device, differ, one.distance if one.differing else "", *where]


def only_other_bits(differences: tuple[Difference, ...]) -> str:
    """What to say where results are equal, but not to the bit."""
    count = sum(one.other_bits for one in differences)
    return f"{count_of(count, 'element')} equal but for the sign of a zero or the bits of a NaN" if count else ""
