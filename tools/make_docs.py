"""Write the pages and pictures of docs/ that follow from tables: ``python tools/make_docs.py``.

A test keeps them current.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from coopmat import layout
from coopmat.devices import ARCHITECTURES, CPU
from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS, SubGroupMatrixRow
from coopmat.devices.subgroup_matrices import SubgroupMatrixMad
from coopmat.diagnostics import TOO_MANY_ERRORS, Message
from coopmat.diagnostics.warning_levels import members
from coopmat.formats import format_of
from coopmat.lowering import messages as lowering_messages
from coopmat.opencl.builtins import atomics, block_io, dot_products, matrix_mad, sub_groups, synchronization
from coopmat.opencl.builtins.patterns import Overload, Row, expand
from coopmat.opencl.messages import GROUPS
from coopmat.opencl.messages import rows as message_rows
from coopmat.runtime.options import GROUPS as GROUPS_OF_OPTIONS
from coopmat.spirv.transform.passes import PASSES
from coopmat.sycl import constraints
from coopmat.sycl.compiler import messages as python_messages

sys.path.insert(0, str(Path(__file__).parent.parent))

from tools.functions_page import functions_page
from tools.numerics_page import numerics_page
from tools.validation_page import validation_page

DOCS = Path(__file__).parent.parent / "docs"
IMAGES = DOCS / "images"
PARTS = {
    "CM00": "All stages",
    "CM10": "Lexer",
    "CM11": "Preprocessor",
    "CM2": "Syntax",
    "CM39": "What is allowed and rarely meant; versions of the language",
    "CM3": "Declarations, types, expressions and statements",
    "CM4": "Cooperative matrices",
    "CM5": "Lowering",
    "CM60": "Kernels in Python",
    "CM61": "What joint_matrix demands",
}


def messages() -> list[Message]:
    """Every row of every message table, in the order of the codes."""
    tables = (lowering_messages, python_messages, constraints)
    others = [value for table in tables for value in vars(table).values() if isinstance(value, Message)]
    return sorted({TOO_MANY_ERRORS, *message_rows(), *others}, key=lambda row: row.code)


def diagnostics_page() -> str:
    """docs/diagnostics.md: one table for each part of the compiler."""
    lines = ["# Diagnostics", "", "Made from the message tables by tools/make_docs.py; words in ⟨ ⟩ are filled in. "
             "A warning without an option in the last column is always on.", ""]
    found = messages()
    for prefix, title in PARTS.items():
        lines += [f"## {title}", "", "| code | severity | message | warning name | turned on by |",
                  "|---|---|---|---|---|"]
        for row in found:
            if prefix == max(filter(row.code.startswith, PARTS), key=len, default=""):
                cells = (row.code, row.severity, _template(row), row.option or "", _switch(row))
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join([*lines, *_groups()])


def _switch(row: Message) -> str:
    """The option that turns a warning on, if it is off."""
    if row.is_on or row.option is None:
        return ""
    group = next((name for name in ("all", "extra", "conversion") if row.option in members(name, GROUPS)), row.option)
    return f"`-W{group}`"


def _groups() -> list[str]:
    """The names that stand for several warnings."""
    lines = ["## Groups of warnings", "", "| name | stands for |", "|---|---|"]
    lines += [f"| {name} | {', '.join(inner)} |" for name, inner in GROUPS.items() if inner]
    return [*lines, ""]


def _template(row: Message) -> str:
    """The message with its gaps named, as Markdown that shows it as it is: no table cells, no links."""
    text = re.sub(r"\{(\w+)[^}]*\}", r"⟨\1⟩", row.template)
    return text.replace("{{", "{").replace("}}", "}").replace("|", "\\|").replace("](", "]\\(")


BUILTINS: dict[str, tuple[Row, ...]] = {
    "Matrix multiply-accumulate of sub-groups": matrix_mad.MATRIX_MADS,
    "Conversions to tf32 and bfloat16": matrix_mad.CONVERSIONS,
    "Dot products of integers": dot_products.ROWS,
    "Work-groups and sub-groups": sub_groups.ROWS,
    "Block reads and writes": tuple(row for row in block_io.ROWS if row.needs != block_io.BLOCK_2D),
    "Two-dimensional block reads and writes": tuple(row for row in block_io.ROWS if row.needs == block_io.BLOCK_2D),
    "Atomic functions": (*atomics.LONG_ATOMICS, *atomics.FLOAT_ATOMICS),
    "Split barriers": tuple(row for row in synchronization.ROWS if row.needs),
}
"""The sections of docs/opencl-builtins.md: the rows of the table of built-in functions that need an extension."""


def builtins_page() -> str:
    """docs/opencl-builtins.md: the functions that come with extensions."""
    lines = ["# Built-in functions of extensions", "",
             "Made from the table of built-in functions by tools/make_docs.py. In a signature, *gentype* is one of the "
             "types behind it, *sgentype* its element type. [element-layouts.md](element-layouts.md) shows which "
             "work-item holds which element.", ""]
    sections: list[str] = []
    for title, rows in BUILTINS.items():
        sections += [f"## {title}", "", *SECTIONS.get(title, _signature_table)(rows), ""]
    return "\n".join([*lines, *contents(sections), "", *sections])


def contents(lines: Iterable[str]) -> Iterator[str]:
    """A list of links to the headings among the lines."""
    for line in lines:
        if match := re.match("(##+) (.*)", line):
            yield f"{'  ' * (len(match[1]) - 2)}- [{match[2]}](#{anchor(match[2])})"


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading: small letters, no punctuation, hyphens for blanks."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _signature_table(rows: Iterable[Row]) -> Iterator[str]:
    """A line for each function."""
    yield from ("| function | extension |", "|---|---|")
    for row in rows:
        for name, counts in row.functions():
            for signature in _signatures(row, name, counts):
                yield f"| `{signature}` | {row.needs[0]} |"


def _signatures(row: Row, name: str, counts: tuple[int, ...]) -> list[str]:
    """One line for a family of many types, else one for each overload."""
    overloads: tuple[Overload, ...] = expand(row, name, counts)
    if len(overloads) <= 1:
        return [str(overload) for overload in overloads]
    return [row.describe(name, counts)]


ELEMENTS = {"sint8": "8-bit integers", "uint8": "8-bit integers", "sint4": "4-bit integers", "uint4": "4-bit integers"}


def _matrix_tables(rows: Iterable[Row]) -> Iterator[str]:
    """A table for each sub-group size and kind of elements, a line for each overload."""
    yield ("`D = A*B + C` with A of M x K, B of K x N and C of M x N elements. N is the sub-group size, which the "
           "kernel must require with `intel_reqd_sub_group_size`; integers of A and B are signed in `i8`, `i4` and "
           "unsigned in `u8`, `u4`.")

    def family(row: Row) -> tuple[int, str]:
        mad = matrix_mad.COMBINATIONS[row]
        return mad.sub_group_size, ELEMENTS.get(mad.a, mad.a)

    for (size, elements), group in groupby(rows, key=family):
        members = list(group)
        mad = matrix_mad.COMBINATIONS[members[0]]
        yield from ("", f"### {elements}, sub-group size {size}", "",
                    f"`{mad.extension}`, on {', '.join(f'`{name}`' for name in _devices_with(mad))}.", "",
                    "| function | M | N | K | `a` | `b` | `acc` and result |", "|---|---|---|---|---|---|---|")
        for row in members:
            for name, counts in row.functions():
                yield from (_matrix_line(overload, matrix_mad.COMBINATIONS[row])
                            for overload in expand(row, name, counts))


def _matrix_line(overload: Overload, mad: SubgroupMatrixMad) -> str:
    a, b, _ = overload.parameters
    return (f"| `{overload.name}` | {overload.count} | {mad.sub_group_size} | {mad.k} | `{a}` | `{b}` | "
            f"`{overload.result}` |")


def _devices_with(mad: SubgroupMatrixMad) -> list[str]:
    """The architectures that have a combination."""
    return [name for name, device in ARCHITECTURES.items()
            if mad.extension in device.extensions and mad.sub_group_size in device.xmx_sub_group_sizes]


BLOCKS_2D = {
    "read": ("Reads", "private {type} *destination"),
    "read_transform": ("Reads that pack the rows of a column into 32 bits", "private {type} *destination"),
    "read_transpose": ("Reads that transpose", "private {type} *destination"),
    "write": ("Writes", "private const {type} *value"),
    "prefetch": ("Prefetches", ""),
}
"""By kind of 2D block function: a heading, and what its last parameter is."""


def _block_2d_tables(rows: Iterable[Row]) -> Iterator[str]:
    """A table for each kind of function, a line for each function."""
    yield ("All need `cl_intel_subgroup_2d_block_io` and take `(global void *base, int width, int height, int pitch, "
           "int2 coordinate, …)`: width and pitch in bytes, height in rows, the coordinate (x, y) in elements.")
    pattern = re.compile(r"intel_sub_group_2d_block_(\w+?)_(\d+)b_(\d+)r(\d+)x(\d+)c")

    def parts(row: Row) -> tuple[str, ...]:
        match = pattern.fullmatch(row.names)
        assert match is not None, row.names
        return match.groups()

    for kind, group in groupby(rows, key=lambda row: parts(row)[0]):
        title, last = BLOCKS_2D[kind]
        yield from ("", f"### {title}", "", "| function | bits | rows | columns | blocks | last parameter |",
                    "|---|---|---|---|---|---|")
        for row in group:
            pointer = re.search(r"(\w+)\*\)$", row.signature)
            parameter = f"`{last.format(type=pointer[1] if pointer else '')}`" if last else "none"
            yield f"| `{row.names}` | {' | '.join(parts(row)[1:])} | {parameter} |"


SECTIONS: dict[str, Callable[[Iterable[Row]], Iterator[str]]] = {
    "Matrix multiply-accumulate of sub-groups": _matrix_tables,
    "Two-dimensional block reads and writes": _block_2d_tables,
}
"""Sections that are more than a list of signatures."""


def _matrix(fmt: str, size: int) -> SubGroupMatrixRow:
    """The first combination of these elements for a sub-group size."""
    return next(row for row in SUB_GROUP_MATRIX_ROWS if row.a == fmt and row.sub_group_size == size)


def _block_2d(kind: str, bits: int, height: int, width: int, count: int, component_bits: int) -> layout.Picture:
    """The layout of one 2D block function."""
    name = f"intel_sub_group_2d_block_{kind}_{bits}b_{height}r{width}x{count}c"
    return layout.block_2d(name, width, height, count, bits, component_bits,
                           transpose=kind == "read_transpose", transform=kind == "read_transform")


DEVICE_PICTURES = {
    "amx-b": ("intel_cpu_spr", "b", "bf16", 8, 8, 8),
    "xmx-a": ("intel_gpu_pvc", "a", "sint8", 4, 16, 32),
    "xmx-wide": ("intel_gpu_pvc", "accumulator", "fp32", 32, 64, 16),
    "mma-a": ("nvidia_gpu_sm_80", "a", "fp16", 16, 8, 16),
    "mma-b": ("nvidia_gpu_sm_80", "b", "fp16", 16, 8, 16),
    "mma-accumulator": ("nvidia_gpu_sm_80", "accumulator", "fp32", 16, 8, 16),
    "quad-pair-a": ("nvidia_gpu_sm_70", "a", "fp16", 8, 8, 4),
    "wmma-a": ("nvidia_gpu_sm_80", "a", "fp16", 16, 16, 16),
    "wmma-a-volta": ("nvidia_gpu_sm_70", "a", "fp16", 16, 16, 16),
    "wmma-transposed": ("nvidia_gpu_sm_80", "accumulator", "fp32", 8, 32, 16),
    "wgmma-accumulator": ("nvidia_gpu_sm_90", "accumulator", "fp32", 64, 16, 16),
    "mfma-a": ("amd_gpu_gfx90a", "a", "fp16", 32, 32, 8),
    "mfma-accumulator": ("amd_gpu_gfx90a", "accumulator", "fp32", 16, 16, 16),
    "generic": ("generic", "a", "fp32", 8, 8, 8),
}
"""The pictures of devices' matrices: device, use, type, M, N, K."""

