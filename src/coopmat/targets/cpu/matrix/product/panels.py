"""Strips of B that are kept for all work-groups, as long as the launch lasts.

The threads of a launch share a table of panels, as long as there is room; each panel is made once, a part by each
thread that needs it meanwhile. A launch of one thread uses that thread's own table. Each product has a part of it. Once
a panel was found there, those that are there have been used again, as work-groups that follow each other do: new ones
take their places from the first on, so that as little memory is used as caches hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coopmat.targets.cpu.host.frame import ALIGNMENT, ENTRY_BYTES, PANEL_BYTES, PANELS, Shared
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.product.unit import LINE

FIND, WAIT = "panel.find", "panel.wait"
_KEY = 7  # words of an entry that tell panels of a product apart
_NEXT, _PRODUCT = 7, 7  # then the next entry's number, in the first one; of those that are shared: whose panel it is
_BEGUN, _DONE, _OFFSET = 8, 9, 10  # of those that are shared: how many parts are begun, and done; where the panel lies
_PATIENCE = 1000  # looks, before who waits for a panel lets others run


@dataclass(frozen=True)
class Share:
    """A product's part of what a thread keeps: the first of its entries, and how many there are; where its memory
    begins, and the bytes of a panel."""

    first: int
    count: int
    start: int
    panel_bytes: int


def shared_out(panels: Mapping[str, int]) -> dict[str, Share]:
    """The parts of products, by their names, whose panels have so many bytes; those that there is no room for have
    none."""
    found = {}
    for number, (name, nbytes) in enumerate(panels.items()):
        entries, room = PANELS // len(panels), PANEL_BYTES // len(panels) // LINE * LINE
        count = min(entries, room // nbytes)
        if count:
            found[name] = Share(number * entries, count, number * room, nbytes)
    return found


def kept(body: Body, part: Share, keeper: str, key: Sequence[str], parts: int, fill: Callable[[str, str], None],
         otherwise: Callable[[], str]) -> str:
    """The address of a panel, of which ``fill`` puts a part at an address, given its number, if it is not there.
    ``keeper``: what is kept lies there; null if nothing may be, and ``otherwise`` reserves memory. key: the i64 that
    tell the panel apart."""
    writer = body.writer
    writer.helper(FIND, _find())
    writer.helper(WAIT, _WAIT)
    own, counts = otherwise(), writer.slot("[2 x i64]", align=16)
    words = [*key, *["0"] * (_KEY - len(key))]
    found = writer.call("{ ptr, ptr }", FIND, [
        ("ptr", keeper), ("i64", str(part.first)), ("i64", str(part.count)), ("i64", str(part.start)),
        ("i64", str(part.panel_bytes)), ("ptr", own), ("ptr", counts), *(("i64", word) for word in words)])
    address = writer.let(f"extractvalue {{ ptr, ptr }} {found}, 0")
    begun = writer.let(f"extractvalue {{ ptr, ptr }} {found}, 1")
    writer.when(writer.let(f"icmp ne ptr {begun}, null"),
                lambda: _fill(body, begun, parts, lambda number: fill(address, number)))
    return address


def _fill(body: Body, begun: str, parts: int, fill: Callable[[str], None]) -> None:
    """Fill parts that nobody has begun, and wait until all are done. begun: the address of how many are; how many are
    done is behind it."""
    writer = body.writer
    look, claim, some, end = (writer.fresh(name)[1:] for name in ("parts", "claim", "part", "parts.end"))
    done = body.address(begun, "i64", 1)
    writer.do(f"br label %{look}")
    writer.label(look)
    known = writer.let(f"load atomic i64, ptr {begun} monotonic, align 8")
    writer.do(f"br i1 {writer.let(f'icmp ult i64 {known}, {parts}')}, label %{claim}, label %{end}")
    writer.label(claim)
    number = writer.let(f"atomicrmw add ptr {begun}, i64 1 monotonic")
    writer.do(f"br i1 {writer.let(f'icmp ult i64 {number}, {parts}')}, label %{some}, label %{end}")
    writer.label(some)
    fill(number)
    writer.let(f"atomicrmw add ptr {done}, i64 1 release")
    writer.do(f"br label %{look}")
    writer.label(end)
    writer.call("void", WAIT, [("ptr", done), ("i64", str(parts))])


_WAIT = f"""
; Wait until so many parts of a panel are done.
define internal void @{WAIT}(ptr %done, i64 %parts) noinline nounwind {{
entry:
  br label %look
look:
  %looks = phi i64 [ 0, %entry ], [ %looks.next, %again ], [ 0, %tired ]
  %found = load atomic i64, ptr %done acquire, align 8
  %is.done = icmp uge i64 %found, %parts
  br i1 %is.done, label %end, label %again.or.tired
again.or.tired:
  %is.tired = icmp eq i64 %looks, {_PATIENCE}
  br i1 %is.tired, label %tired, label %again
again:
  call void asm sideeffect "pause", "~{{memory}}"()
  %looks.next = add i64 %looks, 1
  br label %look
tired:
  %yielded = call i64 asm sideeffect "syscall", "={{rax}},{{rax}},~{{rcx}},~{{r11}},~{{memory}}"(i64 24)
  br label %look
end:
  ret void
}}
"""


def _compared(entry: str, label: str, product: str) -> str:
    """Whether an entry is of a panel: %<label>.all."""
    wanted = [(place, f"%key{place}") for place in range(_KEY)] + ([(_PRODUCT, product)] if product else [])
    lines, before = [], "true"
    for place, key in wanted:
        name = f"%{label}.{place}"
        lines += [f"  {name}.at = getelementptr i64, ptr {entry}, i64 {place}",
                  f"  {name}.old = load i64, ptr {name}.at",
                  f"  {name}.is = icmp eq i64 {name}.old, {key}", f"  {name}.all = and i1 {before}, {name}.is"]
        before = f"{name}.all"
    return "\n".join([*lines, f"  %{label}.all = and i1 {before}, true"])


def _stored(entry: str, label: str, words: Mapping[int, str]) -> str:
    """Write words of an entry."""
    return "\n".join(f"  %{label}.{place}.to = getelementptr i64, ptr {entry}, i64 {place}\n"
                     f"  store i64 {word}, ptr %{label}.{place}.to" for place, word in words.items())


def _find() -> str:
    """The function that looks for a panel, and gives the place of a new one if it does not find it. Beside the address
    it gives that of how many of its parts are begun and done; null if all are."""
    keys = {place: f"%key{place}" for place in range(_KEY)}
    parameters = ", ".join(["ptr %keeper", "i64 %first", "i64 %count", "i64 %start", "i64 %nbytes", "ptr %own",
                            "ptr %counts", *(f"i64 {key}" for key in keys.values())])
    return f"""
