"""Where members of structures lie, with every attribute and pragma that moves them: clang checks our figures."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from coopmat.opencl import compile_source
from coopmat.tree.nodes import Variable
from coopmat.tree.types import Record, layout_of

SEED = 5
COUNT = 200
PRELUDE = """\
typedef short short2 __attribute__((ext_vector_type(2))); typedef float float3 __attribute__((ext_vector_type(3)));
typedef long long8 __attribute__((ext_vector_type(8)));
typedef int loose __attribute__((aligned(1))); typedef char tight __attribute__((aligned(16)));
typedef enum { TINY = 3 } __attribute__((packed)) tiny; typedef enum { HUGE_ = 0x100000000 } huge;
"""
TYPES = ("char", "short", "int", "long", "float", "double", "short2", "float3", "long8", "loose", "tight", "tiny",
         "huge", "__global int *", "struct { char a; long b; }", "union { char a[5]; int b; }",
         "struct { char a; int b; } __attribute__((packed))")
ATTRIBUTES = ("packed", "aligned(2)", "aligned(8)", "aligned(64)", "packed, aligned(4)", "unused")


def structure(name: str, rng: random.Random) -> str:
    """A structure or union, perhaps under ``#pragma pack``, whose last member may have no size."""
    kind = rng.choice(("struct", "struct", "struct", "union"))
    members = []
    for index in range(rng.randint(1, 6)):
        type_ = rng.choice(TYPES)
        count = rng.choice(("", "", "[3]", "[0]")) if type_ != "tight" else ""
        before = f"__attribute__(({rng.choice(ATTRIBUTES)})) " if rng.random() < 0.2 else ""
        behind = f" __attribute__(({rng.choice(ATTRIBUTES)}))" if rng.random() < 0.3 else ""
        members.append(f"{before}{type_} m{index}{count}{behind};")
    if kind == "struct" and rng.random() < 0.2:
        members.append("short tail[];")
    attribute = f" __attribute__(({rng.choice(ATTRIBUTES[:-1])}))" if rng.random() < 0.3 else ""
    text = f"{kind} {name} {{ {' '.join(members)} }}{attribute};"
    if rng.random() < 0.3:
        text = f"#pragma pack(push, {rng.choice((1, 2, 4, 16))})\n{text}\n#pragma pack(pop)"
    return text


def assertions(name: str, record: Record) -> list[str]:
    """Our figures, as a program that clang refuses if they are not its own."""
    layout, tag = layout_of(record), str(record)
    figures = [(f"sizeof({tag})", layout.size), (f"_Alignof({tag})", layout.alignment)]
    figures += [(f"__builtin_offsetof({tag}, {member.name})", offset)
                for member, offset in zip(record.fields or (), layout.offsets, strict=True)]
    return [f'_Static_assert({what} == {value}, "");' for what, value in figures]


@pytest.mark.oracle("clang")
def test_layouts_are_clangs(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    names = [f"s{number}" for number in range(COUNT)]
    source = PRELUDE + "\n".join(structure(name, rng) for name in names) + "\n"
    variables = "".join(f"void f_{name}(__global {source.split(f' {name} {{')[0].split()[-1]} {name} *p) {{ }}\n"
                        for name in names)
    program, _ = compile_source(source + variables)
    records = {function.name[2:]: _pointee(function.parameters[0]) for function in program.functions}
    checks = [line for name in names for line in assertions(name, records[name])]
    compile_source(source + "\n".join(checks))  # the front end's own constants
    file = tmp_path / "layouts.cl"
    file.write_text(source + "\n".join(checks) + "\n", encoding="utf-8")
    result = subprocess.run([sys.executable, "-m", "ziglang", "clang", "-cc1", "-x", "cl", "-cl-std=CL3.0", "-triple",
                             "spirv64", "-fsyntax-only", "-ferror-limit", "5", str(file)], capture_output=True,
                            text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr[-3000:]


def _pointee(variable: Variable) -> Record:
    record = getattr(variable.type, "pointee", None)
    assert isinstance(record, Record)
    return record
