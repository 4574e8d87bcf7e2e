"""Causes of slowness in words: a table of rules, each with its condition and what would mend it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coopmat.devices import DeviceDescription
from coopmat.report.counting import Counter
from coopmat.report.model import Access, Advice, LineRow, ReportData
from coopmat.report.sectors import SECTOR, WORD
from coopmat.report.words import counted

LEAST_SHARE = 0.05
"""Of the modelled time: a line that has less is not worth advice."""


@dataclass(frozen=True)
class Facts:
    """What rules look at."""

    report: ReportData
    counter: Counter
    device: DeviceDescription

    def share(self, access: Access) -> float:
        """Of the line of an access."""
        return next((line.share for line in self.report.lines
                     if (line.file, line.number) == (access.file, access.line)), 0.0)

    def accesses(self, *spaces: str, form: str | None = None, action: str | None = None) -> Iterator[Access]:
        """The accesses that are worth advice."""
        for access in self.report.accesses:
            if access.space in spaces and form in (None, access.form) and action in (None, access.action) \
                    and self.share(access) >= LEAST_SHARE:
                yield access


@dataclass(frozen=True)
class Finding:
    """What a rule has found: at which line (None: the whole launch), and in words."""

    file: str
    line: int | None
    cause: str
    remedy: str
    share: float


@dataclass(frozen=True)
class Rule:
    """A cause of slowness. ``condition``: when it is reported, in words."""

    name: str
    condition: str
    find: Callable[[Facts], Iterator[Finding]]


def short(buffer: str) -> str:
    """The name of a buffer without what it is: ``argument 0 'A'`` is 'A'."""
    found = re.search("'.*'", buffer)
    return found[0] if found else buffer


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def _at(facts: Facts, access: Access, cause: str, remedy: str) -> Finding:
    return Finding(access.file, access.line, cause, remedy, facts.share(access))


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------

STRIDED = 4


def _strided(facts: Facts) -> Iterator[Finding]:
    for access in facts.accesses("global", "constant", form="items"):
        if access.action == "atomic" or access.sectors < STRIDED * access.ideal_sectors:
            continue
        verb = {"load": "read", "store": "write"}[access.action]
        how = f"with a stride of {access.stride:,} bytes" if access.stride else "at scattered addresses"
        yield _at(facts, access, f"the work-items of a sub-group {verb} {short(access.buffer)} {how}: "
                  f"{_number(access.sectors / access.requests)} sectors of {SECTOR} bytes for "
                  f"{_number(access.nbytes / access.requests)} bytes",
                  "exchange the indices, so that neighbouring work-items access neighbouring elements, or go by way of "
                  "local memory")


NARROW = 2


def _narrow_rows(facts: Facts) -> Iterator[Finding]:
    for access in facts.accesses("global", "constant", form="matrix"):
        if access.sectors >= NARROW * access.ideal_sectors:
            each = access.nbytes / access.requests
            yield _at(facts, access, f"the rows of the matrix in {short(access.buffer)} fill a part of their "
                      f"sectors: {_number(access.sectors / access.requests)} sectors of {SECTOR} bytes for "
                      f"{_number(each)} bytes",
                      f"move tiles whose rows have at least {SECTOR} bytes, or store the tiles one after the other "
                      "(packed)")


CONFLICT = 2


def _bank_conflict(facts: Facts) -> Iterator[Finding]:
    for access in facts.accesses("local"):
        if not access.ideal_passes or access.passes < CONFLICT * access.ideal_passes:
            continue
        if access.form == "items" and access.stride:
            row, more = abs(access.stride) // access.size, max(1, WORD // access.size)
            remedy = f"pad the row from {row} to {row + more} elements"
        else:
            remedy = "pad the rows by 16 bytes"
        yield _at(facts, access, f"bank conflict of degree {access.degree} in {short(access.buffer)}: "
                  f"{_number(access.passes / access.requests)} passes instead of "
                  f"{_number(access.ideal_passes / access.requests)}", remedy)


REPEATED = 4


def _repeated(facts: Facts) -> Iterator[Finding]:
    for access in facts.accesses("global", "constant", action="load"):
        if access.repeats >= REPEATED:
            remedy = ("keep its tile in local memory, or let each sub-group compute more tiles"
                      if access.form == "matrix" else "keep it in local memory, or in variables of each work-item")
            yield _at(facts, access, f"{short(access.buffer)} is loaded {_number(access.repeats)} times by each "
                      "work-group", remedy)


LITTLE_REUSE = 8


def _little_reuse(facts: Facts) -> Iterator[Finding]:
    if facts.report.times.bound != "global_memory":
        return
    for buffer in facts.report.buffers:
        streams = [(key, stream) for key, stream in facts.counter.streams.items()
                   if key.buffer == buffer.name and key.action == "load"]
        loads = list(facts.accesses("global", "constant", action="load"))
        times = sum(stream.distinct for _, stream in streams) / max(1, buffer.unique_loaded)
        first = next((access for access in loads if access.buffer == buffer.name), None)
        if first is not None and times >= LITTLE_REUSE and first.repeats < REPEATED:
            yield _at(facts, first, f"{short(buffer.name)} is loaded {_number(times)} times by the launch, by "
                      "different work-groups", "let each work-group compute a larger tile of the result")


CONTENDED = 8


def _contended(facts: Facts) -> Iterator[Finding]:
    for key, stream in facts.counter.streams.items():
        if key.action != "atomic" or key.space == "private" or stream.nbytes < CONTENDED * max(1, stream.distinct):
            continue
        share = next((line.share for line in facts.report.lines if (line.file, line.number) == key.line), 0.0)
        yield Finding(key.line.file, key.line.number, f"{_number(stream.nbytes / stream.distinct)} work-items of a "
                      f"sub-group change the same element of {short(key.buffer)} atomically, one after the other",
                      "combine their values first (sub_group_reduce_add), and let one work-item do the atomic", share)


PRIVATE = 4


def _private(facts: Facts) -> Iterator[Finding]:
    items = facts.report.work_items
    for access in facts.accesses("private"):
        if access.accesses >= PRIVATE * items and access.stride != 0:
            yield _at(facts, access, f"{short(access.buffer)} is indexed differently by the work-items of a sub-group, "
                      f"{_number(access.accesses / items)} times by each, so it cannot be in registers",
                      "index it by what a compiler can work out, or keep it in local memory")


# --------------------------------------------------------------------------------------
# Work-items and work-groups
# --------------------------------------------------------------------------------------

FEW_ACTIVE = 0.5


def _inactive(facts: Facts) -> Iterator[Finding]:
    if _idle_lanes(facts.report) * 2 >= facts.report.sub_group_size:
        return
    for line in facts.report.lines:
        if line.active is not None and line.active < FEW_ACTIVE and line.share >= LEAST_SHARE:
            yield _of(line, f"{line.active:.0%} of the work-items are active",
                      "let whole sub-groups take the same way: choose by the sub-group or the "
                      "work-group, or move the work to neighbouring work-items")


def _of(line: LineRow, cause: str, remedy: str) -> Finding:
    return Finding(line.file, line.number, cause, remedy, line.share)


def _idle_lanes(report: ReportData) -> int:
    """Lanes of a work-group's last sub-group that no work-item has."""
    return -math.prod(report.local_size) % report.sub_group_size


