"""What a client shows: threads, scopes, the parts of values, matrices as numpy has them, and the console."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import kernel as sycl_kernel
from tests.kit.dap import Client, Refused, session_of
from tests.kit.dap import Message as Row

PARTS = """\
typedef struct { int x; float2 v; short a[3]; } pair;
constant int three = 3;
kernel __attribute__((intel_reqd_sub_group_size(8))) void parts(global const uint *u, global pair *p, int n) {
    local int shared[16];
    int i = get_local_id(0);
    pair mine = { i, (float2)(i, 0.5f), { 1, 2, 3 } };
    shared[i] = i * three;
    if (i < 8)
        p[get_global_id(0)] = mine;
    else
        mine.x += 1;
    barrier(CLK_LOCAL_MEM_FENCE);
}
"""
GEMM = """
@kernel(sub_group_size=16)
def gemm(item: nd_item[1], A: ptr[half], B: ptr[half], C: ptr[float32]):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, half, use.a, 8, 16, layout.row_major)
    b = joint_matrix(sub_group, half, use.b, 16, 16, layout.row_major)
    c = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_fill(sg, c, 0)
    joint_matrix_load(sg, a, A, 16)
    joint_matrix_load(sg, b, B, 16)
    joint_matrix_mad(sg, c, a, b, c)
    joint_matrix_store(sg, c, C, 16, layout.row_major)