FEW_ROWS = {"xmx-wide": (0, 1, 31), "wgmma-accumulator": (*range(10), 15, 16, 17, 62, 63),
            "wmma-a": (*range(10), 15), "wmma-a-volta": (*range(10), 15), "mfma-a": (*range(6), 30, 31)}
"""The rows that are drawn, where not all are."""


def _device_pictures() -> Iterator[tuple[str, str]]:
    for name, (device, use, fmt, m, n, k) in DEVICE_PICTURES.items():
        yield name, layout.of(device, use=use, type=fmt, m=m, n=n, k=k).to_svg(FEW_ROWS.get(name))


def pictures() -> dict[str, str]:
    """docs/images: the pictures of docs/element-layouts.md, by the names of their files."""
    found: dict[str, str] = dict(_device_pictures())
    for size in (16, 8):
        for fmt, m, shown in (("bf16", 4, (*range(6), 14, 15)), ("sint8", 4, (*range(8), *range(28, 32))),
                              ("sint4", 2, (*range(8), *range(56, 64)))):
            row, bits = _matrix(fmt, size), format_of(fmt).bits
            found[f"a-{bits}-bit-{size}"] = layout.matrix_a(row, m).to_svg()
            found[f"b-{bits}-bit-{size}"] = layout.matrix_b(row).to_svg(shown)
        found[f"accumulator-{size}"] = layout.accumulator(_matrix("sint8", size), 4).to_svg()
    tf32 = _matrix("tf32", 16)
    found |= {
        "a-tf32": layout.matrix_a(tf32, 8).to_svg(),
        "a-tf32-one-row": layout.matrix_a(tf32, 1).to_svg(),
        "b-tf32": layout.matrix_b(tf32).to_svg(),
        "block-read": layout.block_io("intel_sub_group_block_read4", 8, 8, 16, 32).to_svg(),
        "block-2d-read": _block_2d("read", 8, 4, 32, 1, 16).to_svg(),
        "block-2d-read-two": _block_2d("read", 16, 4, 16, 2, 16).to_svg(),
        "block-2d-read-narrow": _block_2d("read", 32, 8, 8, 1, 32).to_svg(),
        "block-2d-transform": _block_2d("read_transform", 16, 16, 16, 1, 32).to_svg((*range(6), 14, 15)),
        "block-2d-transpose": _block_2d("read_transpose", 32, 16, 8, 1, 32).to_svg(),
    }
    return found


