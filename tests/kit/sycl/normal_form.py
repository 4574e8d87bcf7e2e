"""SPIR-V up to ids, names and debug instructions: what must be equal where two front ends say the same."""

from __future__ import annotations

import re

from coopmat.spirv import Module

_DEBUG = re.compile(r"\s*(%\w+ = )?Op(Source\w*|String|Name|MemberName|Line|NoLine|ModuleProcessed)\b")
_ID = re.compile(r"%\w+")


def normal_form(code: bytes) -> list[str]:
    """The instructions, without debug instructions, ids numbered in the order in which they appear."""
    numbers: dict[str, str] = {}

    def renamed(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"%{len(numbers) + 1}")

    lines = [line.strip() for line in Module.from_bytes(code).to_text().splitlines()
             if not line.startswith(";") and not _DEBUG.match(line)]
    return [_ID.sub(renamed, line) for line in lines]
