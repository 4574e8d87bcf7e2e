"""Rules for functions, calls and linkage (SPIR-V 2.16.1, 3.3.9)."""

from __future__ import annotations

from coopmat.spirv.analysis.callees import CALLING, callees_of
from coopmat.spirv.grammar import FunctionControl, LinkageType, Op, StorageClass
from coopmat.spirv.validate.entry_points import EntryPoint
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.9 Function Instructions"
UNIVERSAL = "SPIR-V 2.16.1 Universal Validation Rules"


@rule("function-parameters", "A function has the result type and the parameters of its function type.", SECTION)
def function_parameters(view: ModuleView) -> Findings:
    for function in view.flow.functions:
        if view.broken[function.first]:
            continue
        item = view.items[function.first]
        kind = view.definition(item.words[1])
        if kind.opcode != Op.TypeFunction:
            yield function.first, "the function type of {op} is {def1}"
            continue
        if kind.words[0] != item.type_id:
            yield function.first, f"{{op}} returns {{type}}, but its function type {{named{kind.result_id}}} " \
                                  f"returns {{named{kind.words[0]}}}"
        if len(kind.words) - 1 != len(function.parameters):
            yield function.first, f"{{op}} has {len(function.parameters)} parameters, but its function type " \
                                  f"{{named{kind.result_id}}} has {len(kind.words) - 1}"
            continue
        for number, (index, wanted) in enumerate(zip(function.parameters, kind.words[1:], strict=True)):
            if view.type_id[index] != wanted:
                yield index, f"parameter {number} has type {{type}}; the function type asks for {{named{wanted}}}"


@rule("function-control", "A function is not both Inline and DontInline.", "SPIR-V 3.2.23 Function Control",
      Op.Function)
def function_control(group: Group) -> Findings:
    both = int(FunctionControl.Inline | FunctionControl.DontInline)
    yield group.word(0) & both == both, "{op} is both Inline and DontInline, which exclude each other"


@rule("call-arguments", "A call has the callee's result type and an argument for each parameter.", SECTION)
def call_arguments(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.FunctionCall):
        callee = view.definition(item.words[0])
        kind = view.definition(callee.words[1])
        if kind.opcode != Op.TypeFunction:
            continue
        if kind.words[0] != item.type_id:
            yield index, f"{{op}} gives {{type}}, but {{id0}} returns {{named{kind.words[0]}}}"
        if len(kind.words) != len(item.words):
            yield index, f"{{op}} has {len(item.words) - 1} arguments; {{id0}} has {len(kind.words) - 1} parameters"
            continue
        for place, (argument, wanted) in enumerate(zip(item.words[1:], kind.words[1:], strict=True), 1):
            if view.type_id[view.defined_by[argument]] != wanted:
                yield index, f"argument {place - 1} of {{op}} has type {{type{place}}}; {{named{wanted}}} is needed"


@rule("call-entry-point", "An entry point is not called.", UNIVERSAL)
def call_entry_point(view: ModuleView) -> Findings:
    entry_points = {entry.function for entry in view.entry_points}
    for index, item in view.of_opcode(*CALLING):
        for callee in entry_points.intersection(callees_of(item)):
            yield index, f"{{op}} calls the entry point {{named{callee}}}: put its body into a function that both call"


def callees(view: ModuleView) -> dict[int, list[tuple[int, int]]]:
    """Number of each function that calls others → number of the callee and index of the call."""
    number_of = {view.items[f.first].result_id: i for i, f in enumerate(view.flow.functions)}
    calls: dict[int, list[tuple[int, int]]] = {}
    for index, item in view.of_opcode(*CALLING):
        for identifier in callees_of(item):
            if identifier in number_of:
                calls.setdefault(int(view.flow.function_of[index]), []).append((number_of[identifier], index))
    return calls


def reached(view: ModuleView, start: int) -> set[int]:
    """A function and all that it calls, directly or through others, by number."""
    calls = view.derived(callees)
    seen, waiting = {start}, [start]
    while waiting:
        for callee, _ in calls.get(waiting.pop(), ()):
            if callee not in seen:
                seen.add(callee)
                waiting.append(callee)
    return seen


def reaching(view: ModuleView) -> dict[int, list[EntryPoint]]:
    """For each function, by number, the entry points that reach it."""
    found: dict[int, list[EntryPoint]] = {}
    for entry in view.entry_points:
        for function in reached(view, int(view.flow.function_of[view.defined_by[entry.function]])):
            found.setdefault(function, []).append(entry)
    return found


@rule("recursion", "No function that an entry point reaches calls itself, directly or through others.", UNIVERSAL)
def recursion(view: ModuleView) -> Findings:
    calls = view.derived(callees)
    number_of = {view.items[f.first].result_id: i for i, f in enumerate(view.flow.functions)}
    finished: set[int] = set()
    for start in dict.fromkeys(number_of.get(entry.function, -1) for entry in view.entry_points):
        path, on_path = [(start, iter(calls.get(start, ())))], {start}
        while path:
            function, following = path[-1]
            step = next(following, None)
            if step is None:
                finished.add(function)
                on_path.discard(function)
                path.pop()
            elif step[0] in on_path:
                callee = view.items[view.flow.functions[step[0]].first].result_id
                yield step[1], f"{{op}} calls {{named{callee}}} from within it: recursion is not possible"
            elif step[0] not in finished:
                on_path.add(step[0])
                path.append((step[0], iter(calls.get(step[0], ()))))


@rule("linkage-target", "Linkage is for functions and global variables; an import has no body or initialiser.",
      f"{UNIVERSAL}; 3.2.19 Decoration, LinkageAttributes")
def linkage_target(view: ModuleView) -> Findings:
    flow = view.flow
    with_body = {int(view.result_id[f.first]) for f in flow.functions if f.blocks}
    exported: dict[str, int] = {}
    for identifier, (index, name, kind) in view.annotations.linkage.items():
        target = view.definition(identifier)
        if target.opcode not in (Op.Function, Op.Variable, Op.UntypedVariableKHR):
            yield index, f"linkage is for functions and global variables; {{named{identifier}}} is {target.name}"
        elif target.opcode == Op.Variable and target.words[0] == StorageClass.Function:
            yield index, f"linkage is for functions and global variables; {{named{identifier}}} is a variable of a " \
                         "function"
        elif kind == LinkageType.Import and identifier in with_body:
            yield index, f"the function '{name}' is imported, but has a body"
        elif kind == LinkageType.Import and target.opcode == Op.Variable and len(target.words) > 1:
            yield index, f"the variable '{name}' is imported, but has an initialiser"
        elif kind != LinkageType.Import and target.opcode == Op.Function and identifier not in with_body:
            yield index, f"the function '{name}' is exported, but has no body"
        if kind == LinkageType.Export and exported.setdefault(name, index) != index:
            yield index, f"the module exports '{name}' twice"


@rule("linkage-entry-point", "An entry point has no linkage.", f"{UNIVERSAL}; 3.2.19 Decoration, LinkageAttributes")
def linkage_entry_point(view: ModuleView) -> Findings:
    linkage = view.annotations.linkage
    for entry in view.entry_points:
        if entry.function in linkage:
            yield linkage[entry.function].at, f"{{named{entry.function}}} is the entry point '{entry.name}', which " \
                                              "cannot be imported or exported"
