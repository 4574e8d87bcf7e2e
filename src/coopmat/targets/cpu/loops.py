"""Work that is done for one work-item after the other: a function with a loop over those that are here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.targets.cpu.emitter import Emitter
from coopmat.targets.cpu.values import Number


def for_each_lane(emitter: Emitter, name: str, operands: Sequence[Number], result: str | None,
                  body: Callable[..., str | None]) -> Number:
    """Do something for each work-item that is here, in order.

    name: of the function; all uses of a name must have operands of the same types and the same body. body: writes the
    code for one work-item, given its operands, and returns the operand of what it gives, of type ``result`` (None:
    nothing, and the number that comes back means nothing). The operands are vectors in the function: what is uniform
    does not make it another one.
    """
    writer = emitter.writer
    types = [operand.type for operand in operands]
    if name not in writer.helpers:
        lines, entry = writer.lines, writer.entry
        writer.lines, writer.entry = [], []
        try:
            text = _function(emitter, name, types, result, body)
        finally:
            writer.lines, writer.entry = lines, entry
        writer.helper(name, text)
    arguments = [(emitter.vector(operand.type), emitter.lanes(operand)) for operand in operands]
    mask = str(-1) if emitter.mask is None else emitter.mask_bits()
    found = writer.call(emitter.vector(result) if result else "void", name, [(f"i{emitter.size}", mask), *arguments])
    return emitter.varying(result or "", found)


def _function(emitter: Emitter, name: str, types: Sequence[str], result: str | None,
              body: Callable[..., str | None]) -> str:
    """The function's text; the writer's lines are its own."""
    writer, size = emitter.writer, emitter.size
    bits = f"i{size}"
    parameters = [f"{emitter.vector(llvm)} %all{place}" for place, llvm in enumerate(types, 1)]
    arrays = [writer.slot(emitter.vector(llvm), initial=f"%all{place}") for place, llvm in enumerate(types, 1)]
    results = writer.slot(emitter.vector(result), initial="zeroinitializer") if result else ""
    left = writer.slot(bits, initial="%mask")
    writer.label("each")
    mask = writer.let(f"load {bits}, ptr {left}")
    lane = writer.call(bits, f"llvm.cttz.{bits}", [(bits, mask), ("i1", "true")])
    index = lane if size == 64 else writer.let(f"zext {bits} {lane} to i64")
    texts = []
    for llvm, array in zip(types, arrays, strict=True):
        place = writer.let(f"getelementptr {llvm}, ptr {array}, i64 {index}")
        texts.append(writer.let(f"load {llvm}, ptr {place}"))
    found = body(*texts)
    if result:
        place = writer.let(f"getelementptr {result}, ptr {results}, i64 {index}")
        writer.do(f"store {result} {found}, ptr {place}")
    rest = writer.let(f"and {bits} {mask}, {writer.let(f'sub {bits} {mask}, 1')}")
    writer.do(f"store {bits} {rest}, ptr {left}")
    writer.do(f"br i1 {writer.let(f'icmp eq {bits} {rest}, 0')}, label %done, label %each")
    writer.label("done")
    if result:
        vector = emitter.vector(result)
        writer.do(f"ret {vector} {writer.let(f'load {vector}, ptr {results}')}")
    else:
        writer.do("ret void")
    kind = emitter.vector(result) if result else "void"
    head = f"define internal {kind} @{name}({', '.join([f'{bits} %mask', *parameters])}) noinline nounwind {{"
    return "\n".join([head, "entry:", *writer.entry, "  br label %each", *writer.lines, "}"])
