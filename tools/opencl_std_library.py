"""The library of the pass ``opencl-std``: ``python tools/opencl_std_library.py [--check]``.

Its functions are OpenCL C (``src/coopmat/spirv/transform/opencl_std/library``), compiled by this project's front end
with the coefficients of the CPU's functions. Each function is a module of its own in ``library.zip``, so that only
those that are called are read. Needs mpmath.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from mpmath import mp

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.grammar import Decoration, LinkageType, Op
from coopmat.spirv.module.instruction import make
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.values import values
from coopmat.targets.cpu.mathematics import coefficients

ROOM = Path(__file__).parents[1] / "src/coopmat/spirv/transform/opencl_std"
SOURCES, OUTPUT = ROOM / "library", ROOM / "library.zip"
FILES = {"integers.cl": ("",), "halves.cl": ("",), "real.cl": ("SINGLE", "DOUBLE")}
WIDTHS = {"SINGLE": 32, "DOUBLE": 64}
WORDS = {"SINGLE": 9, "DOUBLE": 21}  # of 1/pi, behind a word of zeros
SUFFIXES = ("i8", "i16", "i32", "i64", "f16", "f32", "f64")
DATE = (1980, 1, 1, 0, 0, 0)

# --------------------------------------------------------------------------------- headers


def _horner(numbers: Sequence[float], suffix: str) -> str:
    text = f"{numbers[-1]!r}{suffix}"
    for number in reversed(numbers[:-1]):
        text = f"fma({text}, x_, {number!r}{suffix})"
    return f"({text})"


def header(precision: str) -> str:
    """Macros for the constants ``NAME_0`` and the polynomials ``POLYNOMIAL_NAME(x)``; ``TAIL_NAME``: without the
    constant."""
    suffix = "f" if precision == "SINGLE" else ""
    lines = []
    for name, numbers in getattr(coefficients, precision).items():
        lines += [f"#define {name}_{place} {number!r}{suffix}" for place, number in enumerate(numbers[:3])]
        if len(numbers) > 1:
            lines.append(f"#define POLYNOMIAL_{name}(x_) {_horner(numbers, suffix)}")
            lines.append(f"#define TAIL_{name}(x_) {_horner(numbers[1:], suffix)}")
    width = WIDTHS[precision]
    with mp.workdps(600):
        bits = int(mp.floor(mp.ldexp(1 / mp.pi, width * WORDS[precision])))
    words = [bits >> width * place & (1 << width) - 1 for place in reversed(range(WORDS[precision]))]
    end = "u" if precision == "SINGLE" else "ul"
    lines.append(f"#define INVERSE_PI_{width} 0{end}, " + ", ".join(f"{word:#x}{end}" for word in words))
    return "\n".join([*lines, ""])


# --------------------------------------------------------------------------------- modules


def _unheard(text: str) -> None:
    """What passes tell is not asked for here."""


def _plain(module: Module) -> Module:
    """Without lines, sources and names of values."""
    functions = {function.id for function in module.functions}
    gone = {Op.Line, Op.NoLine, Op.Source, Op.SourceExtension, Op.String, Op.MemberName, Op.ModuleProcessed}
    return module.with_instructions([item for item in module.instructions if item.opcode not in gone and not (
        item.opcode == Op.Name and item.words[0] not in functions)])


def compiled(name: str, precision: str) -> Module:
    """All functions of a file, by the front end."""
    source = (header(precision) if precision else "") + (SOURCES / name).read_text()
    options = [f"-DWIDTH={WIDTHS[precision]}"] if precision else []
    if precision == "SINGLE":
        options.append("-cl-single-precision-constant")
    return Module.from_bytes(cm.build(source, tuple(options)).spirv)


def single_functions(module: Module) -> dict[str, Module]:
    """Each function that others may call, with what it calls written into it, as a module that exports it."""
    names = {function.id: module.names.get(function.id, "") for function in module.functions}
    found = {}
    for identifier, name in names.items():
        if name.rpartition("_")[2] in SUFFIXES:
            found[name] = _one(module, identifier, name)
    return found



def _one(module: Module, identifier: int, name: str) -> Module:
    editor = FunctionEditor(module)
    bodies = {body.id: body for body in editor.bodies}
    kept, waiting = set(), [identifier]
    while waiting:
        one = waiting.pop()
        if one not in kept:
            kept.add(one)
            waiting += [row.words[0] for row in bodies[one].rows() if row.opcode == Op.FunctionCall]
    editor.bodies = [body for body in editor.bodies if body.id in kept]
    editor.annotate([make(Op.Decorate, identifier, Decoration.LinkageAttributes, name, LinkageType.Export)])
    found = editor.done()
    for one in (inline, values, fold):
        found = one(found, Goal(), _unheard)
    return _plain(found)


def library() -> bytes:
    """The file's content."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, precisions in FILES.items():
            for precision in precisions:
                for function, module in sorted(single_functions(compiled(name, precision)).items()):
                    archive.writestr(zipfile.ZipInfo(function, DATE), module.to_bytes(), zipfile.ZIP_DEFLATED)
    return content.getvalue()


def main() -> None:
    """Write the library, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the file is what would be written")
    options = parser.parse_args()
    found = library()
    if options.check:
        raise SystemExit(None if OUTPUT.read_bytes() == found else f"{OUTPUT.name} is not what its sources make")
    OUTPUT.write_bytes(found)


if __name__ == "__main__":
    main()
