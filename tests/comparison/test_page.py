"""What docs/comparison.md shows is what its program prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.kit.paths import ROOT

PAGE = (ROOT / "docs" / "comparison.md").read_text()


def test_the_program_prints_what_the_page_shows(tmp_path: Path) -> None:
    program, shown = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", PAGE, re.S).groups()
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                            check=True)
    assert result.stdout == shown