"""


def named(rows: list[Row]) -> dict[str, Row]:
    return {row["name"]: row for row in rows}


def stopped_at(client: Client, line: int, condition: str = "") -> Row:
    client.launch({})
    (source,) = client.ask("loadedSources")["sources"]
    client.ask("setBreakpoints", source=source, breakpoints=[{"line": line, "condition": condition}])
    return client.run()


def parts(size: int = 16) -> Any:
    pairs = np.zeros(32, [("x", np.int32), ("pad", np.int32), ("v", np.float32, 2), ("a", np.int16, 3), ("e", "V2")])
    return session_of(cm.build(PARTS).kernel("parts"), 2 * size, size, np.full(5, 0xffffffff, np.uint32), pairs, 7)


def test_scopes_and_parts() -> None:
    with parts() as client:
        thread = stopped_at(client, 9, "i == 5")["threadId"]
        scopes = client.scopes(thread)
        assert list(scopes) == ["Locals", "Arguments", "Module", "Work-item", "All work-items"]
        assert named(scopes["Module"])["three"]["value"] == "3"
        mine = named(scopes["Locals"])["mine"]
        assert mine["value"] == "{x = 5, v = (5.0, 0.5), a = {1, 2, 3}}"
        members = named(client.variables(mine["variablesReference"]))
        assert list(members) == ["x", "v", "a"]
        assert [row["value"] for row in client.variables(members["v"]["variablesReference"])] == ["5.0", "0.5"]
        (element,) = client.variables(members["a"]["variablesReference"], filter="indexed", start=1, count=1)
        assert (element["name"], element["value"], element["evaluateName"]) == ("[1]", "2", "mine.a[1]")
        assert client.evaluate(element["evaluateName"], thread) == "2"
        arguments = named(scopes["Arguments"])
        assert (arguments["n"]["value"], arguments["u"]["indexedVariables"]) == ("7", 5)
        (number,) = client.variables(arguments["u"]["variablesReference"], start=4, count=9)
        assert (number["value"], number["type"]) == ("4294967295", "uint32")
        assert client.evaluate("u[4]", thread, format={"hex": True}) == "0xffffffff"
        (pair,) = client.variables(arguments["p"]["variablesReference"], start=2, count=1)
        assert named(client.variables(pair["variablesReference"]))["x"]["value"] == "0"
        assert named(scopes["Work-item"])["get_global_id"]["value"] == "(5, 0, 0)"
        everybody = named(scopes["All work-items"])
        assert everybody["n"]["value"] == "7"
        runs = client.variables(everybody["i"]["variablesReference"])
        assert [(row["name"], row["value"]) for row in runs[-2:]] == [("(30, 0, 0)", "14"), ("(31, 0, 0)", "15")]
        client.disconnect()


def test_threads_are_sub_groups() -> None:
    with parts() as client:
        stop = stopped_at(client, 9, "get_global_id(0) == 21")
        threads = client.threads()
        assert [row["name"] for row in threads] == [
            "sub-group 0 of work-group (1, 0, 0), work-item (21, 0, 0)",
            "sub-group 1 of work-group (1, 0, 0), work-item (24, 0, 0)"]
        assert stop["threadId"] == threads[0]["id"]
        other = threads[1]["id"]
        (frame,) = client.stack(other)
        assert (frame["name"], frame["line"]) == ("parts (waits)", 12)  # `else` is executed first
        assert (client.evaluate("i", other), client.evaluate("mine.x", other)) == ("8", "9")
        client.go("next", other)
        assert (client.line(other), client.evaluate("i", other)) == (12, "8")
        assert client.stack(other)[0]["name"] == "parts"
        client.disconnect()


def test_the_console_has_expressions_and_commands() -> None:
    with parts() as client:
        thread = stopped_at(client, 9, "i == 5")["threadId"]
        assert client.evaluate("shared[i] * 2", thread, context="repl") == "30"
        assert client.evaluate("n @all", thread, context="repl") == "(0, 0, 0) to (31, 0, 0): 7"
        assert client.evaluate("/x n @2", context="repl") == "0x00000007"
        assert "lanes 0 to 7" in client.evaluate("info lanes", context="repl")
        assert client.evaluate("memory shared 2", context="repl").endswith(": 0, 3")
        assert client.evaluate("lane 3", context="repl").startswith("work-item (3, 0, 0), parts at")
        assert client.wait_for("stopped")["threadId"] == thread
        assert client.evaluate("i", thread) == "3"
        with pytest.raises(Refused, match="there is no work-item"):
            client.evaluate("lane 99", context="repl")
        targets = client.ask("completions", text="1 + mi", column=7)["targets"]
        assert targets == [{"label": "mine", "start": 4, "length": 2}]
        client.disconnect()


def test_a_matrix_is_rows_as_numpy_has_them() -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) for shape in ((8, 16), (16, 16)))
    kernel = cm.build(sycl_kernel.from_source(GEMM), device="sim:intel_gpu_pvc").kernel("gemm")
    with session_of(kernel, 16, 16, a, b, np.zeros((8, 16), np.float32), device="sim:intel_gpu_pvc") as client:
        thread = stopped_at(client, 12)["threadId"]
        (source,) = client.ask("loadedSources")["sources"]
        assert "path" not in source
        assert client.ask("source", source=source, sourceReference=source["sourceReference"])["content"] == GEMM
        c = named(client.scopes(thread)["Locals"])["c"]
        assert (c["value"], c["indexedVariables"], c["namedVariables"]) == ("8x16 float32 matrix", 8, 2)
        rows = client.variables(c["variablesReference"], filter="indexed")
        product = a.astype(np.float64) @ b.astype(np.float64)
        assert np.array_equal([row["value"].split() for row in rows], product.astype(str))
        cells = client.variables(rows[3]["variablesReference"])
        assert (cells[5]["value"], cells[5]["evaluateName"]) == (str(product[3, 5]), "c[3, 5]")
        assert client.evaluate("c[3, 5]", thread) == str(product[3, 5])
        more = named(client.variables(c["variablesReference"], filter="named"))
        share = client.variables(more["share"]["variablesReference"])
        assert [float(row["value"]) for row in share] == product[:, 0].tolist()
        owners = client.variables(more["owners"]["variablesReference"])
        assert owners[3]["value"].split()[5] == "5.3"
        client.disconnect()
