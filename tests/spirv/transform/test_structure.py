"""Structured control flow: whatever the graph, the same happens, work-items meet where they met before, and what comes
out keeps the rules for shaders, ours and SPIRV-Tools'."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from coopmat.diagnostics import Error
from coopmat.spirv import Module
from coopmat.spirv.analysis import control_flow
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Function
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.structure import unstructured
from tests.kit.cases import CASES, copies
from tests.kit.fuzz import generator, kernels_for_targets, random_graphs, targets, traced_graphs
from tests.kit.fuzz.executions import attempt, same, simulate
from tests.kit.fuzz.traced_graphs import Edges
from tests.kit.oracles import clang_modules

RNG = np.random.default_rng(7)


def structured(module: Module, *before: str) -> Module:
    """The module after the pass: valid, and structured."""
    changed, _ = passes.transform(module, passes.chosen([*before, "structure"]))
    assert [found for found in changed.validate() if found.severity == "error"] == []
    assert not unstructured(changed)
    if shutil.which("spirv-val") is not None:
        for function in changed.functions:
            found = subprocess.run(["spirv-val", "--target-env", "spv1.6", "-"], capture_output=True, check=False,
                                   input=skeleton(function).to_bytes())
            assert found.returncode == 0, found.stdout + found.stderr
    return changed


SHADER = """\
OpCapability Shader
OpCapability Int64
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %k "k"
OpExecutionMode %k LocalSize 1 1 1
%void = OpTypeVoid
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%yes = OpConstantTrue %bool
%zero = OpConstant %u32 0
%signature = OpTypeFunction %void
%k = OpFunction %void None %signature
"""


def skeleton(function: Function) -> Module:
    """The control flow of a function as a shader, for validators of shaders."""
    lines = []
    for block in function.blocks:
        lines.append(f"%b{block.label} = OpLabel")
        lines += [_merge(row) for row in block.instructions[-2:-1] if row.opcode in (Op.LoopMerge, Op.SelectionMerge)]
        labels = [f"%b{label}" for label in control_flow.targets(block)]
        if block.terminator.opcode == Op.Switch:
            cases = " ".join(f"{number} {label}" for number, label in enumerate(labels[1:]))
            lines.append(f"OpSwitch %zero {labels[0]} {cases}")
        elif len(labels) == 2:
            lines.append(f"OpBranchConditional %yes {labels[0]} {labels[1]}")
        else:
            lines.append(f"OpBranch {labels[0]}" if labels else "OpReturn")
    return Module.from_text("\n".join([SHADER, *lines, "OpFunctionEnd"]) + "\n")


def _merge(row: Instruction) -> str:
    count = 2 if row.opcode == Op.LoopMerge else 1
    return f"{row.name} {' '.join(f'%b{label}' for label in row.words[:count])} None"


# --- any graph ------------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    count = draw(st.integers(1, 14))
    edges = [draw(st.lists(st.integers(0, count - 1), max_size=draw(st.sampled_from([1, 2, 2, 2, 4]))))
             for _ in range(count)]
    return edges, draw(st.lists(st.integers(0, count - 1), max_size=2))


def check_traces(edges: Edges, dead: list[int] | None = None, tries: int = 4) -> Module:
    module = traced_graphs.module(edges, dead or [])
    changed = structured(module)
    for seed in range(tries):
        decisions = np.random.default_rng(seed).integers(0, 12, 60).tolist()
        assert traced_graphs.trace(changed, decisions) == traced_graphs.trace(module, decisions)
    return changed


@settings(max_examples=60, deadline=None, derandomize=True)
@given(graphs())
def test_any_graph(graph: tuple[list[list[int]], list[int]]) -> None:
    check_traces(*graph)


@pytest.mark.slow
@settings(max_examples=4000, deadline=None)
@given(graphs())
def test_any_graph_long(graph: tuple[list[list[int]], list[int]]) -> None:
    check_traces(*graph)


FORMS = {
    "a loop with two entries": [[1, 2], [2, 3], [1], []],
    "a loop left in three ways": [[1], [2, 5], [3, 6], [1, 4], [7], [7], [7], []],
    "returns within loops": [[1], [2, 3], [], [1, 4], [4, 1, 5], []],
    "a loop without end": [[1], [2, 1], [1]],
    "a switch into a loop": [[1, 2, 3, 4], [2], [3], [4], [1, 5], []],
    "cases that go on with each other": [[1, 2, 3, 5], [2], [3, 1], [2, 4], [5], []],
    "loops that share a head": [[1], [2, 4], [1, 3], [1, 4], []],
    "a loop within a loop, both left from the inside": [[1], [2], [3, 5], [2, 4], [1, 6], [6], []],
    "one block": [[0, 0]],
    "one block, left": [[0, 1], []],
    "nothing": [[]],
    "blocks that nobody reaches": [[1], [], [1, 2], [2]],
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    check_traces(FORMS[name], [2], tries=20)


def test_growth_is_bounded() -> None:
    """Each block is written once, whatever the graph: a complete one has the most ways."""
    for count in (8, 24):
        changed = check_traces([list(range(count)) for _ in range(count)])
        stores = [row for row in changed.instructions if row.opcode == Op.Store]
        assert len(stores) == count


def test_long_and_deep_graphs() -> None:
    chain = [[number + 1, 300] for number in range(300)] + [[]]
    nested = [[number + 1, 400 - number] for number in range(200)] + [[number + 1] for number in range(200, 400)] + [[]]
    for edges in (chain, nested):
        check_traces(edges, tries=1)
    loops = [[number + 1] for number in range(150)] + [[number + 1, 150 - number] for number in range(150)] + [[]]
    check_traces(loops[:150] + [[151, 149]] + [[number + 1, 299 - number] for number in range(151, 299)] + [[300], []],
                 tries=1)
    with pytest.raises(Error, match="loops are nested more than 200 deep"):
        structured(traced_graphs.module([[n + 1] for n in range(250)] + [[n + 1, 500 - n] for n in range(250, 500)]
                                        + [[]]))


# --- kernels ------------------------------------------------------------------------------


def test_what_is_structured_stays() -> None:
    module = cm.build("kernel void f(global int *p, int n) { for (int i = 0; i < n; ++i) { if (p[i] > 3) continue; "
                      "if (p[i] < 0) break; switch (i) { case 0: p[i] = 1; break; case 1: p[i] = 2; } } }").module
    assert passes.transform(module, passes.chosen(["structure"]))[0] is module


def test_lines_stay_with_their_instructions() -> None:
    module = cm.build(
        "kernel void f(global int *p, int n) {\nagain:\np[0] += 1;\nif (p[0] < n) goto again;\np[1] = 2;\n}").module
    changed = structured(module)

    def lines(one: Module) -> list[int]:
        found, line = [], 0
        for row in one.instructions:
            line = row.words[1] if row.opcode == Op.Line else line
            if row.opcode == Op.Store and one.definition(row.words[0]).opcode != Op.Variable:
                found.append(line)
        return found

    assert unstructured(module)
    assert lines(changed) == lines(module) == [3, 5]


def test_kernels_with_goto(long_form: bool) -> None:
    for case in CASES if long_form else [one for one in CASES if one.source.stem == "control"]:
        module = structured(cm.build(case.source, case.options).module)
        arguments = case.arguments(np.random.default_rng(20))
        expected = case.expected(copies(arguments))
        case.run(cm.build(module), cm.device("sim:generic"), arguments)
        for index, result in expected.items():
            np.testing.assert_array_equal(arguments[index], result, err_msg=case.name)


BARRIER = """
kernel void f(global int *p, local int *s) {
    const int id = get_local_id(0);
    int turns = 0;
again:
    s[id] = p[id];
    if (id & 1)
        if (id & 2) goto odd; else goto even;
    s[id] += 1;
even:
    s[id] += 10;
odd:
    barrier(CLK_LOCAL_MEM_FENCE);
    p[id] += s[(id + 1) % get_local_size(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (++turns < 3) goto again;
}
"""


def test_work_items_still_meet_at_barriers() -> None:
    """The simulator refuses a barrier that part of a work-group reaches."""
    results = []
    for module in (cm.build(BARRIER).module, structured(cm.build(BARRIER).module)):
        data = np.arange(32, dtype=np.int32)
        cm.Queue(cm.device("sim:generic")).enqueue(cm.build(module).kernel("f"), 32, 32, data, cm.local(128)).wait()
        results.append(data)
    np.testing.assert_array_equal(*results)


def check_graph(seed: int) -> None:
    """Random graphs with operations of sub-groups: it matters who is where together."""
    graph = random_graphs.generate(seed)
    module = structured(Module.from_bytes(graph.spirv))
    expected = targets.on_device(graph.spirv, graph, "sim:generic")
    found = targets.on_device(module.to_bytes(), graph, "sim:generic")
    assert not isinstance(expected, str)
    assert same(found, expected), (seed, found)


def check_optimised(seed: int) -> None:
    """What LLVM's optimiser makes of a kernel."""
    kernel = kernels_for_targets.generate(seed)
    program = cm.build(kernel.source)
    module = structured(program.optimized(1 + seed % 3).module)
    assert same(targets.on_device(module.to_bytes(), kernel, "sim:generic"),
                targets.on_device(program.spirv, kernel, "sim:generic")), seed


def test_random_kernels() -> None:
    for seed in range(500, 512):
        check_graph(seed)
    for seed in range(60, 63):
        check_optimised(seed)


@pytest.mark.slow
def test_random_kernels_long() -> None:
    for seed in range(4000, 4300):
        check_graph(seed)
        if seed % 3 == 0:
            check_optimised(seed)


@pytest.mark.oracle("clang")
def test_modules_of_clang(tmp_path: Path, long_form: bool) -> None:
    count = 0
    for seed in range(104, 150 if long_form else 106):
        kernel = generator.generate(seed)
        spirv = clang_modules.compile_to_spirv(clang_modules.plain(kernel.source), "-O2", tmp_path)
        if spirv is None or any(found.severity == "error" for found in Module.from_bytes(spirv).validate()):
            continue
        expected = attempt(lambda k=kernel, m=spirv: simulate(cm.build(m), k))  # type: ignore[misc]
        if not isinstance(expected, str):
            module = structured(cm.build(spirv).module)
            assert same(attempt(lambda k=kernel, m=module: simulate(cm.build(m), k)), expected), seed  # type: ignore[misc]
            count += 1
    assert count
