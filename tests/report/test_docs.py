"""docs/report.md shows what its program prints, and has every rule, class and published number."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from coopmat.devices.performance import PERFORMANCE, Performance
from coopmat.report.advice import RULES, Rule
from coopmat.report.classes import CLASSES, InstructionClass
from tests.kit.paths import ROOT

PAGE = ROOT / "docs" / "report.md"


def rule_row(rule: Rule) -> str:
    return f"| `{rule.name}` | {rule.condition} |"


def class_row(row: InstructionClass) -> str:
    return f"| `{row.name}` | {row.words} | {row.slots} |"


def product_row(name: str, row: Performance) -> str:
    matrix, scalar = (", ".join(f"{kind} {peak:g}" for kind, peak in peaks.items())
                      for peaks in (row.matrix, row.scalar))
    return (f"| `{name}` | {row.product} | {row.units} {row.unit_name}s, {row.clock:g} | {matrix} | {scalar} | "
            f"{row.bandwidth:g} | {row.banks or 'none'} | {row.source} |")


def room_row(name: str, row: Performance) -> str:
    room = row.room
    assert room is not None
    return (f"| `{name}` | {room.sub_groups} | {room.work_groups or 'not published'} | {room.registers >> 10} | "
            f"{room.local_memory >> 10} | {room.source} |")


def test_the_program_prints_what_the_page_shows(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", PAGE.read_text(), re.S)
    assert found is not None
    program, shown = found.groups()
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                            check=True)
    assert result.stdout == shown
    assert (tmp_path / "gemm.html").read_text().startswith("<!DOCTYPE html>")


def test_the_tables_are_complete() -> None:
    rows = [*map(rule_row, RULES), *map(class_row, CLASSES.values()),
            *(product_row(name, row) for name, row in PERFORMANCE.items()),
            *(room_row(name, row) for name, row in PERFORMANCE.items() if row.room is not None)]
    lines = PAGE.read_text().splitlines()
    for row in rows:
        assert row in lines