def options_page() -> str:
    """docs/build-options.md: the options of the commands that build, and of ``cm.build``."""
    lines = ["# Build options", "",
             "Made from the table of options by tools/make_docs.py. `check`, `compile`, `run` and `cm.build` take "
             "them. A value may follow at once, or as the next word where a blank is shown.", "",
             "Kernels in Python take `-DNDEBUG` and `-UNDEBUG`, which turn [`assert`](joint-matrix.md#assertions) off "
             "and on, `-w`, `-W…`, `-ferror-limit=`, `-fsanitize=`, `-coopmat-schedule=` and those of mathematics, "
             "from `@kernel(options=…)` and from `cm.build`, whose options come after the kernel's own: of two that "
             "contradict each other the last one counts. Options about optimisation and `-g` change nothing; others "
             "are refused.", "",
             "Of SPIR-V and LLVM IR, as bytes or files, only `-coopmat-schedule=` changes something, also where the "
             "module says another one: all else was decided when it was made.", ""]
    for title, options in GROUPS_OF_OPTIONS.items():
        lines += [f"## {title}", "", "| option | effect |", "|---|---|"]
        lines += [f"| `{_escape(str(option))}` | {_escape(option.help)} |" for option in options if option.help]
        lines.append("")
    return "\n".join(lines)


