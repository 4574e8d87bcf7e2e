"""The debugger's engine: where it stops, what it then sees, and that going back restores what was there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.debugger.engine import Engine
from coopmat.debugger.expressions import parse
from coopmat.debugger.items import item_at, items_of, place_in
from coopmat.debugger.points import Breakpoint, Hits, Message, Stop
from tests.kit.debugger import broken, engine_of, value

SUMS = """\
int twice(int v) {
    int r = v * 2;
    return r;
}
kernel void sums(global const int *a, global int *out, int n) {
    int i = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < n; k++) {
        int t = a[i] + k;
        sum += twice(t);
    }
    if (i % 2 == 0)
        sum += 100;
    else
        sum -= 100;
    out[i] = sum;
}
"""


@contextmanager
def running(source: Any = SUMS, name: str = "sums", sizes: Any = (8, 4), *arguments: Any, **named: Any
            ) -> Iterator[Engine]:
    if not arguments:
        arguments = np.arange(8, dtype=np.int32) * 10, np.zeros(8, np.int32), 3
    engine = engine_of(source, name, *sizes, *arguments, **named)
    try:
        yield engine
    finally:
        engine.close()


def line(stop: Stop) -> int:
    assert stop.line is not None
    return stop.line.number


def expected_sum(i: int, n: int = 3) -> int:
    return sum(2 * (10 * i + k) for k in range(n)) + (100 if i % 2 == 0 else -100)


def test_steps_follow_the_lines_of_one_work_item() -> None:
    with running() as engine:
        engine.select((1, 0, 0))
        seen = [line(engine.start())]
        while (stop := engine.resume("next")).reason != "end":
            if stop.line is not None:
                seen.append(line(stop))
    assert seen == [6, 7, 8, *[9, 10, 8] * 3, 12, 15, 16]


def test_step_goes_into_functions_and_finish_out_of_them() -> None:
    with running() as engine:
        broken(engine, 10)
        engine.start("continue")
        stop = engine.resume("step")
        assert (stop.function, line(stop)) == ("twice", 2)
        assert [one.code.function.name for one in engine.stack() if one.code] == ["twice", "sums"]
        assert value(engine, "v") == "0"
        stop = engine.resume("finish")
        assert (stop.reason, stop.function, line(stop)) == ("finish", "sums", 10)


def test_variables_have_the_values_of_their_work_item() -> None:
    with running() as engine:
        broken(engine, 16)
        engine.start("continue")
        for i in range(8):
            engine.select((i, 0, 0))
            if engine.stack():
                assert value(engine, "sum") == str(expected_sum(i))
                assert value(engine, "a[i]") == str(10 * i)


def test_a_condition_stops_the_work_items_for_which_it_holds() -> None:
    with running() as engine:
        point = broken(engine, 9, "i > 4 && k == 2")
        stop = engine.start("continue")
        assert stop.breakpoint is point
        assert stop.lanes is not None
        assert engine.batch is not None
        assert items_of(engine.batch, stop.lanes) == [(5, 0, 0), (6, 0, 0), (7, 0, 0)]
        assert engine.item == (5, 0, 0)
        assert value(engine, "k") == "2"
        assert engine.resume("continue").reason == "end"
        assert point.hits == 1


def test_a_condition_reads_memory_only_where_its_left_side_allows() -> None:
    with running() as engine:
        broken(engine, 9, "i < 2 && a[i * 5] == 50 && k == 0")
        stop = engine.start("continue")
        assert not stop.trouble
        assert engine.item == (1, 0, 0)


def test_a_condition_without_a_value_stops_and_says_why() -> None:
    with running() as engine:
        broken(engine, 9, "a[i * 5] == 1")
        stop = engine.start("continue")
        assert stop.reason == "breakpoint"
        assert "element 10" in stop.trouble


def test_a_breakpoint_of_one_work_item() -> None:
    with running() as engine:
        point = broken(engine, 13, item=(6, 0, 0))
        other = broken(engine, 15, item=(6, 0, 0))
        stop = engine.start("continue")
        assert stop.breakpoint is point
        assert engine.item == (6, 0, 0)
        assert engine.resume("continue").reason == "end"
        assert other.hits == 0


def test_a_breakpoint_in_a_loop_of_one_line_stops_each_time() -> None:
    source = "kernel void count(global int *p) {\n    int n = 0;\n    while (n < 5) n++;\n    p[0] = n;\n}\n"
    with running(source, "count", (1, 1), np.zeros(1, np.int32)) as engine:
        point = broken(engine, 3)
        stop = engine.start("continue")
        while stop.reason != "end":
            stop = engine.resume("continue")
        assert point.hits == 6


def test_reverse_step_gives_the_values_from_before() -> None:
    with running() as engine:
        engine.select((3, 0, 0))
        engine.start()
        history = []
        for _ in range(12):
            stop = engine.resume("step")
            names = ("r", "v") if stop.function == "twice" else ("sum", "k", "t")
            history.append((stop.clock, line(stop), stop.function, [value(engine, name) for name in names]))
        for clock, number, function, values in reversed(history[:-1]):
            stop = engine.reverse("step")
            names = ("r", "v") if function == "twice" else ("sum", "k", "t")
            assert (stop.clock, line(stop), stop.function) == (clock, number, function)
            assert [value(engine, name) for name in names] == values


def test_reverse_next_stays_in_the_function() -> None:
    with running() as engine:
        broken(engine, 12)
        engine.start("continue")
        engine.points.breakpoints.clear()
        assert [line(engine.reverse("next")) for _ in range(4)] == [8, 10, 9, 8]
        assert engine.stop is not None
        assert engine.stop.function == "sums"


def test_reverse_finish_leads_before_the_call() -> None:
    with running() as engine:
        broken(engine, 3)
        engine.start("continue")
        stop = engine.reverse("finish")
        assert (stop.function, line(stop)) == ("sums", 10)
        assert value(engine, "sum") == "0"


def test_reverse_continue_leads_to_the_stop_before_and_then_to_the_start() -> None:
    with running() as engine:
        broken(engine, 9)
        clocks = [engine.start("continue").clock, engine.resume("continue").clock, engine.resume("continue").clock]
        assert engine.resume("continue").reason == "end"
        back = [engine.reverse("continue").clock for _ in range(3)]
        assert back == clocks[::-1]
        stop = engine.reverse("continue")
        assert (stop.reason, line(stop)) == ("start", 6)
        assert engine.resume("continue").clock == clocks[0]


def test_going_back_restores_arguments_and_ends_as_before() -> None:
    out = np.zeros(8, np.int32)
    with running(SUMS, "sums", (8, 4), np.arange(8, dtype=np.int32) * 10, out, 3) as engine:
        assert engine.start("continue").reason == "end"
        assert out.tolist() == [expected_sum(i) for i in range(8)]
        engine.reverse("step")
        assert not out.any()
        assert engine.resume("continue").reason == "end"
        assert out.tolist() == [expected_sum(i) for i in range(8)]


def test_variables_of_the_module_are_restored_too() -> None:
    source = "global int counter = 5;\nkernel void up(global int *p) {\n    counter += 1;\n    p[0] = counter;\n}\n"
    out = np.zeros(1, np.int32)
    with running(source, "up", (1, 1), out) as engine:
        engine.start("continue")
        engine.reverse("step")
        engine.resume("continue")
        engine.start("continue")
        assert out[0] == 6


def test_what_was_printed_is_not_printed_again() -> None:
    source = ("kernel void talk(void) {\n    printf(\"one\\n\");\n    printf(\"two\\n\");\n    printf(\"three\\n\");\n"
              "}\n")
    texts: list[str] = []
    kernel = cm.build(source).kernel("talk")
    from coopmat.runtime.debugging import launch_of

    engine = Engine(launch_of(kernel, None, 1, 1, (), {}), texts.append)
    engine.start()
    engine.resume("step")
    engine.resume("step")
    assert "".join(texts) == "one\ntwo\n"
    engine.reverse("step")
    assert "".join(texts) == "one\ntwo\n"
    engine.resume("continue")
    assert "".join(texts) == "one\ntwo\nthree\n"


def test_a_watchpoint_on_a_buffer_names_values_line_and_writer() -> None:
    with running() as engine:
        engine.start()
        engine.watch(parse("out[5]"))
        stop = engine.resume("continue")
        assert stop.reason == "watchpoint"
        (change,) = stop.changes
        assert (change.old, change.new) == ("0", str(expected_sum(5)))
        assert change.line is not None
        assert change.line.number == 16
        assert change.writer == "work-item (5, 0, 0)"
        assert engine.resume("continue").reason == "end"


def test_a_watchpoint_on_a_variable_stops_at_each_of_its_values() -> None:
    with running() as engine:
        engine.select((2, 0, 0))
        broken(engine, 8)
        engine.start("continue")
        engine.points.breakpoints.clear()
        engine.watch(parse("sum"))
        seen = []
        while (stop := engine.resume("continue")).reason == "watchpoint":
            seen.append(next(change.new for change in stop.changes))
        assert seen == ["40", "82", "126", "226"]
        back = engine.reverse("continue")
        assert [(change.old, change.new) for change in back.changes] == [("126", "226")]


def test_a_watchpoint_on_local_memory_is_of_one_work_group() -> None:
    source = """\
