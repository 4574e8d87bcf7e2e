"""Numbers and rows of a report as people read them: what the text and the page share."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.report.model import TIMES, Advice, LineRow, ReportData
from coopmat.report.sectors import SECTOR

UNKNOWN = "not known"
_STEPS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Table:
    """A table: its heading, its columns, and rows of texts. ``note`` says what is to be known of it; columns that begin
    with ``<`` are texts, the others numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def count(value: float) -> str:
    """A whole number."""
    return f"{value:,.0f}"


def scaled(value: float, unit: str = "") -> str:
    """Three digits and a prefix: ``1.57 MB``, ``12.3 TFLOP/s``."""
    for size, prefix in _STEPS:
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}".rstrip()


def share(value: float) -> str:
    """A share in percent."""
    return f"{value:.0%}" if not 0 < value < 0.005 else "<1%"


def ratio(value: float | None) -> str:
    """Operations for each byte, sectors for each request."""
    return "" if value is None else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def seconds(value: float) -> str:
    """A time of the model."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def headline(report: ReportData) -> str:
    """What ran where."""
    return f"{report.kernel} on {report.device}"


def launch(report: ReportData) -> str:
    """Its sizes."""
    per = report.sub_groups // report.work_groups
    return (f"global size {sizes(report.global_size)}, local size {sizes(report.local_size)}: "
            f"{counted(report.work_groups, 'work-group')} of {counted(per, 'sub-group')} of {report.sub_group_size}"
            + ("" if report.counted_groups == report.work_groups else
               f"; counted: the first {counted(report.counted_groups, 'work-group')}"))


def sizes(values: tuple[int, ...]) -> str:
    """Sizes as the command line takes them."""
    return ",".join(map(str, values))


def counted(number: int, what: str) -> str:
    """``1 work-group``, ``2 work-groups``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def product(report: ReportData) -> str:
    """Whose numbers are used."""
    if report.is_nominal:
        return (f"No published numbers are known of {report.device}: shares of time are those of a nominal device "
                f"({report.source}); there is no roofline and no occupancy.")
    return (f"Peaks, bandwidth and limits are published ones of {report.product}: {report.source}.")


def model_note(report: ReportData) -> str:
    """What a time is."""
    return (f"a model, no measurement: issue slots, sectors over bandwidth, passes through the banks of local memory, "
            f"and matrix multiply-adds over their peak, one after the other; here {seconds(report.times.total)}, most "
            f"of it {TIMES[report.times.bound]}")


def times(report: ReportData) -> Table:
    """The parts of the time."""
    total = report.times.total
    rows = tuple((words, seconds(value), share(value / total if total else 0.0)) for name, words in TIMES.items()
                 if (value := getattr(report.times, name)))
    return Table("Time", ("<part", "time", "share"), rows, model_note(report))


def mix(report: ReportData) -> Table:
    """The instruction mix."""
    rows = tuple((row.words, count(row.sub_groups), count(row.items)) for row in report.mix)
    return Table("Instructions", ("<class", "sub-groups", "active work-items"), rows,
                 "executed by sub-groups, and by their active work-items")


def matrices(report: ReportData) -> Table:
    """The matrix multiply-adds."""
    rows = tuple((f"{row.a}*{row.b} + {row.c} -> {row.d}", f"{row.m} x {row.n} x {row.k}", row.scope, count(row.count),
                  count(row.multiply_adds)) for row in report.matrices)
    return Table("Matrix multiply-adds", ("<types", "<M x N x K", "<scope", "executed", "multiply-adds"), rows)


def spaces(report: ReportData) -> Table:
    """Bytes by memory space."""
    rows = tuple((row.space, count(row.loaded), count(row.stored), count(row.atomic), count(row.requests))
                 for row in report.spaces)
    return Table("Memory", ("<space", "bytes loaded", "stored", "atomic", "requests"), rows,
                 "bytes that work-items ask for; a request is one of a sub-group")


def buffers(report: ReportData) -> Table:
    """Bytes by buffer."""
    rows = tuple((row.name, count(row.loaded), count(row.unique_loaded), count(row.stored), count(row.unique_stored))
                 for row in report.buffers)
    return Table("Buffers", ("<buffer", "bytes loaded", "different", "bytes stored", "different"), rows,
                 "different: each byte counted once, which no cache can save")


def accesses(report: ReportData) -> Table:
    """What each line does with each buffer."""
    rows = tuple((str(row.line), f"{row.action} {row.buffer}", count(row.requests),
                  ratio(row.sectors / row.requests) if row.sectors else "",
                  ratio(row.ideal_sectors / row.requests) if row.sectors else "",
                  "" if row.stride is None or row.form == "matrix" else count(row.stride),
                  ratio(row.passes / row.requests) if row.passes else "", str(row.degree) if row.passes else "",
                  ratio(row.repeats) if row.repeats else "") for row in report.accesses)
    return Table("Accesses", ("line", "<access", "requests", "sectors", "ideal", "stride", "passes", "degree",
                              "repeats"), rows,
                 f"sectors of {SECTOR} bytes and passes through the banks for each request; stride in bytes from one "
                 "work-item to the next; repeats: how often one work-group asks for each byte")