def simulator_page() -> str:
    """docs/simulator.md, which is written by hand, with its table of the devices' limits."""
    text = (DOCS / "simulator.md").read_text(encoding="utf-8")
    start = text.index(LIMITS_HEAD) + len(LIMITS_HEAD)
    return text[:start] + "".join(_limits()) + text[text.index("\n\n", start - 1) + 1:]


LIMITS_HEAD = "| device | local memory, KiB | work-items | source |\n|---|---|---|---|\n"


def _limits() -> Iterator[str]:
    """A line for the devices that have the same limits."""
    devices = [*ARCHITECTURES.values(), CPU]
    source = ""
    for limits in dict.fromkeys(device.limits for device in devices):
        names = ", ".join(f"`{device.name}`" for device in devices if device.limits == limits)
        shown = "the same" if limits.source == source else limits.source
        yield f"| {names} | {limits.local_memory >> 10} | {limits.work_group} | {shown} |\n"
        source = limits.source


def transformations_page() -> str:
    """docs/transformations.md, which is written by hand, with its table of the passes."""
    text = (DOCS / "transformations.md").read_text(encoding="utf-8")
    start = text.index(PASSES_HEAD) + len(PASSES_HEAD)
    rows = "".join(f"| `{one.name}` | {one.summary} | {'yes' if one.is_usual else 'no'} |\n" for one in PASSES)
    return text[:start] + rows + text[text.index("\n\n", start) + 1:]


PASSES_HEAD = "| pass | what it does | usual |\n|---|---|---|\n"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


PAGES = {"diagnostics.md": diagnostics_page, "opencl-builtins.md": builtins_page, "build-options.md": options_page,
         "validation.md": validation_page, "sycl-functions.md": functions_page, "numerics.md": numerics_page,
         "simulator.md": simulator_page, "transformations.md": transformations_page}


def main() -> None:
    """Write all pages and pictures; pictures that are no longer made go away."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
    IMAGES.mkdir(exist_ok=True)
    made = pictures()
    for old in IMAGES.glob("*.svg"):
        if old.stem not in made:
            old.unlink()
    for name, svg in made.items():
        (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
