"""Work-item and sub-group queries (OpenCL C 6.15.1 and 6.15.19), each a SPIR-V BuiltIn variable."""

from __future__ import annotations

from coopmat.opencl.builtins.patterns import Build, BuiltinCall, Row
from coopmat.tree.nodes import Expression, WorkItemQuery


def of_dimension(builtin: str, out_of_range: int) -> Build:
    """A query of one dimension, with the value for a dimension that the launch does not have."""
    def build(call: BuiltinCall) -> Expression:
        return WorkItemQuery(call.result, call.location, builtin, call.arguments[0], out_of_range)
    return build


def scalar(builtin: str) -> Build:
    """A query without arguments."""
    return lambda call: WorkItemQuery(call.result, call.location, builtin)


_DIMENSIONED = {
    "get_global_size": ("GlobalSize", 1),
    "get_global_id": ("GlobalInvocationId", 0),
    "get_local_size": ("WorkgroupSize", 1),
    "get_enqueued_local_size": ("EnqueuedWorkgroupSize", 1),
    "get_local_id": ("LocalInvocationId", 0),
    "get_num_groups": ("NumWorkgroups", 1),
    "get_group_id": ("WorkgroupId", 0),
    "get_global_offset": ("GlobalOffset", 0),
}
_SIZES = {
    "get_global_linear_id": "GlobalLinearId",
    "get_local_linear_id": "LocalInvocationIndex",
}
_NUMBERS = {
    "get_work_dim": "WorkDim",
    "get_sub_group_size": "SubgroupSize",
    "get_max_sub_group_size": "SubgroupMaxSize",
    "get_num_sub_groups": "NumSubgroups",
    "get_enqueued_num_sub_groups": "NumEnqueuedSubgroups",
    "get_sub_group_id": "SubgroupId",
    "get_sub_group_local_id": "SubgroupLocalInvocationId",
}

ROWS = (
    *(Row(name, "size_t(uint)", of_dimension(*query)) for name, query in _DIMENSIONED.items()),
    *(Row(name, "size_t()", scalar(builtin)) for name, builtin in _SIZES.items()),
    *(Row(name, "uint()", scalar(builtin)) for name, builtin in _NUMBERS.items()),
)