IDLE = 0.125


def _partial(facts: Facts) -> Iterator[Finding]:
    report = facts.report
    idle = _idle_lanes(report)
    lanes = report.sub_groups // report.work_groups * report.sub_group_size
    if idle >= IDLE * lanes:
        yield Finding("", None, f"work-groups of {counted(lanes - idle, 'work-item')} leave {idle} of {lanes} lanes of "
                      "their sub-groups idle", f"take a multiple of {report.sub_group_size}", idle / lanes)


def _few_groups(facts: Facts) -> Iterator[Finding]:
    report = facts.report
    idle = 1 - report.work_groups / report.units
    if not report.is_nominal and idle > 0:
        yield Finding("", None, f"the launch has {counted(report.work_groups, 'work-group')} for "
                      f"{report.units} {report.unit_name}s: {idle:.0%} of them have nothing to do",
                      "make smaller work-groups, or split the sum over K between work-groups", idle)


LOW_OCCUPANCY = 0.25


def _low_occupancy(facts: Facts) -> Iterator[Finding]:
    report, found = facts.report, facts.report.occupancy
    if found is None or found.share >= LOW_OCCUPANCY or found.limited_by not in ("local memory", "registers"):
        return
    taken = f"{report.local_memory:,} bytes of local memory" if found.limited_by == "local memory" else \
        f"{report.footprint.registers if report.footprint else 0} registers for each work-item"
    yield Finding("", None, f"a work-group takes {taken}: each {report.unit_name} has room for {found.work_groups}, "
                  f"{found.share:.0%} of the sub-groups that it could have",
                  "take smaller tiles, or larger work-groups that share them", 1 - found.share)


