"""Sessions of a client with ``coopmat debug --dap`` over pipes, and what is wrong with requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from tests.kit.dap import Client, Refused, adapter, session_of

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
LAUNCH = {"program": "sums.cl", "global": 8, "local": "4", "args": ["a.npy", "zeros:int32:8", 3],
          "out": ["1=out.npy"]}
OUT = [sum(2 * (10 * i + k) for k in range(3)) + (100 if i % 2 == 0 else -100) for i in range(8)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sums.cl").write_text(SUMS)
    np.save(tmp_path / "a.npy", np.arange(8, dtype=np.int32) * 10)
    return tmp_path


def sums(n: int = 3) -> Any:
    """A session in this process."""
    return session_of(cm.build(SUMS).kernel("sums"), 8, 4, np.arange(8, dtype=np.int32) * 10, np.zeros(8, np.int32), n)


def file_of(client: Client) -> dict[str, Any]:
    """The only source of a session."""
    (source,) = client.ask("loadedSources")["sources"]
    return dict(source)


def test_a_session_over_pipes(folder: Path) -> None:
    with adapter(folder) as client:
        assert client.initialize()["supportsStepBack"]
        client.launch(LAUNCH)
        (point, later, none) = client.breaks(folder / "sums.cl", {"line": 9, "condition": "i == 2 && k == 1"}, 11, 99)
        assert [point["verified"], later["line"], none["verified"]] == [True, 12, False]
        assert "no code at line 99" in none["message"]
        stop = client.run()
        assert (stop["reason"], stop["hitBreakpointIds"]) == ("breakpoint", [point["id"]])
        thread = stop["threadId"]
        assert client.line(thread) == 9
        assert client.evaluate("a[i] + k", thread) == "21"
        assert client.go("next")["reason"] == "step"
        assert client.go("stepIn")["reason"] == "step"
        assert [(frame["name"], frame["line"]) for frame in client.stack(thread)] == [("twice", 2), ("sums", 10)]
        assert client.evaluate("v", thread) == "21"
        client.go("stepOut")
        assert [(frame["name"], frame["line"]) for frame in client.stack(thread)] == [("sums", 10)]
        client.go("stepBack")
        assert (client.line(thread), client.evaluate("sum", thread)) == (10, "40")  # before the call
        assert [client.go("reverseContinue")["reason"] for _ in range(2)] == ["breakpoint", "entry"]
        assert client.line(thread) == 6
        client.breaks(folder / "sums.cl")
        client.ask("continue", threadId=thread)
        assert client.wait_for("exited") == {"exitCode": 0}
        client.wait_for("terminated")
        client.disconnect()
    assert np.load(folder / "out.npy").tolist() == OUT


def test_the_command_line_has_what_the_request_leaves_out(folder: Path) -> None:
    words = ["sums.cl", "--global", "8", "--local", "4", "--arg", "a.npy", "--arg", "zeros:int32:8", "--arg", "3",
             "-DX=1"]
    with adapter(folder, *words) as client:
        client.initialize(linesStartAt1=False, pathFormat="uri")
        client.launch({"stopOnEntry": True, "args": ["a.npy", "zeros:int32:8", 1], "globl": 3})
        assert "the launch has globl, unknown here; known are program, global," in client.printed("stderr")
        stop = client.run()
        assert stop["reason"] == "entry"
        (frame,) = client.stack(stop["threadId"])
        assert (frame["line"], frame["source"]["path"]) == (5, (folder / "sums.cl").as_uri())
        assert client.evaluate("n", stop["threadId"]) == "1"
        (point,) = client.ask("setBreakpoints", source=frame["source"], breakpoints=[{"line": 15}])["breakpoints"]
        assert (point["verified"], point["line"]) == (True, 15)
        client.disconnect()


@pytest.mark.parametrize(("change", "message"), [
    ({"program": "none.cl"}, "cannot read 'none.cl'"), ({"program": ""}, "'program' is missing"),
    ({"program": 3}, "expected a text as 'program'; found 3"), ({"global": None}, "'global' is missing"),
    ({"global": "8x"}, "takes one to three whole numbers"), ({"global": {}}, "expected one to three whole numbers as"),
    ({"device": "cpu"}, "debugged on simulated devices"), ({"device": "sim:none"}, "no device 'sim:none'"),
    ({"kernel": "other"}, "other"), ({"args": [1]}, "takes 3 arguments"), ({"args": [True]}, "expected a list of"),
    ({"args": ["a.npy", "zeros:int32:8", 1.5]}, "1.5 is not an integer"), ({"options": "-DQ='"}, "closing quotation"),
    ({"options": ["-frob"]}, "-frob"), ({"options": "-Dkernel=3"}, "sums.cl:5"), ({"cwd": "nowhere"}, "cannot work in"),
    ({"local": 3}, "3"), ({"spec": ["x"]}, "expected ID=VALUE"), ({"out": ["0"]}, "expected INDEX=FILE.npy"),
])
def test_a_wrong_launch_is_an_error_with_a_message(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                                   change: dict[str, Any], message: str) -> None:
    from coopmat.command_line.debug import LaunchWords, opener_for

    monkeypatch.chdir(folder)
    opener = opener_for(LaunchWords(Path(), "", None, None, (), (), None, (), (), (), True, None))
    with pytest.raises(cm.Error) as caught:
        opener({**LAUNCH, **change})
    assert message in str(caught.value)


def test_errors_of_a_launch_reach_the_client(folder: Path) -> None:
    (folder / "bad.cl").write_text("kernel void bad(global int *p) {\n    p[0] = q;\n}\n")
    with adapter(folder) as client:
        client.initialize()
        with pytest.raises(Refused, match=r"bad.cl:2:12: error: .*\bq\b"):
            client.launch({**LAUNCH, "program": "bad.cl"})
        with pytest.raises(Refused, match="'threads' comes after launch or attach: there is no kernel yet"):
            client.threads()
        client.launch(LAUNCH)  # another try
        with pytest.raises(Refused, match="there is a launch already"):
            client.launch(LAUNCH)
        client.disconnect()


def test_an_error_of_the_kernel_stops_it_with_the_message(folder: Path) -> None:
    with adapter(folder) as client:
        client.initialize()
        client.launch({**LAUNCH, "args": ["a.npy", "zeros:int32:7", 3]})
        stop = client.run()
        assert (stop["reason"], stop["description"]) == ("exception", "OutOfBounds")
        info = client.ask("exceptionInfo", threadId=stop["threadId"])
        assert (info["exceptionId"], info["breakMode"]) == ("OutOfBounds", "always")
        assert "element 7" in info["description"]
        assert info["description"] in client.printed("stderr")
        assert client.line(stop["threadId"]) == 16
        assert client.evaluate("i", stop["threadId"]) == "7"
        client.go("stepBack")
        with pytest.raises(Refused, match="the kernel has made no error"):
            client.ask("exceptionInfo", threadId=stop["threadId"])
        assert client.go("continue")["reason"] == "exception"
        client.ask("continue", threadId=stop["threadId"])
        assert client.wait_for("exited") == {"exitCode": 1}
        client.disconnect()
    assert not (folder / "out.npy").exists()


def test_errors_may_end_the_session_instead() -> None:
    kernel = cm.build(SUMS).kernel("sums")
    with session_of(kernel, 8, 4, np.zeros(8, np.int32), np.zeros(7, np.int32), 3) as client:
        client.launch({}, "attach")
        client.ask("setExceptionBreakpoints", filters=[])
        client.ask("configurationDone")
        assert client.wait_for("exited") == {"exitCode": 1}
        assert "element 7" in client.printed("stderr")
        client.wait_for("terminated")
        client.disconnect()


def test_points_of_all_kinds() -> None:
    with sums(5) as client:
        client.launch({})
        source = file_of(client)
        wanted = [{"line": 9, "logMessage": "t of {i}: {a[i] + k}", "condition": "i == 4"},
                  {"line": 10, "hitCondition": "% 2", "condition": "i == 3"}, {"line": 10, "condition": "i +"},
                  {"line": 10, "hitCondition": "often"}, {"line": 10, "logMessage": "{"}]
        points = client.ask("setBreakpoints", source=source, breakpoints=wanted)["breakpoints"]
        assert [point["verified"] for point in points] == [True, True, False, False, False]
        assert [point["message"].split(":")[0].split(";")[0] for point in points[2:]] == [
            "expected a value", "which hits stop is a number, or ==, >=, >, <=, <, % and a number, such as >= 5 or % 2",
            "expressions of a message stand in { and }, and {{ is a brace"]
        stop = client.run()
        thread = stop["threadId"]
        assert (stop["hitBreakpointIds"], client.evaluate("k", thread)) == ([points[1]["id"]], "1")
        # An editor sends all of a file's again when one is new: hits go on.
        again = client.ask("setBreakpoints", source=source, breakpoints=[*wanted[:2], {"line": 16}])["breakpoints"]
        assert [point["id"] for point in again[:2]] == [point["id"] for point in points[:2]]
        client.go("continue")
        assert client.evaluate("k", thread) == "3"
        assert client.printed("console").splitlines() == [f"t of 4: {40 + k}" for k in range(4)]
        assert client.output[0]["body"]["line"] == 9
        client.ask("setBreakpoints", source=source, breakpoints=[])
        points = client.ask("setFunctionBreakpoints", breakpoints=[
            {"name": "twice", "condition": "v == 74"}, {"name": "thrice"}])["breakpoints"]
        assert "the functions are" in points[1]["message"]
        stop = client.go("continue")
        thread = stop["threadId"]
        assert (stop["reason"], client.line(thread)) == ("function breakpoint", 2)
        assert client.evaluate("get_global_id(0)", thread) == "7"
        places = client.ask("breakpointLocations", source=source, line=1, endLine=8)["breakpoints"]
        assert [place["line"] for place in places] == [2, 3, 6, 7, 8]
        other = client.ask("setBreakpoints", source={"path": "/other.cl"}, breakpoints=[{"line": 1}])["breakpoints"]
        assert "no code of the kernel comes from '/other.cl'" in other[0]["message"]
        client.disconnect()


def test_watchpoints() -> None:
    with sums() as client:
        client.launch({})
        client.ask("setBreakpoints", source=file_of(client), breakpoints=[{"line": 9, "condition": "i == 5"}])
        thread = client.run()["threadId"]
        (frame,) = client.stack(thread)
        scopes = {scope["name"]: scope for scope in client.ask("scopes", frameId=frame["id"])["scopes"]}
        out = next(row for row in client.variables(scopes["Arguments"]["variablesReference"]) if row["name"] == "out")
        assert out["indexedVariables"] == 8
        element = client.ask("dataBreakpointInfo", variablesReference=out["variablesReference"], name="[5]")
        variable = client.ask("dataBreakpointInfo", name="sum",
                              variablesReference=scopes["Locals"]["variablesReference"])
        expression = client.ask("dataBreakpointInfo", frameId=frame["id"], name="nothing")
        assert (element["description"], element["accessTypes"]) == ("out[5]", ["write"])
        assert expression["dataId"] is None
        assert "no variable 'nothing'" in expression["description"]
        ids = [element["dataId"], variable["dataId"]]
        rows = client.ask("setDataBreakpoints", breakpoints=[
            {"dataId": ids[0]}, {"dataId": ids[1], "condition": "k > 0", "hitCondition": "2"},
            {"dataId": ids[1], "accessType": "read"}, {"dataId": "x"}])["breakpoints"]
        assert [row["verified"] for row in rows] == [True, True, False, False]
        client.ask("setBreakpoints", source=file_of(client), breakpoints=[])
        stop = client.go("continue")
        assert (stop["reason"], stop["hitBreakpointIds"]) == ("data breakpoint", [rows[1]["id"]])
        assert "sum: 202 -> 306, written at " in stop["text"]
        stop = client.go("continue")
        assert f"out[5]: 0 -> {OUT[5]}, written at " in stop["text"]
        assert "by work-item (5, 0, 0)" in stop["text"]
        client.ask("setDataBreakpoints", breakpoints=[])
        client.ask("continue", threadId=thread)
        client.wait_for("terminated")
        client.disconnect()


def test_a_running_kernel_is_paused_and_answers_little() -> None:
    source = "kernel void spin(global int *p) {\n    while (p[0] == 0)\n        p[1] += 1;\n}\n"
    with session_of(cm.build(source).kernel("spin"), 1, 1, np.zeros(2, np.int32)) as client:
        client.launch({})
        client.ask("configurationDone")
        with pytest.raises(Refused, match="the kernel runs: pause it first") as caught:
            client.evaluate("p[1]")
        assert caught.value.short == "notStopped"
        (thread,) = client.threads()
        client.ask("setBreakpoints", source=file_of(client), breakpoints=[{"line": 3, "hitCondition": "2"}])
        stop = client.wait_for("stopped")
        assert stop["reason"] == "breakpoint"
        client.ask("continue", threadId=thread["id"])
        client.ask("pause", threadId=thread["id"])
        stop = client.wait_for("stopped")
        assert stop["reason"] == "pause"
        assert int(client.evaluate("p[1]", stop["threadId"])) > 0
        client.ask("continue", threadId=thread["id"])
        client.ask("terminate")
        client.wait_for("terminated")
        client.disconnect()


def test_a_client_may_leave_while_the_kernel_runs() -> None:
    source = "kernel void spin(global int *p) {\n    while (p[0] == 0)\n        p[1] += 1;\n}\n"
    with session_of(cm.build(source).kernel("spin"), 1, 1, np.zeros(2, np.int32)) as client:
        client.launch({})
        client.ask("configurationDone")
        client.disconnect(terminateDebuggee=True)


def test_at_its_end_a_kernel_can_be_gone_back_into() -> None:
    with sums() as client:
        client.launch({"stopOnExit": True})
        stop = client.run()
        assert (stop["reason"], stop["description"]) == ("exit", "at the kernel's end")
        assert client.stack(stop["threadId"]) == []
        client.go("stepBack")
        assert client.line(stop["threadId"]) == 16
        assert client.go("continue")["reason"] == "exit"
        client.ask("next", threadId=stop["threadId"])
        assert client.wait_for("exited") == {"exitCode": 0}
        client.disconnect()


def test_without_debugging_nothing_stops(folder: Path) -> None:
    with sums() as client:
        client.launch({"noDebug": True, "stopOnEntry": True})
        client.ask("setBreakpoints", source=file_of(client), breakpoints=[{"line": 9}])
        client.ask("configurationDone")
        assert client.wait_for("exited") == {"exitCode": 0}
        assert not [event for event in client.events if event["event"] == "stopped"]
        client.disconnect()


def test_what_the_kernel_prints_is_output() -> None:
    source = "kernel void talk(void) {\n    printf(\"one\\n\");\n    printf(\"two\\n\");\n}\n"
    with session_of(cm.build(source).kernel("talk"), 1, 1) as client:
        client.launch({"stopOnExit": True})
        thread = client.run()["threadId"]
        client.go("stepBack", thread)
        client.go("continue", thread)
        assert client.printed("stdout") == "one\ntwo\n"
        client.disconnect()


@pytest.mark.parametrize(("command", "arguments", "message"), [
    ("frobnicate", {}, "the request 'frobnicate' is not supported"),
    ("setVariable", {"name": "i", "value": "3"}, "the request 'setVariable' is not supported"),
    ("variables", None, "variables: 'variablesReference' is missing: expected a number"),
    ("variables", {"variablesReference": "x"}, "variables: expected a number as 'variablesReference'; found \"x\""),
    ("variables", {"variablesReference": 99}, "there are no variables 99: the kernel has gone on since"),
    ("scopes", {"frameId": 99}, "there is no stack frame 99: the kernel has gone on since"),
    ("stackTrace", {"threadId": 99}, "there is no thread 99; the threads are 1"),
    ("setBreakpoints", {"source": 3}, "setBreakpoints: expected an object as 'source'; found 3"),
    ("setBreakpoints", {"source": {"sourceReference": 1}, "breakpoints": 3}, "expected a list as 'breakpoints'"),
    ("evaluate", {"expression": "nothing"}, "no variable 'nothing' in sums; it has a, out, n, i, sum, k, t"),
    ("evaluate", {"expression": "i +"}, "expected a value"), ("evaluate", {"expression": "i @99"}, "no work-item"),
    ("evaluate", {"expression": "next", "context": "repl"}, "'next' is the editor's"),
    ("evaluate", {"expression": "/q i"}, "numbers are shown with /d, /u, /x; found '/q'"),
    ("source", {"sourceReference": 9}, "no code of the kernel comes from ''"),
    ("dataBreakpointInfo", {"name": "i", "variablesReference": 7}, "there are no variables 7"),
    ("pause", {}, None), ("completions", {"text": "su", "column": 3}, None),
])
def test_wrong_requests_say_what_is_wrong(command: str, arguments: Any, message: str | None) -> None:
    with sums() as client:
        client.launch({"stopOnEntry": True})
        client.run()
        if message is None:
            client.ask(command, arguments)
        else:
            with pytest.raises(Refused) as caught:
                client.ask(command, arguments)
            assert message in str(caught.value)
        client.disconnect()
