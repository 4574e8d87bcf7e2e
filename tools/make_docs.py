"""Write the pages of docs/ that follow from tables: ``python tools/make_docs.py``. A test keeps them current."""

from __future__ import annotations

import re
from pathlib import Path

from coopmat.diagnostics import Message
from coopmat.lowering import messages as lowering_messages
from coopmat.opencl.builtins import block_io, dot_products, matrix_mad, sub_groups, synchronization
from coopmat.opencl.builtins.patterns import Overload, Row, expand
from coopmat.opencl.messages import rows as message_rows

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
    return sorted({*message_rows(), *lowering_rows}, key=lambda row: row.code)


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


BUILTINS: dict[str, tuple[Row, ...]] = {
    "Matrix multiply-accumulate of sub-groups": matrix_mad.MATRIX_MADS,
    "Conversions to tf32 and bfloat16": matrix_mad.CONVERSIONS,
    "Dot products of integers": dot_products.ROWS,
    "Work-groups and sub-groups": sub_groups.ROWS,
    "Block reads and writes": block_io.ROWS,
    "Split barriers": tuple(row for row in synchronization.ROWS if row.needs),
}
"""The sections of docs/opencl-builtins.md: the rows of the table of built-in functions that need an extension."""


def builtins_page() -> str:
    """docs/opencl-builtins.md: the functions that come with extensions."""
    lines = ["# Built-in functions of extensions", "",
             "Made from the table of built-in functions by tools/make_docs.py. In a signature, *gentype* is one of the "
             "types behind it, *sgentype* its element type.", ""]
    for title, rows in BUILTINS.items():
        lines += [f"## {title}", ""]
        size = None
        if rows is matrix_mad.MATRIX_MADS:
            lines += ["| function | sub-group size | extension |", "|---|---|---|"]
            size = matrix_mad.SUB_GROUP_SIZES.__getitem__
        else:
            lines += ["| function | extension |", "|---|---|"]
        for row in rows:
            for name, counts in row.functions():
                for signature in _signatures(row, name, counts):
                    middle = f"| {size(row)} " if size is not None else ""
                    lines.append(f"| `{signature}` {middle}| {row.needs[0]} |")
        lines.append("")
    return "\n".join(lines)


def _signatures(row: Row, name: str, counts: tuple[int, ...]) -> list[str]:
    """One line for a family of many types, else one for each overload."""
    overloads: tuple[Overload, ...] = expand(row, name, counts)
    if len(overloads) <= 1:
        return [str(overload) for overload in overloads]
    return [row.describe(name, counts)]


PAGES = {"diagnostics.md": diagnostics_page, "opencl-builtins.md": builtins_page}


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
