"""Rules about universal limits: how much of something every consumer takes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 2.17 Universal Limits"
MOST_MEMBERS = 16_383
MOST_CASES = 16_383
MOST_PARAMETERS = 255
DEEPEST_STRUCTURE = 255
MOST_VARIABLES = 65_535


@rule("limit-members", f"A structure has at most {MOST_MEMBERS} members.", SECTION, Op.TypeStruct)
def limit_members(group: Group) -> Findings:
    yield group.size > MOST_MEMBERS, f"{{op}} {{id}} has more than {MOST_MEMBERS} members"


@rule("limit-cases", f"OpSwitch has at most {MOST_CASES} cases.", SECTION)
def limit_cases(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.Switch):
        cases = (len(item.words) - 2) // (1 + int(item.context or 1))
        if cases > MOST_CASES:
            yield index, f"{{op}} has {cases} cases; at most {MOST_CASES} are allowed"


@rule("limit-parameters", f"A function has at most {MOST_PARAMETERS} parameters.", SECTION, Op.TypeFunction)
def limit_parameters(group: Group) -> Findings:
    yield group.size > MOST_PARAMETERS + 1, f"{{op}} {{id}} has more than {MOST_PARAMETERS} parameters"


@rule("limit-nesting", f"Structures are nested at most {DEEPEST_STRUCTURE} deep.", SECTION)
def limit_nesting(view: ModuleView) -> Findings:
    depth: dict[int, int] = {}
    for index, item in view.of_opcode(Op.TypeStruct, Op.TypeArray, Op.TypeRuntimeArray):
        parts = item.words if item.opcode == Op.TypeStruct else item.words[:1]
        inner = max((depth.get(part, 0) for part in parts), default=0)
        depth[item.result_id or 0] = inner + (item.opcode == Op.TypeStruct)
        if item.opcode == Op.TypeStruct and inner == DEEPEST_STRUCTURE:
            yield index, f"{{op}} {{id}} holds structures nested {inner} deep; at most {DEEPEST_STRUCTURE} levels " \
                         "are allowed"


@rule("limit-variables", f"A module has at most {MOST_VARIABLES} global variables.", SECTION)
def limit_variables(view: ModuleView) -> Iterator[tuple[int, str]]:
    variables = np.array(view.indices(Op.Variable), np.int64)
    variables = variables[view.words[view.word_start[variables]] != StorageClass.Function]
    if len(variables) > MOST_VARIABLES:
        yield int(variables[MOST_VARIABLES]), \
            f"the module has {len(variables)} global variables; at most {MOST_VARIABLES} are allowed"