kernel void share(global int *p) {
    local int s[4];
    s[get_local_id(0)] = get_global_id(0) + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = s[3 - get_local_id(0)];
}
"""
    with running(source, "share", (8, 4), np.zeros(8, np.int32)) as engine:
        engine.select((4, 0, 0))
        engine.start()
        engine.watch(parse("s[2]"))
        (change,) = engine.resume("continue").changes
        assert (change.old, change.new, change.writer) == ("0", "7", "work-item (6, 0, 0)")


@pytest.mark.parametrize(("hits", "ks"), [("3", [2]), ("== 1", [0]), (">= 2", [1, 2, 3, 4]), ("> 3", [3, 4]),
                                          ("<2", [0]), ("<= 2", [0, 1]), ("%2", [1, 3])])
def test_only_some_hits_stop_forwards_and_backwards(hits: str, ks: list[int]) -> None:
    with running(SUMS, "sums", (8, 4), np.arange(8, dtype=np.int32), np.zeros(8, np.int32), 5) as engine:
        broken(engine, 9).stops_at = Hits.parse(hits)
        seen = []
        stop = engine.start("continue")
        while stop.reason != "end":
            seen.append(int(value(engine, "k")))
            stop = engine.resume("continue")
        assert seen == ks
        back = []
        while engine.reverse("continue").reason != "start":
            back.append(int(value(engine, "k")))
        assert back == ks[::-1]


def test_hits_count_from_where_the_point_was_set_or_gone_back_to() -> None:
    with running(SUMS, "sums", (8, 4), np.arange(8, dtype=np.int32), np.zeros(8, np.int32), 5) as engine:
        first = broken(engine, 9, "k == 2 && i == 0")
        engine.start("continue")
        second = Breakpoint(engine.points.next_number(), first.line, stops_at=Hits(">=", 2))
        engine.add(second)
        assert engine.resume("continue").breakpoint is second
        assert (value(engine, "k"), second.hits) == ("4", 2)
        engine.points.delete(second.number)
        engine.reverse("continue")
        engine.add(second)
        assert value(engine, "k") == "2"
        assert engine.reverse("continue").reason == "start"
        assert engine.resume("continue").breakpoint is second
        assert (value(engine, "k"), second.hits) == ("1", 2)


def test_a_message_is_printed_on_each_way_forward_and_stops_nothing() -> None:
    texts: list[str] = []
    engine = engine_of(SUMS, "sums", 8, 4, np.arange(8, dtype=np.int32), np.zeros(8, np.int32), 3, write=texts.append)
    point = broken(engine, 10, "i == 6")
    point.message = Message.parse("{i}: {t}")
    engine.start()
    assert engine.resume("continue").reason == "end"
    assert texts == ["6: 6\n", "6: 7\n", "6: 8\n"]
    stop = engine.reverse("continue")
    assert (stop.reason, len(texts)) == ("start", 3)
    engine.resume("continue")
    assert texts[3:] == texts[:3]


def test_a_watchpoint_with_a_condition_and_hits() -> None:
    with running() as engine:
        engine.select((2, 0, 0))
        engine.start()
        for _ in range(2):
            engine.resume("next")
        point = engine.watch(parse("sum"))
        point.condition = parse("k >= 1")
        stop = engine.resume("continue")
        assert [(change.old, change.new) for change in stop.changes] == [("40", "82")]
        point.condition, point.stops_at = None, Hits(">=", 3)
        stop = engine.resume("continue")
        assert [(change.old, change.new) for change in stop.changes] == [("126", "226")]


def test_an_interrupt_ends_the_way_back() -> None:
    with running() as engine:
        end = engine.start("continue").clock
        engine.points.restart = engine.interrupt  # type: ignore[method-assign]  # it is called as a run begins
        stop = engine.reverse("continue")
        assert stop.reason == "interrupt"
        assert stop.clock < end
        del engine.points.restart  # type: ignore[method-assign]
        assert engine.resume("continue").reason == "end"


def test_an_error_of_the_kernel_leaves_everything_to_be_looked_at() -> None:
    source = """\
