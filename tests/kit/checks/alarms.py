"""Programs that are right: no check of a simulated device may say anything about them, in errors or in warnings."""

from __future__ import annotations

import pytest

NO_ALARM = [pytest.mark.filterwarnings(f"error::coopmat.{name}") for name in ("LayoutWarning", "SignedOverflowWarning")]
"""Marks for a module of tests (``pytestmark``). All checks are on by default; the others raise errors anyway."""