def intensity(report: ReportData) -> Table:
    """Operations for each byte."""
    found = report.intensity
    if not found.operations:
        return Table("Arithmetic intensity", ("<bytes of global memory", "bytes", "operations for each"), ())
    rows = (("asked for", count(found.requested_bytes), ratio(found.requested)),
            ("different", count(found.compulsory_bytes), ratio(found.compulsory)))
    return Table("Arithmetic intensity", ("<bytes of global memory", "bytes", "operations for each"), rows,
                 f"{count(found.operations)} operations: 2 for each multiply-add of matrices, and floating-point "
                 "ones")


def resources(report: ReportData) -> Table:
    """Registers, local memory, occupancy."""
    rows = []
    if report.footprint is not None:
        found = report.footprint
        rows += [("registers of a work-item", f"{found.registers} ({found.values} bytes of values, {found.matrices} of "
                                              "matrices)"),
                 ("matrices of a sub-group", f"{count(found.matrices * report.sub_group_size)} bytes")]
        if found.private:
            rows.append(("private memory of a work-item", f"{count(found.private)} bytes"))
    else:
        rows.append(("registers of a work-item", UNKNOWN))
    rows.append(("local memory of a work-group", f"{count(report.local_memory)} bytes"))
    if report.occupancy is None:
        rows.append(("occupancy", UNKNOWN))
    else:
        room = report.occupancy
        rows.append((f"occupancy of each {report.unit_name}", f"{share(room.share)}: "
                     f"{counted(room.work_groups, 'work-group')}, limited by {room.limited_by}"))
    return Table("Registers and occupancy", ("<what", "<how much"), tuple(rows))


def roofline(report: ReportData) -> Table:
    """The roofline in numbers."""
    found = report.roofline
    if found is None:
        return Table("Roofline", ("<roof", "peak"), (), UNKNOWN if report.is_nominal else "")
    rows = [(roof.words, scaled(roof.peak, "op/s")) for roof in found.roofs]
    rows.append(("global memory", scaled(found.bandwidth, "B/s")))
    for words, value in (("possible with the bytes asked for", found.attainable_requested),
                         ("possible with the different bytes", found.attainable_compulsory)):
        if value is not None:
            rows.append((words, scaled(value, "op/s")))
    return Table("Roofline", ("<roof", "peak"), tuple(rows))


def line_cells(row: LineRow) -> tuple[str, ...]:
    """The counters of a line of source, empty for one that nothing executes."""
    if row.active is None and not row.share:
        return ("",) * len(LINE_COLUMNS)
    return (share(row.share), share(row.active) if row.active is not None else "",
            share(row.divergent / row.branches) if row.divergent else "", count(row.instructions),
            count(row.global_bytes) if row.requests else "",
            ratio(row.sectors / row.requests) if row.requests else "",
            ratio(row.ideal_sectors / row.requests) if row.requests else "",
            ratio(row.passes / row.ideal_passes) if row.ideal_passes else "",
            count(row.multiply_adds) if row.multiply_adds else "")


def lines(report: ReportData) -> tuple[list[str], list[tuple[str, ...]]]:
    """The columns of the source that have something in them, and the cells of each line."""
    rows = [line_cells(row) for row in report.lines]
    kept = [place for place in range(len(LINE_COLUMNS)) if any(row[place] for row in rows)]
    return [LINE_COLUMNS[place] for place in kept], [tuple(row[place] for place in kept) for row in rows]


def place(report: ReportData, advice: Advice) -> str:
    """Where an advice belongs; with the file, where there are several."""
    if advice.line is None:
        return ""
    line = f"line {advice.line}" if advice.line else "an unknown line"
    return line if len({row.file for row in report.lines}) < 2 else f"{advice.file}, {line}"


def sentence(text: str) -> str:
    """Words as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


LINE_COLUMNS = ("time", "active", "divergent", "instructions", "bytes", "sectors", "ideal", "conflicts",
                "multiply-adds")
"""Of a line of source: share of the modelled time, active work-items, branches at which work-items of a sub-group took
different ways, instructions of sub-groups, bytes of global memory, sectors for each request and the fewest possible,
passes through the banks beside those without conflicts, multiply-adds of matrices."""


def tables(report: ReportData) -> list[Table]:
    """All tables but the source, in their order; those without rows are left out, if they have no note."""
    found = [times(report), mix(report), intensity(report), resources(report), roofline(report), matrices(report),
             spaces(report), buffers(report), accesses(report)]
    return [table for table in found if table.rows or table.note == UNKNOWN]
