"""Write the pages of docs/ that follow from tables: ``python tools/make_docs.py``. A test keeps them current."""

from __future__ import annotations

import re
from pathlib import Path

from coopmat.diagnostics import Message
from coopmat.lowering import messages as lowering_messages
from coopmat.opencl.messages import rows

DOCS = Path(__file__).parent.parent / "docs"
PARTS = {
    "CM10": "Lexer",
    "CM11": "Preprocessor",
    "CM2": "Syntax",
    "CM3": "Declarations, types, expressions and statements",
    "CM4": "Cooperative matrices",
    "CM5": "Lowering",
}


def messages() -> list[Message]:
    """Every row of every message table, in the order of the codes."""
    lowering_rows = [value for value in vars(lowering_messages).values() if isinstance(value, Message)]
    return sorted({*rows(), *lowering_rows}, key=lambda row: row.code)


def diagnostics_page() -> str:
    """docs/diagnostics.md: one table for each part of the compiler."""
    lines = ["# Diagnostics", "", "Made from the message tables by tools/make_docs.py; words in ⟨ ⟩ are filled in.",
             ""]
    found = messages()
    for prefix, title in PARTS.items():
        lines += [f"## {title}", "", "| code | severity | message | warning name |", "|---|---|---|---|"]
        for row in found:
            if row.code.startswith(prefix):
                lines.append(f"| {row.code} | {row.severity} | {_template(row)} | {row.option or ''} |")
        lines.append("")
    return "\n".join(lines)


def _template(row: Message) -> str:
    text = re.sub(r"\{(\w+)[^}]*\}", r"⟨\1⟩", row.template)
    return text.replace("{{", "{").replace("}}", "}").replace("|", "\\|")


PAGES = {"diagnostics.md": diagnostics_page}


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
