"""Work that is done for one work-item after the other, in a function of its own, or for those together that agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.targets.cpu.lanes.masks import Masks
from coopmat.targets.llvm.values import Number


def for_each_lane(lanes: Masks, name: str, operands: Sequence[Number], result: str | None,
                  body: Callable[..., str | None]) -> Number:
    """Do something for each work-item that is here, in order.

    name: of the function; all uses of a name must have operands of the same types and the same body. body: writes the
    code for one work-item, given its operands, and returns the operand of what it gives, of type ``result`` (None:
    nothing, and the number that comes back means nothing). The operands are vectors in the function: what is uniform
    does not make it another one.
    """
    emitter, writer = lanes.emitter, lanes.writer
    types = [operand.type for operand in operands]
    if name not in writer.helpers:
        with writer.apart():
            text = _function(lanes, name, types, result, body)
        writer.helper(name, text)
    arguments = [(emitter.vector(operand.type), emitter.lanes(operand)) for operand in operands]
    mask = str(-1) if lanes.mask is None else lanes.mask_bits()
    found = writer.call(emitter.vector(result) if result else "void", name, [(f"i{emitter.size}", mask), *arguments])
    return emitter.varying(result or "", found)


def _function(lanes: Masks, name: str, types: Sequence[str], result: str | None,
              body: Callable[..., str | None]) -> str:
    """The function's text; the writer's lines are its own."""
    emitter, writer, size = lanes.emitter, lanes.writer, lanes.size
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


def for_each_value(lanes: Masks, number: Number, body: Callable[[Number], None]) -> None:
    """Do something once for each value that a number has among the work-items that are here. ``body`` gets the value
    that some of them share, and writes code for these only: they are the mask meanwhile."""
    emitter, writer, mask = lanes.emitter, lanes.writer, lanes.mask
    number = emitter.varying(number.type, emitter.lanes(number))
    left = writer.slot(lanes.mask_type)
    writer.do(f"store {lanes.mask_type} {lanes.mask_text}, ptr {left}")
    turn, end = writer.fresh("value")[1:], writer.fresh("values.end")[1:]
    writer.do(f"br label %{turn}")
    writer.label(turn)
    waiting = lanes.mask = writer.let(f"load {lanes.mask_type}, ptr {left}")
    value = Number(number.type, lanes.lane_of(number, lanes.first_lane()))
    same = emitter.lanes(emitter.apply("icmp eq {t} {0}, {1}", "i1", number, value))
    lanes.mask = writer.let(f"and {lanes.mask_type} {waiting}, {same}")
    body(value)
    rest = writer.let(f"xor {lanes.mask_type} {waiting}, {lanes.mask}")
    writer.do(f"store {lanes.mask_type} {rest}, ptr {left}")
    writer.do(f"br i1 {lanes.any_of(rest)}, label %{turn}, label %{end}")
    writer.label(end)
    lanes.mask = mask
