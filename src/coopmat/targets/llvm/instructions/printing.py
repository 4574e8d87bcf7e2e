"""printf: the code that writes what a work-item prints into the buffer of the launch (print_buffer.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from coopmat.spirv.analysis.known_strings import text_of, variable_of_string
from coopmat.spirv.analysis.types import FloatType, Type
from coopmat.spirv.module.instruction import Instruction
from coopmat.support.printf import least_text
from coopmat.targets.base.printing import Conversion, FormatFault, check_printable, conversions
from coopmat.targets.llvm.arithmetic.floats import from_bf16
from coopmat.targets.llvm.arithmetic.integers import is_bf16, resized
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.print_buffer import NO_STRING, WORD, Header, PrintCall
from coopmat.targets.llvm.values import Number, Value, llvm_type

LONGEST_FORMAT = 1 << 20  # bytes of a format that is not known before

STRING_BYTES = f"""
; The bytes of a string before its zero, at most %most; {NO_STRING} for a null pointer.
define internal i64 @string_bytes(ptr %text, i64 %most) nounwind {{
entry:
  %is.empty = icmp eq i64 %most, 0
  br i1 %is.empty, label %nothing, label %check
nothing:
  ret i64 0
check:
  %is.null = icmp eq ptr %text, null
  br i1 %is.null, label %null, label %next
null:
  ret i64 -1
next:
  %count = phi i64 [ 0, %check ], [ %more, %on ]
  %at = getelementptr i8, ptr %text, i64 %count
  %byte = load i8, ptr %at
  %is.end = icmp eq i8 %byte, 0
  br i1 %is.end, label %done, label %on
on:
  %more = add i64 %count, 1
  %is.full = icmp eq i64 %more, %most
  br i1 %is.full, label %done, label %next
done:
  %found = phi i64 [ %count, %next ], [ %more, %on ]
  ret i64 %found
}}
"""


def printf(emitter: Emitter, row: Instruction) -> Value:
    """A call: 0, and -1 in the work-items for whose text there is no room."""
    template, *operands = row.words[2:]
    kinds = tuple(emitter.type_of(operand) for operand in operands)
    check_printable(kinds)
    call = _call(known_string(emitter, template), kinds)
    emitter.prints.append(call)
    numbers = [Number("ptr", emitter.writer.let(f"inttoptr i64 {emitter.execution.output()} to ptr"))]
    strings: list[tuple[int, int | None]] = []  # which of the numbers are pointers to them
    if call.format is None:
        strings.append((len(numbers), LONGEST_FORMAT))
        numbers.append(emitter.number(template))
    for index, operand in enumerate(operands):
        if index in call.strings:
            strings.append((len(numbers), call.strings[index]))
            numbers.append(emitter.number(operand))
        else:
            numbers += (_word(emitter, one, kinds[index]) for one in emitter.numbers(operand))
    emitter.writer.helper("string_bytes", STRING_BYTES)
    result, number, least = llvm_type(emitter.result_type(row)), len(emitter.prints) - 1, least_text(call.format)

    def body(buffer: str, *texts: str) -> str:
        return _record(emitter, buffer, number, least, texts, dict(strings), result)

    return (emitter.execution.each(f"printf.{number}", numbers, result, body),)


def _call(format: bytes | None, kinds: tuple[Type, ...]) -> PrintCall:
    strings = {}
    with suppress(FormatFault):  # the host says what is wrong with it, if the call is made
        strings = {part.index: part.specifier.precision for part in conversions(format or b"", kinds)
                   if isinstance(part, Conversion) and part.specifier.letter == "s"}
    return PrintCall(format, kinds, strings)


def known_string(emitter: Emitter, pointer: int) -> bytes | None:
    """The bytes that a pointer to a constant points to, up to a zero."""
    variable = variable_of_string(emitter.module, pointer, emitter.flat.definition, emitter.constant_of)
    return None if variable is None else text_of(emitter.variables.content(variable).tobytes())


def _word(emitter: Emitter, number: Number, kind: Type) -> Number:
    """A number as 64 bits: integers with their sign, floating-point numbers as doubles."""
    if isinstance(kind.scalar, FloatType):
        if is_bf16(kind.scalar):
            number = from_bf16(emitter, number)
        if number.type != "double":
            number = emitter.apply("fpext {t} {0} to {r}", "double", number)
        return emitter.apply("bitcast {t} {0} to {r}", "i64", number)
    if number.type == "ptr":
        return emitter.apply("ptrtoint {t} {0} to {r}", "i64", number)
    return resized(emitter, number, "i64", signed=number.type != "i1")


def _record(emitter: Emitter, buffer: str, number: int, least: int, texts: Sequence[str],
            strings: Mapping[int, int | None], result: str) -> str:
    """Write the record of one work-item; ``texts`` are its words, and pointers to strings. What the call gives."""
    writer = emitter.writer
    lengths = {place: _length(emitter, buffer, texts[place - 1], most) for place, most in strings.items()}
    size = str(WORD * (1 + len(texts)))
    for length in lengths.values():
        size = writer.let(f"add i64 {size}, {_padded(emitter, length)}")
    write, later, full, done = (writer.fresh(name)[1:] for name in ("write", "later", "full", "printed"))
    outcome = writer.slot(result)
    before = _take(emitter, buffer, Header.CHARACTERS, str(least))
    limit = writer.let(f"load i64, ptr {_header(emitter, buffer, Header.LIMIT)}")
    end = writer.let(f"add i64 {before}, {least}")
    writer.do(f"br i1 {writer.let(f'icmp ugt i64 {end}, {limit}')}, label %{full}, label %{write}")
    writer.label(write)
    start = _take(emitter, buffer, Header.USED, size)
    capacity = writer.let(f"load i64, ptr {_header(emitter, buffer, Header.CAPACITY)}")
    after = writer.let(f"add i64 {start}, {size}")
    fits = writer.fresh("fits")[1:]
    writer.do(f"br i1 {writer.let(f'icmp ugt i64 {after}, {capacity}')}, label %{later}, label %{fits}")
    writer.label(fits)
    _write(emitter, writer.let(f"getelementptr i8, ptr {_header(emitter, buffer, Header.COUNT)}, i64 {start}"),
           number, texts, lengths)
    writer.do(f"store {result} 0, ptr {outcome}")
    writer.do(f"br label %{done}")
    writer.label(later)
    writer.do(f"atomicrmw umin ptr {_header(emitter, buffer, Header.END)}, i64 {start} monotonic")
    writer.do(f"br label %{full}")
    writer.label(full)
    _take(emitter, buffer, Header.DROPPED, "1")
    writer.do(f"store {result} -1, ptr {outcome}")
    writer.do(f"br label %{done}")
    writer.label(done)
    return writer.let(f"load {result}, ptr {outcome}")


def _header(emitter: Emitter, buffer: str, word: Header) -> str:
    return emitter.writer.let(f"getelementptr i64, ptr {buffer}, i64 {int(word)}")


def _take(emitter: Emitter, buffer: str, word: Header, amount: str) -> str:
    return emitter.writer.let(f"atomicrmw add ptr {_header(emitter, buffer, word)}, i64 {amount} monotonic")


def _length(emitter: Emitter, buffer: str, pointer: str, most: int | None) -> str:
    """The length of a string, of which no more is read than could be printed."""
    writer = emitter.writer
    if most == LONGEST_FORMAT:
        room = str(most)
    else:
        limit = writer.let(f"load i64, ptr {_header(emitter, buffer, Header.LIMIT)}")
        room = writer.let(f"add i64 {limit}, 1")
        if most is not None:
            room = writer.call("i64", "llvm.umin.i64", [("i64", room), ("i64", str(most))])
    return writer.call("i64", "string_bytes", [("ptr", pointer), ("i64", room)])


def _padded(emitter: Emitter, length: str) -> str:
    """The bytes that a string takes; that of a null pointer none."""
    more = emitter.writer.let(f"add i64 {length}, {WORD - 1}")
    whole = emitter.writer.let(f"and i64 {more}, {-WORD}")
    is_null = emitter.writer.let(f"icmp eq i64 {length}, -1")
    return emitter.writer.let(f"select i1 {is_null}, i64 0, i64 {whole}")


def _write(emitter: Emitter, place: str, number: int, texts: Sequence[str], lengths: Mapping[int, str]) -> None:
    """Write the words of a record, and strings where they come."""
    writer = emitter.writer
    writer.do(f"store i64 {number}, ptr {place}")
    for index, text in enumerate(texts, 1):
        place = writer.let(f"getelementptr i8, ptr {place}, i64 {WORD}")
        writer.do(f"store i64 {lengths.get(index, text)}, ptr {place}")
        if index in lengths:
            inside = writer.let(f"getelementptr i8, ptr {place}, i64 {WORD}")
            is_null = writer.let(f"icmp eq i64 {lengths[index]}, -1")
            count = writer.let(f"select i1 {is_null}, i64 0, i64 {lengths[index]}")
            writer.call("void", "llvm.memcpy.p0.p0.i64", [("ptr", inside), ("ptr", text), ("i64", count),
                                                          ("i1", "false")])
            place = writer.let(f"getelementptr i8, ptr {place}, i64 {_padded(emitter, lengths[index])}")


FUNCTIONS: dict[str, Handler] = {"printf": printf}
