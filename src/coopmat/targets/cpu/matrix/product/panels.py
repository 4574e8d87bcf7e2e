"""Strips of A and B that are kept for all work-groups, as long as the launch lasts.

The threads of a launch share a table of panels, as long as there is room; each panel is made once, a part by each
thread that needs it meanwhile. Panels of B that there is no room for, and those of a launch of one thread, are in that
thread's own table. Each product has a part of it. Once a panel was found there, those that are there have been used
again, as work-groups that follow each other do: new ones take their places from the first on, so that as little memory
is used as caches hold. Panels of A are used again after all others of their columns, and are not kept where there is no
room.

Each panel's entry knows which panel came next in its table last time: that is where a thread looks first, and what it
asks for ahead, unless another thread may just be writing it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coopmat.targets.cpu.host.frame import ALIGNMENT, ENTRY_BYTES, PANEL_BYTES, PANELS, Shared
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.product.unit import LINE

FIND, WAIT = "panel.find", "panel.wait"
_KEY, _LAUNCH = 7, 2  # words of an entry that tell panels of an operand apart, and which of them is the launch's number
_OPERAND, _BEGUN, _DONE, _PANEL, _LATER = 7, 8, 9, 10, 11
"""Whose panel it is; how many parts are begun, and done; where the panel lies; the entry that came next."""
_NEXT, _BEFORE = 12, 13
"""In the first entry of a product's part of a thread's table: the number of the next new one; the last entry of A, of
B, and of B in this table."""
_PATIENCE = 1000  # looks, before who waits for a panel lets others run


@dataclass(frozen=True)
class Share:
    """An operand's part of what is kept. number: of the operand; first, count: entries of a thread's own table, none
    where the operand must not be there; start: where its memory begins; panel_bytes: of a panel."""

    number: int
    first: int
    count: int
    start: int
    panel_bytes: int


Shares = tuple[Share | None, Share | None]
"""Of A and B."""


def shared_out(panels: Mapping[str, tuple[int, int]]) -> dict[str, Shares]:
    """The parts of products, by their names, whose panels of A and B have so many bytes, 0 if there are none; operands
    that there is no room for have none."""
    found: dict[str, Shares] = {}
    for number, (name, (a, b)) in enumerate(panels.items()):
        entries, room = PANELS // len(panels), PANEL_BYTES // len(panels) // LINE * LINE
        first, count = number * entries, min(entries, room // b) if b else 0
        found[name] = (Share(2 * number, first, 0, 0, a) if a else None,
                       Share(2 * number + 1, first, count, number * room, b) if count else None)
    return found


def kept(body: Body, part: Share, keeper: str, key: Sequence[str], parts: int, fill: Callable[[str, str], None],
         otherwise: Callable[[], str]) -> tuple[str, str]:
    """The addresses of a panel, of which ``fill`` puts a part at an address, given its number, if it is not there, and
    of the panel that came next last time. ``keeper``: what is kept lies there; null if nothing may be, and
    ``otherwise`` reserves memory. key: the i64 that tell the panel apart, the launch's number at ``_LAUNCH``."""
    writer = body.writer
    writer.helper(FIND, _find())
    writer.helper(WAIT, _WAIT)
    own, counts = otherwise(), writer.slot("[2 x i64]", align=16)
    words = [*key, *["0"] * (_KEY - len(key))]
    found = writer.call("{ ptr, ptr, ptr }", FIND, [
        ("ptr", keeper), ("i64", str(part.number)), ("i64", str(part.first)), ("i64", str(part.count)),
        ("i64", str(part.start)), ("i64", str(part.panel_bytes)), ("i64", str(parts)), ("ptr", own), ("ptr", counts),
        *(("i64", word) for word in words)])
    address, begun, later = (writer.let(f"extractvalue {{ ptr, ptr, ptr }} {found}, {place}") for place in range(3))
    _fill(body, begun, parts, lambda number: fill(address, number))
    return address, later


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