define internal {{ ptr, ptr }} @{FIND}({parameters}) noinline nounwind {{
entry:
  store i64 0, ptr %counts
  %counts.done = getelementptr i64, ptr %counts, i64 1
  store i64 0, ptr %counts.done
  %none = icmp eq ptr %keeper, null
  br i1 %none, label %nowhere, label %somewhere
nowhere:
  %mine.at = insertvalue {{ ptr, ptr }} poison, ptr %own, 0
  %mine = insertvalue {{ ptr, ptr }} %mine.at, ptr %counts, 1
  ret {{ ptr, ptr }} %mine
somewhere:
  %shared.at = getelementptr i8, ptr %keeper, i64 -{ALIGNMENT}
  %shared = load ptr, ptr %shared.at
  %room.at = getelementptr i64, ptr %shared, i64 {Shared.ROOM}
  %room = load i64, ptr %room.at
  %is.alone = icmp eq i64 %room, 0
  br i1 %is.alone, label %own.table, label %share

; Panels that threads share: they stay as they are once they count. Only who adds one takes the lock, and looks again.
share:
  %there.at = getelementptr i64, ptr %shared, i64 {Shared.COUNT}
  %used.at = getelementptr i64, ptr %shared, i64 {Shared.USED}
  %shared.entries = getelementptr i8, ptr %shared, i64 {Shared.WORDS * 8}
  %shared.panels = getelementptr i8, ptr %shared.entries, i64 {PANELS * ENTRY_BYTES}
  %known = load atomic i64, ptr %there.at acquire, align 8
  br label %seek
seek:
  %place = phi i64 [ 0, %share ], [ %place.next, %seek.more ], [ %known, %locked ]
  %there = phi i64 [ %known, %share ], [ %there, %seek.more ], [ %there.now, %locked ]
  %locks = phi i1 [ false, %share ], [ %locks, %seek.more ], [ true, %locked ]
  %place.offset = mul i64 %place, {ENTRY_BYTES}
  %entry.here = getelementptr i8, ptr %shared.entries, i64 %place.offset
  %is.absent = icmp eq i64 %place, %there
  br i1 %is.absent, label %absent, label %seek.compare
seek.compare:
{_compared("%entry.here", "shared.key", "%first")}
  br i1 %shared.key.all, label %present, label %seek.more
seek.more:
  %place.next = add i64 %place, 1
  br label %seek
absent:
  %used = load atomic i64, ptr %used.at monotonic, align 8
  %used.after = add i64 %used, %nbytes
  %has.room = icmp ule i64 %used.after, %room
  %has.entry = icmp ult i64 %there, {PANELS}
  %has.both = and i1 %has.room, %has.entry
  br i1 %has.both, label %fitting, label %full
full:
  br i1 %locks, label %full.unlock, label %own.table
full.unlock:
  store atomic i64 0, ptr %shared release, align 8
  br label %own.table
fitting:
  br i1 %locks, label %insert, label %lock
lock:
  %locking = cmpxchg ptr %shared, i64 0, i64 1 acquire monotonic
  %is.locked = extractvalue {{ i64, i1 }} %locking, 1
  br i1 %is.locked, label %locked, label %lock.again
lock.again:
  call void asm sideeffect "pause", "~{{memory}}"()
  br label %lock
locked:
  %there.now = load i64, ptr %there.at
  br label %seek
insert:
{_stored("%entry.here", "insert", {**keys, _PRODUCT: "%first", _BEGUN: "0", _DONE: "0", _OFFSET: "%used"})}
  store atomic i64 %used.after, ptr %used.at monotonic, align 8
  %there.after = add i64 %there, 1
  store atomic i64 %there.after, ptr %there.at release, align 8
  br label %present
present:
  br i1 %locks, label %unlock, label %give
unlock:
  store atomic i64 0, ptr %shared release, align 8
  br label %give
give:
  %begun = getelementptr i64, ptr %entry.here, i64 {_BEGUN}
  %panel.at = getelementptr i64, ptr %entry.here, i64 {_OFFSET}
  %shared.offset = load i64, ptr %panel.at
  %shared.panel = getelementptr i8, ptr %shared.panels, i64 %shared.offset
  %ours.at = insertvalue {{ ptr, ptr }} poison, ptr %shared.panel, 0
  %ours = insertvalue {{ ptr, ptr }} %ours.at, ptr %begun, 1
  ret {{ ptr, ptr }} %ours

; Panels of this thread.
own.table:
  %entries = getelementptr i8, ptr %keeper, i64 -{ALIGNMENT + PANELS * ENTRY_BYTES}
  %first.offset = mul i64 %first, {ENTRY_BYTES}
  %first.entry = getelementptr i8, ptr %entries, i64 %first.offset
  %next.at = getelementptr i64, ptr %first.entry, i64 {_NEXT}
  %all = getelementptr i8, ptr %entries, i64 -{PANEL_BYTES}
  %memory = getelementptr i8, ptr %all, i64 %start
  br label %look
look:
  %number = phi i64 [ 0, %own.table ], [ %following, %more ]
  %offset = mul i64 %number, {ENTRY_BYTES}
  %here = getelementptr i8, ptr %first.entry, i64 %offset
{_compared("%here", "key", "")}
  br i1 %key.all, label %found, label %more
found:
  store i64 0, ptr %next.at
  %panel.offset = mul i64 %number, %nbytes
  %panel = getelementptr i8, ptr %memory, i64 %panel.offset
  %old = insertvalue {{ ptr, ptr }} {{ ptr poison, ptr null }}, ptr %panel, 0
  ret {{ ptr, ptr }} %old
more:
  %following = add i64 %number, 1
  %is.last = icmp eq i64 %following, %count
  br i1 %is.last, label %take, label %look
take:
  %kept = load i64, ptr %next.at
  %fits = icmp ult i64 %kept, %count
  %next = select i1 %fits, i64 %kept, i64 0
  %after = add i64 %next, 1
  store i64 %after, ptr %next.at
  %new.offset = mul i64 %next, {ENTRY_BYTES}
  %new = getelementptr i8, ptr %first.entry, i64 %new.offset
{_stored("%new", "new", keys)}
  %new.place = mul i64 %next, %nbytes
  %new.panel = getelementptr i8, ptr %memory, i64 %new.place
  %made.at = insertvalue {{ ptr, ptr }} poison, ptr %new.panel, 0
  %made = insertvalue {{ ptr, ptr }} %made.at, ptr %counts, 1
  ret {{ ptr, ptr }} %made
}}
"""
