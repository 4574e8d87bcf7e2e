"""How fast SPIR-V modules are read, validated, disassembled and assembled: thousands of instructions a second.

One module has many kernels (the functions of benchmarks/large_kernel.cl, ten times), the other one long kernel of
random integer arithmetic in many blocks. The peers are spirv-val, spirv-dis and spirv-as of SPIRV-Tools, where they are
installed; these are commands, so their time holds the start of a process.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from compile_time import SOURCE, many_copies
from figures import Figure, seconds

import coopmat as cm
from coopmat.spirv import Module, ModuleBuilder, Op
from coopmat.spirv.grammar import FunctionControl, SelectionControl, StorageClass
from coopmat.support.terminal import console, table

PEERS = {"read and validate": "spirv-val", "read": "spirv-val", "read and disassemble": "spirv-dis",
         "disassemble": "spirv-dis", "assemble": "spirv-as"}
"""What is measured, and the command beside it."""
COPIES = 10
BLOCKS, LENGTH = 1500, 20
OPERATIONS = (Op.IAdd, Op.ISub, Op.IMul, Op.BitwiseXor, Op.BitwiseAnd, Op.ShiftRightLogical)


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        child("write", folder)
        for title in MODULES:
            found = [Figure(**figure) for figure in json.loads(child("measure", folder, title, repeat))]
            rates = {figure.name: figure for figure in found}
            size = Path(folder, f"{title}.spv").stat().st_size
            rows = table(f"{title} ({size / 2**20:.1f} MiB): 1000 instructions/s", "median", "least", "most", "× peer")
            for name, peer in PEERS.items():
                figure, theirs = rates[f"{title}: {name}"], rates.get(f"{title}: {peer}")
                share = f"{figure.median / theirs.median:.2f} ({peer})" if theirs is not None else "not installed"
                rows.add_row(name, *(f"{value / 1e3:.0f}" for value in (figure.median, figure.least, figure.most)),
                             share)
            console().print(rows)
            figures += found
    return figures


def child(function: str, *arguments: object) -> str:
    """What a function of this file prints in a process of its own: what others left in memory slows readers down."""
    code = f"import spirv_modules; spirv_modules.{function}(*{arguments!r})"
    return subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def write(folder: str) -> None:
    """Make the modules."""
    for title, make in MODULES.items():
        Path(folder, f"{title}.spv").write_bytes(make().to_bytes())


def measure(folder: str, title: str, repeat: int) -> None:
    """Print the figures of one module as JSON."""
    binary, assembly, out = Path(folder, f"{title}.spv"), Path(folder, "module.spvasm"), str(Path(folder, "out"))
    data = binary.read_bytes()
    count = len(Module.from_bytes(data).instructions)
    figures = [rate(f"{title}: {name}", count, action, repeat) for name, action in actions(data, assembly)]
    for words in (("spirv-val", str(binary)), ("spirv-dis", "--raw-id", str(binary), "-o", out),
                  ("spirv-as", str(assembly), "-o", out)):
        if shutil.which(words[0]):
            figures.append(rate(f"{title}: {words[0]}", count, command(words), repeat))
    print(json.dumps([asdict(figure) for figure in figures]))


def actions(data: bytes, assembly: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is measured; the text is left in a file."""
    yield "read and validate", lambda: Module.from_bytes(data).validate()
    yield "read", lambda: Module.from_bytes(data)
    yield "read and disassemble", lambda: Module.from_bytes(data).to_text()
    read = Module.from_bytes(data)  # not before: what lives makes Python's collector work
    yield "disassemble", read.to_text
    text = read.to_text()
    del read
    assembly.write_text(text)
    yield "assemble", lambda: Module.from_text(text)


def rate(name: str, count: int, action: Callable[[], object], repeat: int) -> Figure:
    """Instructions a second."""
    return Figure.of(name, "instructions/s", [count / time for time in seconds(action, repeat)])


def command(words: tuple[str, ...]) -> Callable[[], object]:
    """What runs a command."""
    return lambda: subprocess.run(words, check=True, capture_output=True)


def many_kernels() -> Module:
    """A module of about a mebibyte with some hundreds of kernels."""
    return Module.from_bytes(cm.build(many_copies(SOURCE.read_text(), COPIES), cache_dir="off").spirv)


def long_kernel() -> Module:
    """A module with one kernel of many blocks."""
    chosen = random.Random(0)
    builder = ModuleBuilder()
    void, uint, boolean = builder.type_void(), builder.type_int(32), builder.type_bool()
    pointer = builder.type_pointer(StorageClass.CrossWorkgroup, uint)
    function = builder.begin_function(void, builder.type_function(void, [pointer, uint]),
                                      control=FunctionControl.None_)
    place, number = builder.parameter(pointer), builder.parameter(uint)
    builder.begin_block()
    for _ in range(BLOCKS):
        value = builder.value(Op.Load, uint, place, 2, 4)
        for _ in range(LENGTH):
            value = builder.value(chosen.choice(OPERATIONS), uint, value, chosen.choice((value, number)))
        condition = builder.value(Op.ULessThan, boolean, value, number)
        then, merge = builder.new_id(), builder.new_id()
        builder.emit(Op.SelectionMerge, merge, SelectionControl.None_)
        builder.emit(Op.BranchConditional, condition, then, merge)
        builder.begin_block(then)
        builder.emit(Op.Store, place, value, 2, 4)
        builder.emit(Op.Branch, merge)
        builder.begin_block(merge)
    builder.emit(Op.Return)
    builder.end_function()
    builder.entry_point(function, "long")
    return Module.from_bytes(builder.finish().to_bytes())


MODULES: dict[str, Callable[[], Module]] = {"many kernels": many_kernels, "one long kernel": long_kernel}
