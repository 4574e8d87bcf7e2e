"""Rules for functions, entry points, execution modes and linkage (SPIR-V 2.16, 3.3.5, 3.3.9)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import (
    AddressingModel,
    Capability,
    Decoration,
    ExecutionMode,
    ExecutionModel,
    LinkageType,
    MemoryModel,
    Op,
    StorageClass,
)
from coopmat.spirv.instruction import decode_string
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import ModuleView

FUNCTIONS = "SPIR-V 3.3.9 Function Instructions"
MODES = "SPIR-V 3.3.5 Mode-Setting Instructions"
KERNELS = "SPIR-V 2.16.3 Validation Rules for Kernel Capabilities; OpenCL SPIR-V environment"

_PARAMETER_CLASSES = (StorageClass.CrossWorkgroup, StorageClass.Workgroup, StorageClass.UniformConstant)
_NO_PARAMETERS = (Op.TypeBool, Op.TypeVoid, Op.TypeEvent, Op.TypeDeviceEvent, Op.TypeReserveId,
                  Op.TypeCooperativeMatrixKHR, Op.TypeFunction)
_LENGTHS = {ExecutionMode.LocalSize: 3, ExecutionMode.LocalSizeHint: 3, ExecutionMode.SubgroupSize: 1,
            ExecutionMode.VecTypeHint: 1}


def linkage(view: ModuleView) -> dict[int, tuple[int, str, int]]:
    """Id → index, name and linkage type of its LinkageAttributes."""
    found = {}
    for index, item in view.of_opcode(Op.Decorate):
        if item.words[1] == Decoration.LinkageAttributes:
            name = decode_string(item.words, 2)
            if name is not None and name[1] < len(item.words):
                found[item.words[0]] = (index, name[0], item.words[name[1]])
    return found


def imports(view: ModuleView) -> set[int]:
    """The ids with Import linkage."""
    return {identifier for identifier, (_, _, kind) in linkage(view).items() if kind == LinkageType.Import}


@rule("function-parameters", "A function has the result type and the parameters of its function type.", FUNCTIONS)
def function_parameters(view: ModuleView) -> Findings:
    for function in view.flow.functions:
        if view.broken[function.first]:
            continue
        item = view.items[function.first]
        kind = view.items[int(view.defined_by[item.words[1]])]
        if kind.opcode != Op.TypeFunction:
            yield function.first, "the function type of {op} is {def1}"
            continue
        if kind.words[0] != item.type_id:
            yield function.first, f"{{op}} returns {{type}}, but its function type %{kind.result_id} " \
                                  f"returns %{kind.words[0]}"
        if len(kind.words) - 1 != len(function.parameters):
            yield function.first, f"{{op}} has {len(function.parameters)} parameters, but its function type " \
                                  f"%{kind.result_id} has {len(kind.words) - 1}"
            continue
        for number, (index, wanted) in enumerate(zip(function.parameters, kind.words[1:], strict=True)):
            if view.type_id[index] != wanted:
                yield index, f"parameter {number} has type {{type}}; the function type asks for %{wanted}"


@rule("call-arguments", "A call has the callee's result type and an argument for each parameter.", FUNCTIONS)
def call_arguments(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.FunctionCall):
        callee = view.items[int(view.defined_by[item.words[0]])]
        kind = view.items[int(view.defined_by[callee.words[1]])]
        if kind.opcode != Op.TypeFunction:
            continue
        if kind.words[0] != item.type_id:
            yield index, f"{{op}} gives {{type}}, but {{id0}} returns %{kind.words[0]}"
        if len(kind.words) != len(item.words):
            yield index, f"{{op}} has {len(item.words) - 1} arguments; {{id0}} has {len(kind.words) - 1} parameters"
            continue
        for place, (argument, wanted) in enumerate(zip(item.words[1:], kind.words[1:], strict=True), 1):
            if view.type_id[view.defined_by[argument]] != wanted:
                yield index, f"argument {place - 1} of {{op}} has type {{type{place}}}; %{wanted} is needed"


@rule("call-entry-point", "An entry point is not called.", "SPIR-V 2.16.1 Universal Validation Rules")
def call_entry_point(view: ModuleView) -> Findings:
    entry_points = {item.words[1] for _, item in view.of_opcode(Op.EntryPoint)}
    for index, item in view.of_opcode(Op.FunctionCall):
        if item.words[0] in entry_points and Capability.Kernel not in view.declared.all:
            yield index, "{op} calls the entry point {id0}"


@rule("recursion", "No function calls itself, directly or through others.", "OpenCL SPIR-V environment; SPIR-V 2.16.1")
def recursion(view: ModuleView) -> Findings:
    calls: dict[int, list[tuple[int, int]]] = {}
    number_of = {view.items[f.first].result_id: i for i, f in enumerate(view.flow.functions)}
    for index, item in view.of_opcode(Op.FunctionCall):
        callee = number_of.get(item.words[0])
        if callee is not None:
            calls.setdefault(int(view.flow.function_of[index]), []).append((callee, index))
    finished: set[int] = set()
    for start in calls:
        path, on_path = [(start, iter(calls.get(start, ())))], {start}
        while path:
            function, following = path[-1]
            step = next(following, None)
            if step is None:
                finished.add(function)
                on_path.discard(function)
                path.pop()
            elif step[0] in on_path:
                yield step[1], "{op} calls {id0} from within it: recursion is not possible"
            elif step[0] not in finished:
                on_path.add(step[0])
                path.append((step[0], iter(calls.get(step[0], ()))))


@rule("entry-point-function", "An entry point is a function with a body, named once per execution model.", MODES)
def entry_point_function(view: ModuleView) -> Findings:
    names: dict[tuple[int, str], int] = {}
    imported = imports(view)
    for index, item in view.of_opcode(Op.EntryPoint):
        model, function = item.words[:2]
        name = str(item.operands[2].value)
        if names.setdefault((model, name), index) != index:
            yield index, f"there is another entry point '{name}' of this execution model"
        if function in imported:
            yield index, "the entry point {id1} has Import linkage"
        kind = view.types(np.array([view.type_id[view.defined_by[function]]]))
        if not bool(kind.is_kind(Op.TypeVoid)[0]):
            yield index, f"the entry point '{name}' must return void"


@rule("entry-point-interface", "The interface of an entry point is global variables, each once.", MODES)
def entry_point_interface(view: ModuleView) -> Findings:
    version = view.module.version
    for index, item in view.of_opcode(Op.EntryPoint):
        interface = [int(operand.value) for operand in item.operands[3:]]
        for identifier in interface:
            variable = view.items[int(view.defined_by[identifier])]
            if variable.opcode not in (Op.Variable, Op.UntypedVariableKHR):
                yield index, f"the interface of {{op}} names %{identifier}, which is no variable"
            elif version < 0x10400 and variable.words[0] not in (StorageClass.Input, StorageClass.Output):
                yield index, f"the interface of {{op}} names %{identifier}; before SPIR-V 1.4 it holds " \
                             "Input and Output variables only"
        if len(set(interface)) != len(interface) and version >= 0x10400:
            yield index, "the interface of {op} names a variable twice"


@rule("entry-point-missing", "A module without the capability Linkage has an entry point.",
      "SPIR-V 2.16.1 Universal Validation Rules")
def entry_point_missing(view: ModuleView) -> Findings:
    if Capability.Linkage not in view.declared.all and not view.indices(Op.EntryPoint):
        yield None, "the module has no entry point; without one it needs the capability Linkage"


@rule("execution-mode-target", "Execution modes are set on entry points, with the numbers that they need.", MODES)
def execution_mode_target(view: ModuleView) -> Findings:
    models = {item.words[1]: item.words[0] for _, item in view.of_opcode(Op.EntryPoint)}
    for index, item in view.of_opcode(Op.ExecutionMode, Op.ExecutionModeId):
        function, mode, *rest = item.words
        if function not in models:
            yield index, "{op} is for entry points; {id0} is none"
        if mode in _LENGTHS and len(rest) != _LENGTHS[mode]:  # type: ignore[index]
            yield index, f"{{op}} has {len(rest)} numbers; {_LENGTHS[mode]} are needed"  # type: ignore[index]
        if mode in (ExecutionMode.LocalSize, ExecutionMode.SubgroupSize) and 0 in rest:
            yield index, "a size of {op} is 0: at least 1 is needed"


@rule("kernel-parameters", "A kernel's parameters are numbers, structures, and pointers to global, local or constant "
      "memory.", KERNELS)
def kernel_parameters(view: ModuleView) -> Findings:
    kernels = {item.words[1] for _, item in view.of_opcode(Op.EntryPoint) if item.words[0] == ExecutionModel.Kernel}
    for function in view.flow.functions:
        if view.result_id[function.first] not in kernels or not function.parameters:
            continue
        indices = np.array(function.parameters, np.int64)
        kinds = view.types(view.type_id[indices])
        pointers = kinds.is_kind(Op.TypePointer, Op.TypeUntypedPointerKHR)
        yield indices[pointers & ~np.isin(kinds.storage, _PARAMETER_CLASSES) & ~_by_value(kinds)], \
            "a kernel's pointer points to CrossWorkgroup, Workgroup or UniformConstant memory, not {type}"
        yield indices[kinds.is_kind(*_NO_PARAMETERS)], "a kernel cannot have a parameter of type {type}"


def _by_value(kinds: object) -> np.ndarray:
    """Pointers to structures in Function storage: structures passed by value."""
    from coopmat.spirv.validate.types import Types

    assert isinstance(kinds, Types)
    return (kinds.storage == StorageClass.Function) & kinds.element.is_kind(Op.TypeStruct)


@rule("memory-model-fits", "Addressing and memory model are ones that the module's kind has.", MODES, Op.MemoryModel)
def memory_model_fits(group: Group) -> Findings:
    declared = group.view.declared.all
    if Capability.Kernel in declared and Capability.Shader not in declared:
        yield ~np.isin(group.word(0), (AddressingModel.Physical32, AddressingModel.Physical64)), \
            "a kernel module has the addressing model Physical32 or Physical64"
        yield ~np.isin(group.word(1), (MemoryModel.OpenCL, MemoryModel.VulkanKHR)), \
            "a kernel module has the memory model OpenCL"


@rule("linkage-target", "Linkage is for functions and global variables; an import has no body or initialiser.",
      "SPIR-V 2.16.1; 3.2.20 Decoration, LinkageAttributes")
def linkage_target(view: ModuleView) -> Findings:
    flow = view.flow
    with_body = {int(view.result_id[f.first]) for f in flow.functions if f.blocks}
    exported: dict[str, int] = {}
    for identifier, (index, name, kind) in linkage(view).items():
        target = view.items[int(view.defined_by[identifier])]
        if target.opcode not in (Op.Function, Op.Variable):
            yield index, f"linkage is for functions and global variables; %{identifier} is {target.name}"
        elif kind == LinkageType.Import and identifier in with_body:
            yield index, f"the function '{name}' is imported, but has a body"
        elif kind == LinkageType.Import and target.opcode == Op.Variable and len(target.words) > 1:
            yield index, f"the variable '{name}' is imported, but has an initialiser"
        if kind == LinkageType.Export and exported.setdefault(name, index) != index:
            yield index, f"the module exports '{name}' twice"
