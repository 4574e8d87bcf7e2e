"""Cases of the universal limits."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, module, valid

MAIN = "%main_type = OpTypeFunction %void\n"
BODY = "%main = OpFunction %void None %main_type\n%entry = OpLabel\nOpReturn\nOpFunctionEnd"


def declared(text: str) -> str:
    """A module with declarations and an empty kernel."""
    return module(BODY, declarations=f"{text}\n{MAIN}")


def members(count: int) -> str:
    return declared(f"%s = OpTypeStruct {' '.join(['%uint'] * count)}")


def nested(depth: int) -> str:
    inner = "\n".join(f"%s{level} = OpTypeStruct %s{level - 1}" for level in range(1, depth))
    return declared(f"%s0 = OpTypeStruct %uint\n{inner}")


def cases(count: int) -> str:
    return kernel(f"OpSelectionMerge %end None\nOpSwitch %uint_1 %end {' '.join(f'{i} %end' for i in range(count))}\n"
                  "%end = OpLabel")


def parameters(count: int) -> str:
    return declared(f"%f = OpTypeFunction %void {' '.join(['%uint'] * count)}")


def variables(count: int) -> str:
    return declared("\n".join(f"%v{i} = OpVariable %ptr_global_uint CrossWorkgroup" for i in range(count)))


CASES = [
    valid("as many members as are allowed", members(16_383)),
    broken("limit-members", "a member too many", members(16_384)),
    valid("structures as deep as is allowed", nested(255)),
    broken("limit-nesting", "structures nested too deeply", nested(256)),
    valid("as many cases as are allowed", cases(16_383)),
    broken("limit-cases", "a case too many", cases(16_384)),
    valid("as many parameters as are allowed", parameters(255)),
    broken("limit-parameters", "a parameter too many", parameters(256)),
    broken("limit-variables", "too many global variables", variables(65_536)),
]