def _compared(entry: str, label: str) -> str:
    """Whether an entry is of the panel: %<label>.all."""
    wanted = [(place, f"%key{place}") for place in range(_KEY)] + [(_OPERAND, "%number")]
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
    """The function that looks for a panel, and gives the place of a new one if it does not find it: the addresses of
    the panel, of how many of its parts are begun and done, and of the panel that came next last time."""
    keys = {place: f"%key{place}" for place in range(_KEY)}
    parameters = ", ".join(["ptr %keeper", "i64 %number", "i64 %first", "i64 %count", "i64 %start", "i64 %nbytes",
                            "i64 %parts", "ptr %own", "ptr %counts", *(f"i64 {key}" for key in keys.values())])
    new = {**keys, _OPERAND: "%number", _BEGUN: "0", _DONE: "0", _LATER: "0"}
    return f"""
define internal {{ ptr, ptr, ptr }} @{FIND}({parameters}) noinline nounwind {{
entry:
  %none = icmp eq ptr %keeper, null
  br i1 %none, label %nowhere, label %somewhere
nowhere:
  store i64 0, ptr %counts
  %counts.done = getelementptr i64, ptr %counts, i64 1
  store i64 0, ptr %counts.done
  %mine.at = insertvalue {{ ptr, ptr, ptr }} poison, ptr %own, 0
  %mine.begun = insertvalue {{ ptr, ptr, ptr }} %mine.at, ptr %counts, 1
  %mine = insertvalue {{ ptr, ptr, ptr }} %mine.begun, ptr %own, 2
  ret {{ ptr, ptr, ptr }} %mine
somewhere:
  %entries = getelementptr i8, ptr %keeper, i64 -{ALIGNMENT + PANELS * ENTRY_BYTES}
  %first.offset = mul i64 %first, {ENTRY_BYTES}
  %first.entry = getelementptr i8, ptr %entries, i64 %first.offset
  %next.at = getelementptr i64, ptr %first.entry, i64 {_NEXT}
  %which = and i64 %number, 1
  %before.place = add i64 %which, {_BEFORE}
  %before.at = getelementptr i64, ptr %first.entry, i64 %before.place
  %own.before.at = getelementptr i64, ptr %first.entry, i64 {_BEFORE + 2}
  %shared.at = getelementptr i8, ptr %keeper, i64 -{ALIGNMENT}
  %shared = load ptr, ptr %shared.at
  %alone.at = getelementptr i64, ptr %shared, i64 {Shared.ALONE}
  %alone = load i64, ptr %alone.at
  %is.alone = icmp ne i64 %alone, 0
  %may.own = icmp ne i64 %count, 0
  %is.own = and i1 %is.alone, %may.own
  br i1 %is.own, label %own.table, label %share

; Panels that threads share: they stay as they are once they count, or have the launch's number. Only who adds one takes
; the lock, and looks again.
share:
  %before = load ptr, ptr %before.at
  %has.before = icmp ne ptr %before, null
  br i1 %has.before, label %share.later, label %share.all
share.later:
  %guess.at = getelementptr i64, ptr %before, i64 {_LATER}
  %guess = load atomic ptr, ptr %guess.at acquire, align 8
  %has.guess = icmp ne ptr %guess, null
  br i1 %has.guess, label %share.guess, label %share.all
share.guess:
  %guess.launch.at = getelementptr i64, ptr %guess, i64 {_LAUNCH}
  %guess.launch = load atomic i64, ptr %guess.launch.at acquire, align 8
  %guess.is.due = icmp eq i64 %guess.launch, %key{_LAUNCH}
  br i1 %guess.is.due, label %share.compare, label %share.all
share.compare:
{_compared("%guess", "guess")}
  br i1 %guess.all, label %known, label %share.all
share.all:
  %room.at = getelementptr i64, ptr %shared, i64 {Shared.ROOM}
  %room = load i64, ptr %room.at
  %there.at = getelementptr i64, ptr %shared, i64 {Shared.COUNT}
  %used.at = getelementptr i64, ptr %shared, i64 {Shared.USED}
  %shared.entries = getelementptr i8, ptr %shared, i64 {Shared.WORDS * 8}
  %shared.panels = getelementptr i8, ptr %shared.entries, i64 {PANELS * ENTRY_BYTES}
  %there.first = load atomic i64, ptr %there.at acquire, align 8
  br label %seek
seek:
  %place = phi i64 [ 0, %share.all ], [ %place.next, %seek.more ], [ %there.first, %locked ]
  %there = phi i64 [ %there.first, %share.all ], [ %there, %seek.more ], [ %there.now, %locked ]
  %locks = phi i1 [ false, %share.all ], [ %locks, %seek.more ], [ true, %locked ]
  %place.offset = mul i64 %place, {ENTRY_BYTES}
  %entry.here = getelementptr i8, ptr %shared.entries, i64 %place.offset
  %is.absent = icmp eq i64 %place, %there
  br i1 %is.absent, label %absent, label %seek.compare
seek.compare:
{_compared("%entry.here", "shared.key")}
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
  br i1 %locks, label %full.unlock, label %full.end
full.unlock:
  store atomic i64 0, ptr %shared release, align 8
  br label %full.end
full.end:
  br i1 %may.own, label %own.table, label %nowhere
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
  %shared.panel = getelementptr i8, ptr %shared.panels, i64 %used
  %shared.panel.address = ptrtoint ptr %shared.panel to i64
{_stored("%entry.here", "insert", {**new, _LAUNCH: "0", _PANEL: "%shared.panel.address"})}
  %insert.launch.at = getelementptr i64, ptr %entry.here, i64 {_LAUNCH}
  store atomic i64 %key{_LAUNCH}, ptr %insert.launch.at release, align 8
  store atomic i64 %used.after, ptr %used.at monotonic, align 8
  %there.after = add i64 %there, 1
  store atomic i64 %there.after, ptr %there.at release, align 8
  br label %present
present:
  br i1 %locks, label %unlock, label %known
unlock:
  store atomic i64 0, ptr %shared release, align 8
  br label %known

; Panels of this thread.
own.table:
  %all = getelementptr i8, ptr %entries, i64 -{PANEL_BYTES}
  %memory = getelementptr i8, ptr %all, i64 %start
  br label %look
look:
  %turn = phi i64 [ 0, %own.table ], [ %following, %more ]
  %offset = mul i64 %turn, {ENTRY_BYTES}
  %here = getelementptr i8, ptr %first.entry, i64 %offset
{_compared("%here", "key")}
  br i1 %key.all, label %found, label %more
found:
  store i64 0, ptr %next.at
  br label %known
more:
  %following = add i64 %turn, 1
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
  %new.place = mul i64 %next, %nbytes
  %new.panel = getelementptr i8, ptr %memory, i64 %new.place
  %new.panel.address = ptrtoint ptr %new.panel to i64
{_stored("%new", "new", {**new, _PANEL: "%new.panel.address"})}
  br label %known

; The entry before, of this thread in the same table, notes that this one came next.
known:
  %entry.found = phi ptr [ %guess, %share.compare ], [ %entry.here, %present ], [ %entry.here, %unlock ],
                         [ %here, %found ], [ %new, %take ]
  %last.at = phi ptr [ %before.at, %share.compare ], [ %before.at, %present ], [ %before.at, %unlock ],
                     [ %own.before.at, %found ], [ %own.before.at, %take ]
  %last = load ptr, ptr %last.at
  store ptr %entry.found, ptr %last.at
  %has.last = icmp ne ptr %last, null
  br i1 %has.last, label %note, label %give
note:
  %last.later.at = getelementptr i64, ptr %last, i64 {_LATER}
  %last.later = load atomic ptr, ptr %last.later.at monotonic, align 8
  %is.noted = icmp eq ptr %last.later, %entry.found
  br i1 %is.noted, label %give, label %note.it
note.it:
  store atomic ptr %entry.found, ptr %last.later.at release, align 8
  br label %give
give:
  %panel.at = getelementptr i64, ptr %entry.found, i64 {_PANEL}
  %panel = load ptr, ptr %panel.at
  %begun = getelementptr i64, ptr %entry.found, i64 {_BEGUN}
  %later.at = getelementptr i64, ptr %entry.found, i64 {_LATER}
  %later = load atomic ptr, ptr %later.at monotonic, align 8
  %has.later = icmp ne ptr %later, null
  %later.some = select i1 %has.later, ptr %later, ptr %entry.found
  %later.launch.at = getelementptr i64, ptr %later.some, i64 {_LAUNCH}
  %later.launch = load atomic i64, ptr %later.launch.at acquire, align 8
  %later.is.due = icmp eq i64 %later.launch, %key{_LAUNCH}
  %later.done.at = getelementptr i64, ptr %later.some, i64 {_DONE}
  %later.done = load atomic i64, ptr %later.done.at monotonic, align 8
  %later.is.done = icmp uge i64 %later.done, %parts
  %later.is.made = and i1 %later.is.due, %later.is.done
  %may.ask = or i1 %is.alone, %later.is.made ; while another thread writes it, its lines would go to and fro
  %later.entry = select i1 %may.ask, ptr %later.some, ptr %entry.found
  %later.panel.at = getelementptr i64, ptr %later.entry, i64 {_PANEL}
  %later.panel = load ptr, ptr %later.panel.at
  %result.at = insertvalue {{ ptr, ptr, ptr }} poison, ptr %panel, 0
  %result.begun = insertvalue {{ ptr, ptr, ptr }} %result.at, ptr %begun, 1
  %result = insertvalue {{ ptr, ptr, ptr }} %result.begun, ptr %later.panel, 2
  ret {{ ptr, ptr, ptr }} %result
}}
"""