int peek(global int *p, int at) {
    return p[at];
}
kernel void over(global int *p) {
    int i = get_global_id(0);
    p[i] = peek(p, i + 1);
}
"""
    with running(source, "over", (8, 4), np.arange(8, dtype=np.int32)) as engine:
        stop = engine.start("continue")
        assert isinstance(stop.error, cm.OutOfBounds)
        assert engine.item == (7, 0, 0)
        assert [one.code.function.name for one in engine.stack() if one.code] == ["peek", "over"]
        assert value(engine, "at") == "8"
        assert value(engine, "p[at - 1]") == "7"
        stop = engine.reverse("step")
        assert (stop.function, line(stop)) == ("peek", 2)


@pytest.mark.parametrize(("global_size", "local_size"), [(32, 8), ((8, 6), (4, 3)), ((4, 4, 6), (2, 4, 3))])
def test_work_items_and_places_in_the_batch_belong_together(global_size: Any, local_size: Any) -> None:
    source = "kernel void here(global int *p) {\n    p[0] = 1;\n}\n"
    with running(source, "here", (global_size, local_size), np.zeros(1, np.int32)) as engine:
        engine.start()
        batch = engine.batch
        assert batch is not None
        items = items_of(batch, batch.existing.expanded)
        assert len(set(items)) == np.prod(global_size)
        for item in items:
            place = place_in(batch, item)
            assert place is not None
            assert item_at(batch, *place) == item


def test_work_items_of_a_second_batch_are_followed() -> None:
    source = "kernel void number(global int *p) {\n    int i = get_global_id(0);\n    p[i] = i;\n}\n"
    count = 16 * 5000
    with running(source, "number", (count, 16), np.zeros(count, np.int32)) as engine:
        engine.select((count - 1, 0, 0))
        broken(engine, 3, item=(count - 1, 0, 0))
        assert engine.start("continue").reason == "breakpoint"
        assert value(engine, "i") == str(count - 1)
