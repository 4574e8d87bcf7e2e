"""joint_matrix in Python: the names of sycl_ext_oneapi_matrix, for ``from coopmat.sycl import *``.

    from coopmat.sycl import *

    @kernel(sub_group_size=16)
    def gemm(item: nd_item[2], A: ptr[int8], B: ptr[int8], C: ptr[int32], N: int32, K: int32): ...

    queue("sim:intel_gpu_pvc").parallel_for(nd_range((M // 8, N), (1, 16)), gemm, A, B, C, N, K).wait()

docs/joint-matrix.md describes the language.
"""

from coopmat.devices import Combination as combination
from coopmat.diagnostics import Error as exception
from coopmat.diagnostics import errc
from coopmat.formats import matrix_type
from coopmat.runtime import Device, Event, Queue
from coopmat.runtime import device as device
from coopmat.runtime.element_types import (
    bfloat16,
    boolean,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    precision,
    size_t,
    uint8,
    uint16,
    uint32,
    uint64,
)
from coopmat.runtime.information import architecture, aspect, info
from coopmat.runtime.memory import (
    aligned_alloc_device,
    aligned_alloc_host,
    aligned_alloc_shared,
    free,
    malloc_device,
    malloc_host,
    malloc_shared,
)
from coopmat.runtime.ranges import nd_range
from coopmat.sycl.atomic_functions import atomic_fence, atomic_ref
from coopmat.sycl.enumerations import (
    access,
    cache_level,
    cache_mode,
    layout,
    memory_order,
    memory_scope,
    use,
)
from coopmat.sycl.enumerations import fence_space as fence_space
from coopmat.sycl.group_functions import (
    all_of_group,
    any_of_group,
    bit_and,
    bit_or,
    bit_xor,
    exclusive_scan_over_group,
    group_barrier,
    group_broadcast,
    inclusive_scan_over_group,
    logical_and,
    logical_or,
    maximum,
    minimum,
    multiplies,
    none_of_group,
    permute_group_by_xor,
    plus,
    reduce_over_group,
    select_from_group,
    shift_group_left,
    shift_group_right,
)
from coopmat.sycl.joint_matrices import joint_matrix
from coopmat.sycl.kernel import kernel
from coopmat.sycl.local_memory import group_local_memory_for_overwrite
from coopmat.sycl.math_functions import *  # noqa: F403
from coopmat.sycl.math_functions import __all__ as _math_functions
from coopmat.sycl.math_functions import abs as abs
from coopmat.sycl.math_functions import max as max
from coopmat.sycl.math_functions import min as min
from coopmat.sycl.math_functions import pow as pow
from coopmat.sycl.math_functions import round as round
from coopmat.sycl.matrix_functions import (
    joint_matrix_apply,
    joint_matrix_copy,
    joint_matrix_fill,
    joint_matrix_fill_checked,
    joint_matrix_load,
    joint_matrix_load_checked,
    joint_matrix_mad,
    joint_matrix_prefetch,
    joint_matrix_reduce,
    joint_matrix_store,
    joint_matrix_store_checked,
    joint_matrix_transpose,
    round_to_tf32,
)
from coopmat.sycl.pointer_functions import address_space_cast, bit_cast, reinterpret_cast
from coopmat.sycl.pointers import annotated_ptr, const, global_ptr, local_accessor, local_ptr, multi_ptr, ptr
from coopmat.sycl.printing import printf
from coopmat.sycl.properties import (
    cache_control,
    prefetch_hint_L1,
    prefetch_hint_L2,
    prefetch_hint_L3,
    prefetch_hint_L4,
    properties,
    read_hint,
    write_hint,
)
from coopmat.sycl.queries import matrix_params
from coopmat.sycl.ranges import group, nd_item, sub_group, work_group
from coopmat.sycl.selectors import (
    accelerator_selector_v,
    aspect_selector,
    cpu_selector_v,
    default_selector_v,
    gpu_selector_v,
)
from coopmat.sycl.vectors import *  # noqa: F403
from coopmat.sycl.vectors import __all__ as _vectors

queue = Queue
event = Event
SYCL_EXT_ONEAPI_MATRIX = 1  # section "Feature test macro"

__all__ = [
    "SYCL_EXT_ONEAPI_MATRIX",
    "Device", "accelerator_selector_v", "access", "address_space_cast", "aligned_alloc_device", "aligned_alloc_host",
    "aligned_alloc_shared", "all_of_group", "annotated_ptr", "any_of_group", "architecture", "aspect",
    "aspect_selector", "atomic_fence", "atomic_ref", "bfloat16", "bit_and", "bit_cast", "bit_or", "bit_xor", "boolean",
    "cache_control", "cache_level", "cache_mode", "combination", "const", "cpu_selector_v", "default_selector_v",
    "device", "errc", "event", "exception", "exclusive_scan_over_group", "fence_space", "float32", "float64", "free",
    "global_ptr", "gpu_selector_v", "group", "group_barrier", "group_broadcast", "group_local_memory_for_overwrite",
    "half", "inclusive_scan_over_group", "info", "int8", "int16", "int32", "int64", "joint_matrix",
    "joint_matrix_apply", "joint_matrix_copy", "joint_matrix_fill", "joint_matrix_fill_checked", "joint_matrix_load",
    "joint_matrix_load_checked", "joint_matrix_mad", "joint_matrix_prefetch", "joint_matrix_reduce",
    "joint_matrix_store", "joint_matrix_store_checked", "joint_matrix_transpose", "kernel", "layout", "local_accessor",
    "local_ptr", "logical_and", "logical_or",
    "malloc_device", "malloc_host", "malloc_shared", "matrix_params", "matrix_type", "maximum", "memory_order",
    "memory_scope", "minimum", "multi_ptr", "multiplies", "nd_item", "nd_range", "none_of_group",
    "permute_group_by_xor", "plus", "precision", "prefetch_hint_L1", "prefetch_hint_L2", "prefetch_hint_L3",
    "prefetch_hint_L4", "printf", "properties", "ptr", "queue", "read_hint", "reduce_over_group", "reinterpret_cast",
    "round_to_tf32", "select_from_group", "shift_group_left", "shift_group_right", "size_t", "sub_group", "uint8",
    "uint16", "uint32", "uint64", "use", "work_group", "write_hint",
]
__all__ += [*_math_functions, *_vectors]