SCALAR_PRODUCTS = 8


def _scalar_products(facts: Facts) -> Iterator[Finding]:
    report = facts.report
    if report.matrices or not (facts.device.combinations or facts.device.any_combination):
        return
    for line in report.lines:
        rows = [one for one in facts.counter.instructions if one.line == (line.file, line.number) and one.cost.products]
        products = sum(one.items * one.cost.products for one in rows)
        items = report.work_items
        if products >= SCALAR_PRODUCTS * items and line.share >= LEAST_SHARE:
            yield _of(line, f"{_number(products / items)} scalar multiply-adds in each work-item, where the device has "
                      "matrix instructions",
                      "multiply tiles as cooperative matrices (`coopmat devices` lists the combinations)")


RULES = (
    Rule("strided-access", f"a line's sectors are at least {STRIDED} times as many as its bytes need", _strided),
    Rule("narrow-rows", f"a matrix's sectors are at least {NARROW} times as many as its bytes need", _narrow_rows),
    Rule("bank-conflict", f"a line takes at least {CONFLICT} times as many passes through the banks of local memory as "
         "without conflicts", _bank_conflict),
    Rule("repeated-load", f"a line loads the same bytes at least {REPEATED} times in one work-group", _repeated),
    Rule("little-reuse", f"the launch loads a buffer at least {LITTLE_REUSE} times, and global memory takes most of "
         "the time", _little_reuse),
    Rule("contended-atomic", f"at least {CONTENDED} work-items of a sub-group change one element", _contended),
    Rule("private-array", f"each work-item accesses private memory at least {PRIVATE} times in a line, by other "
         "indices than its neighbours", _private),
    Rule("inactive-lanes", f"less than {FEW_ACTIVE:.0%} of the work-items are active in a line", _inactive),
    Rule("partial-sub-group", f"at least {IDLE:.1%} of the lanes have no work-item", _partial),
    Rule("few-work-groups", "there are fewer work-groups than units of the device", _few_groups),
    Rule("low-occupancy", f"local memory or registers leave room for less than {LOW_OCCUPANCY:.0%} of the sub-groups",
         _low_occupancy),
    Rule("scalar-products", f"each work-item makes at least {SCALAR_PRODUCTS} floating-point multiply-adds in a line, "
         "there are no matrices, and the device has some", _scalar_products),
)
"""All of them. Those of a line also need that it has a share of the modelled time of LEAST_SHARE."""


def advice_for(report: ReportData, counter: Counter, device: DeviceDescription) -> tuple[Advice, ...]:
    """What the rules find: of lines, the largest share first, and then of the launch."""
    facts = Facts(report, counter, device)
    found = [Advice(rule.name, one.file, one.line, one.cause, one.remedy, one.share)
             for rule in RULES for one in rule.find(facts)]
    return tuple(sorted(found, key=lambda advice: (advice.line is None, -advice.share)))
