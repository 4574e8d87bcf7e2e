"""Strips of B that a thread keeps for all of its work-groups, as long as the launch lasts.

A thread has a table of what it keeps, and memory for it. Each product has a part of both. Once a panel was found, those
that are there have been used again, as work-groups that follow each other do: new ones take their places from the first
on, so that as little memory is used as caches hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coopmat.targets.cpu.host.frame import ENTRY_BYTES, PANEL_BYTES, PANELS
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.product.unit import LINE

FIND = "panel.find"
_KEY = ENTRY_BYTES // 8 - 1  # words that tell panels apart; the last one of an entry is the next one's number


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


def kept(body: Body, part: Share, keeper: str, key: Sequence[str], fill: Callable[[str], None],
         otherwise: Callable[[], str]) -> str:
    """The address of a panel, which ``fill`` puts at an address if it is not there. ``keeper``: what is kept lies
    there; null if nothing may be, and ``otherwise`` reserves memory. key: the i64 that tell the panel apart."""
    writer = body.writer
    writer.helper(FIND, _find())
    own = otherwise()
    words = [*key, *["0"] * (_KEY - len(key))]
    found = writer.call("{ ptr, i1 }", FIND, [
        ("ptr", keeper), ("i64", str(part.first)), ("i64", str(part.count)), ("i64", str(part.start)),
        ("i64", str(part.panel_bytes)), ("ptr", own), *(("i64", word) for word in words)])
    address = writer.let(f"extractvalue {{ ptr, i1 }} {found}, 0")
    is_new = writer.let(f"extractvalue {{ ptr, i1 }} {found}, 1")
    writer.when(is_new, lambda: fill(address))
    return address


def _find() -> str:
    """The function that looks for a panel, and gives the place of a new one if it does not find it."""
    keys = [f"%key{place}" for place in range(_KEY)]
    parameters = ", ".join(["ptr %keeper", "i64 %first", "i64 %count", "i64 %start", "i64 %nbytes", "ptr %own",
                            *(f"i64 {key}" for key in keys)])
    compared = [f"""  {key}.at = getelementptr i64, ptr %here, i64 {place}
  {key}.old = load i64, ptr {key}.at
  {key}.is = icmp eq i64 {key}.old, {key}
  {key}.all = and i1 {f"{keys[place - 1]}.all" if place else "true"}, {key}.is""" for place, key in enumerate(keys)]
    stored = [f"""  {key}.to = getelementptr i64, ptr %new, i64 {place}
  store i64 {key}, ptr {key}.to""" for place, key in enumerate(keys)]
    return f"""
define internal {{ ptr, i1 }} @{FIND}({parameters}) noinline nounwind {{
entry:
  %none = icmp eq ptr %keeper, null
  br i1 %none, label %nowhere, label %somewhere
nowhere:
  %mine = insertvalue {{ ptr, i1 }} {{ ptr poison, i1 true }}, ptr %own, 0
  ret {{ ptr, i1 }} %mine
somewhere:
  %entries = getelementptr i8, ptr %keeper, i64 -{PANELS * ENTRY_BYTES}
  %first.offset = mul i64 %first, {ENTRY_BYTES}
  %first.entry = getelementptr i8, ptr %entries, i64 %first.offset
  %all = getelementptr i8, ptr %entries, i64 -{PANEL_BYTES}
  %memory = getelementptr i8, ptr %all, i64 %start
  br label %look
look:
  %number = phi i64 [ 0, %somewhere ], [ %following, %more ]
  %offset = mul i64 %number, {ENTRY_BYTES}
  %here = getelementptr i8, ptr %first.entry, i64 %offset
{chr(10).join(compared)}
  br i1 {keys[-1]}.all, label %found, label %more
found:
  %restart.at = getelementptr i64, ptr %first.entry, i64 {_KEY}
  store i64 0, ptr %restart.at
  %panel.offset = mul i64 %number, %nbytes
  %panel = getelementptr i8, ptr %memory, i64 %panel.offset
  %old = insertvalue {{ ptr, i1 }} {{ ptr poison, i1 false }}, ptr %panel, 0
  ret {{ ptr, i1 }} %old
more:
  %following = add i64 %number, 1
  %is.last = icmp eq i64 %following, %count
  br i1 %is.last, label %take, label %look
take:
  %next.at = getelementptr i64, ptr %first.entry, i64 {_KEY}
  %kept = load i64, ptr %next.at
  %fits = icmp ult i64 %kept, %count
  %next = select i1 %fits, i64 %kept, i64 0
  %after = add i64 %next, 1
  store i64 %after, ptr %next.at
  %new.offset = mul i64 %next, {ENTRY_BYTES}
  %new = getelementptr i8, ptr %first.entry, i64 %new.offset
{chr(10).join(stored)}
  %place.offset = mul i64 %next, %nbytes
  %place = getelementptr i8, ptr %memory, i64 %place.offset
  %made = insertvalue {{ ptr, i1 }} {{ ptr poison, i1 true }}, ptr %place, 0
  ret {{ ptr, i1 }} %made
}}
"""
