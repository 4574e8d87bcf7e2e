"""Sub-group and work-group functions, block reads and writes, split barriers: instructions and results."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES, describe
from coopmat.diagnostics import CompileError
from coopmat.opencl import compile_source
from coopmat.opencl.builtins.patterns import Overload
from coopmat.spirv.grammar import GroupOperation, Op
from coopmat.tree.types import VOID, Scalar, Vector
from tests.kit.opencl.overload_kernels import Lowered, kernel, lower, lower_through_llvm, overloads_of, validate

SUBGROUP, WORKGROUP = 3, 2  # SPIR-V's scopes
FUNCTIONS = (r"(intel_)?(sub|work)_group_(?!barrier|\w*matrix).*|intel_work_group_barrier_.*|"
             r"get_sub_group_.._mask")
OVERLOADS = overloads_of(FUNCTIONS)

# ------------------------------------------------------------------ instructions

KIND_LETTERS = {"sint": ("I", "S"), "uint": ("I", "U"), "float": ("F", "F")}
WAYS = {"reduce": GroupOperation.Reduce, "scan_inclusive": GroupOperation.InclusiveScan,
        "scan_exclusive": GroupOperation.ExclusiveScan, "clustered_reduce": GroupOperation.ClusteredReduce}
COMBINATIONS = re.compile(r"(?:intel_)?(?P<group>work|sub)_group_(?P<free>non_uniform_)?"
                          r"(?P<way>reduce|scan_inclusive|scan_exclusive|clustered_reduce)_(?P<logical>logical_)?"
                          r"(?P<what>\w+)")
NAMED = {
    "sub_group_all": "GroupAll", "sub_group_any": "GroupAny", "work_group_all": "GroupAll",
    "work_group_any": "GroupAny", "sub_group_broadcast": "GroupBroadcast", "work_group_broadcast": "GroupBroadcast",
    "intel_sub_group_broadcast": "GroupBroadcast",
    "sub_group_elect": "GroupNonUniformElect", "sub_group_non_uniform_all": "GroupNonUniformAll",
    "sub_group_non_uniform_any": "GroupNonUniformAny", "sub_group_non_uniform_all_equal": "GroupNonUniformAllEqual",
    "sub_group_broadcast_first": "GroupNonUniformBroadcastFirst",
    "sub_group_non_uniform_broadcast": "GroupNonUniformShuffle",  # with an index that is not constant
    "sub_group_ballot": "GroupNonUniformBallot", "sub_group_inverse_ballot": "GroupNonUniformInverseBallot",
    "sub_group_ballot_bit_extract": "GroupNonUniformBallotBitExtract",
    "sub_group_ballot_bit_count": "GroupNonUniformBallotBitCount",
    "sub_group_ballot_inclusive_scan": "GroupNonUniformBallotBitCount",
    "sub_group_ballot_exclusive_scan": "GroupNonUniformBallotBitCount",
    "sub_group_ballot_find_lsb": "GroupNonUniformBallotFindLSB",
    "sub_group_ballot_find_msb": "GroupNonUniformBallotFindMSB",
    "sub_group_shuffle": "GroupNonUniformShuffle", "sub_group_shuffle_xor": "GroupNonUniformShuffleXor",
    "sub_group_shuffle_up": "GroupNonUniformShuffleUp", "sub_group_shuffle_down": "GroupNonUniformShuffleDown",
    "sub_group_rotate": "GroupNonUniformRotateKHR", "sub_group_clustered_rotate": "GroupNonUniformRotateKHR",
    "intel_sub_group_shuffle": "SubgroupShuffleINTEL", "intel_sub_group_shuffle_xor": "SubgroupShuffleXorINTEL",
    "intel_sub_group_shuffle_up": "SubgroupShuffleUpINTEL",
    "intel_sub_group_shuffle_down": "SubgroupShuffleDownINTEL",
    "intel_work_group_barrier_arrive": "ControlBarrierArriveEXT",
    "intel_work_group_barrier_wait": "ControlBarrierWaitEXT",
}
BLOCKS_2D = {"read": "Load", "read_transform": "LoadTransform", "read_transpose": "LoadTranspose", "write": "Store",
             "prefetch": "Prefetch"}
NO_SCOPE = ("SubgroupShuffle", "SubgroupBlock", "Subgroup2DBlock", "ControlBarrier")


def instruction_of(overload: Overload) -> str:
    """The instruction that a function is, by its name and type."""
    name = overload.name
    if name in NAMED:
        return NAMED[name]
    found = COMBINATIONS.fullmatch(name)
    if found is not None:
        free = "NonUniform" if found["free"] or found["way"] == "clustered_reduce" else ""
        if found["logical"]:
            return f"Group{free}Logical{found['what'].capitalize()}"
        if found["what"] in ("and", "or", "xor"):
            return f"Group{free}Bitwise{found['what'].capitalize()}"
        assert overload.element is not None
        letter = KIND_LETTERS[overload.element.kind][found["what"] in ("min", "max")]
        return f"Group{free}{letter}{found['what'].capitalize()}"
    block = re.match(r"intel_sub_group_2d_block_([a-z_]+)_\d", name)
    if block is not None:
        return f"Subgroup2DBlock{BLOCKS_2D[block[1]]}INTEL"
    return "SubgroupBlockReadINTEL" if "block_read" in name else "SubgroupBlockWriteINTEL"


def the_instruction(lowered: Lowered, body: list, name: str):
    (item,) = [item for item in body if item.name == f"Op{name}"]
    return item


def families() -> dict[str, list[Overload]]:
    """The overloads in modules of a handy size."""
    found: dict[str, list[Overload]] = {}
    for overload in OVERLOADS:
        if not overload.name.endswith("_mask"):
            found.setdefault("_".join(overload.name.split("_")[:4]), []).append(overload)
    return found


FAMILIES = families()


@pytest.mark.parametrize("lowering", [lower, lower_through_llvm])
@pytest.mark.parametrize("family", FAMILIES)
def test_instruction(family: str, lowering) -> None:
    overloads = FAMILIES[family]
    lowered = lowering("".join(kernel(overload, f"k{index}") for index, overload in enumerate(overloads)))
    for overload, body in zip(overloads, lowered.bodies(), strict=True):
        name = instruction_of(overload)
        item = the_instruction(lowered, body, name)
        if not name.startswith(NO_SCOPE):
            scope = WORKGROUP if overload.name.startswith("work_") else SUBGROUP
            assert lowered.constant(item.words[0]) == scope
        found = COMBINATIONS.fullmatch(overload.name)
        if found is not None:
            assert item.words[1] == WAYS[found["way"]]
        if "clustered" in overload.name:
            assert lowered.constant(item.words[-1]) == 4
        gives_bool = found is not None and found["logical"]
        if overload.result != VOID and not gives_bool and not NAMED.get(overload.name, "").endswith(
                ("All", "Any", "Elect", "AllEqual", "InverseBallot", "BitExtract")):
            assert lowered.type_name(item.type_id) == str(overload.result).removeprefix("u")


def test_ballot_counts_differ_in_the_group_operation() -> None:
    for name, way in (("bit_count", 0), ("inclusive_scan", 1), ("exclusive_scan", 2)):
        (overload,) = overloads_of(f"sub_group_ballot_{name}")
        lowered = lower(kernel(overload, "k"))
        (body,) = lowered.bodies()
        assert the_instruction(lowered, body, "GroupNonUniformBallotBitCount").words[1] == way


def test_a_constant_index_needs_no_shuffle() -> None:
    lowered = lower("kernel void k(global int *x) { *x = sub_group_non_uniform_broadcast(*x, 3u); }")
    (body,) = lowered.bodies()
    item = the_instruction(lowered, body, "GroupNonUniformBroadcast")
    assert lowered.constant(item.words[2]) == 3


# ------------------------------------------------------------------ two-dimensional blocks

# The counts of functions in the tables of cl_intel_subgroup_2d_block_io, by what they do and the bits of an element.
COUNTS_2D = {("read", 8): 15, ("read", 16): 12, ("read", 32): 18, ("read_transform", 8): 3,
             ("read_transform", 16): 4, ("read_transpose", 32): 2, ("write", 8): 8, ("write", 16): 4, ("write", 32): 4,
             ("prefetch", 8): 17, ("prefetch", 16): 12, ("prefetch", 32): 18}
NAME_2D = re.compile(r"intel_sub_group_2d_block_([a-z_]+)_(\d+)b_(\d+)r(\d+)x(\d+)c")


def test_the_table_of_2d_blocks_is_complete() -> None:
    names = [NAME_2D.fullmatch(overload.name) for overload in overloads_of(r"intel_sub_group_2d_block.*")]
    assert Counter((name[1], int(name[2])) for name in names if name) == COUNTS_2D


@pytest.mark.parametrize("lowering", [lower, lower_through_llvm])
def test_operands_of_2d_blocks(lowering) -> None:
    overloads = overloads_of(r"intel_sub_group_2d_block.*")
    lowered = lowering("".join(kernel(overload, f"k{index}") for index, overload in enumerate(overloads)))
    for overload, body, function in zip(overloads, lowered.bodies(), lowered.module.functions, strict=True):
        name = NAME_2D.fullmatch(overload.name)
        assert name is not None
        item = the_instruction(lowered, body, instruction_of(overload))
        bits, rows, columns, count = map(int, name.group(2, 3, 4, 5))
        assert [lowered.constant(word) for word in item.words[:4]] == [bits // 8, columns, rows, count]
        surface = [parameter.result_id for parameter in function.parameters[1:5]]
        rest = list(item.words[5:] if name[1] != "write" else item.words[6:])
        assert rest[:4] == surface
        assert len(item.words) == (9 if name[1] == "prefetch" else 10)
        if name[1] != "prefetch":
            data = item.words[4] if name[1] == "write" else item.words[9]
            definition = lowered.module.definition(data)
            while definition.opcode != Op.Variable and definition.words:  # the array, or its first element
                definition = lowered.module.definition(definition.words[0])
            assert definition.opcode == Op.Variable


# ------------------------------------------------------------------ capabilities and extensions

NEEDS = [  # functions, capabilities, extensions
    (r"(work|sub)_group_(all|any|broadcast|reduce_.*|scan_.*)", {"Groups"}, set()),
    (r"sub_group_elect", {"GroupNonUniform"}, set()),
    (r"sub_group_non_uniform_(all|any|all_equal)", {"GroupNonUniformVote"}, set()),
    (r"sub_group_(inverse_)?ballot.*|sub_group_broadcast_first", {"GroupNonUniformBallot"}, set()),
    (r"sub_group_non_uniform_(reduce|scan)_.*", {"GroupNonUniformArithmetic"}, set()),
    (r"sub_group_clustered_reduce_.*", {"GroupNonUniformClustered"}, set()),
    (r"sub_group_shuffle(_xor)?|sub_group_non_uniform_broadcast", {"GroupNonUniformShuffle"}, set()),
    (r"sub_group_shuffle_(up|down)", {"GroupNonUniformShuffleRelative"}, set()),
    (r"sub_group_(clustered_)?rotate", {"GroupNonUniformRotateKHR"}, {"SPV_KHR_subgroup_rotate"}),
    (r"intel_sub_group_(broadcast|reduce.*|scan.*)", {"Groups"}, set()),
    (r"intel_sub_group_shuffle.*", {"SubgroupShuffleINTEL"}, {"SPV_INTEL_subgroups"}),
    (r"intel_sub_group_block_.*", {"SubgroupBufferBlockIOINTEL"}, {"SPV_INTEL_subgroups"}),
    (r"intel_sub_group_2d_block_(read|write|prefetch)_\d.*", {"Subgroup2DBlockIOINTEL"}, {"SPV_INTEL_2d_block_io"}),
    (r"intel_sub_group_2d_block_read_transform.*", {"Subgroup2DBlockTransformINTEL"}, {"SPV_INTEL_2d_block_io"}),
    (r"intel_sub_group_2d_block_read_transpose.*", {"Subgroup2DBlockTransposeINTEL"}, {"SPV_INTEL_2d_block_io"}),
    (r"intel_work_group_barrier_.*", {"SplitBarrierEXT"}, {"SPV_INTEL_split_barrier"}),
    (r"get_sub_group_.._mask", {"GroupNonUniformBallot"}, set()),
]
OF_TYPES = {"Kernel", "Addresses", "Int8", "Int16", "Int64", "Float16", "Float64", "Vector16"}


@pytest.mark.parametrize(("pattern", "capabilities", "extensions"), NEEDS)
def test_requirements(pattern: str, capabilities: set[str], extensions: set[str]) -> None:
    overloads = overloads_of(pattern)
    assert overloads
    for overload in {overload.name: overload for overload in overloads}.values():
        declared, named = lower(kernel(overload, "k")).requirements()
        assert declared - OF_TYPES == capabilities, overload
        assert named == extensions, overload


def test_every_function_is_in_the_list_of_requirements() -> None:
    listed = {overload.name for pattern, _, _ in NEEDS for overload in overloads_of(pattern)}
    assert listed == {overload.name for overload in OVERLOADS}


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("lowering", [lower, lower_through_llvm])
def test_spirv_val(tmp_path: Path, lowering) -> None:
    validate([lowering("".join(kernel(overload, f"k{index}") for index, overload in enumerate(overloads)))
              for overloads in FAMILIES.values()], tmp_path)


# ------------------------------------------------------------------ diagnostics


def errors(body: str, device: str = "generic") -> list[str]:
    source = f"kernel void k(global int *x, global uint *u, constant uint *c, int n) {{ {body} }}"
    with pytest.raises(CompileError) as caught:
        compile_source(source, device=describe(device))
    return [f"{diagnostic.message} [{diagnostic.code}]" for diagnostic in caught.value.diagnostics]


@pytest.mark.parametrize(("body", "message"), [
    ("*x = sub_group_clustered_reduce_add(*x, (uint)n);",
     "cluster size argument of 'sub_group_clustered_reduce_add' must be an integer constant expression [CM3707]"),
    ("*x = sub_group_clustered_reduce_logical_xor(*x, 6);",
     "the cluster size of 'sub_group_clustered_reduce_logical_xor' must be a power of two, found 6 [CM3717]"),
    ("*x = sub_group_clustered_rotate(*x, 1, 0);",
     "the cluster size of 'sub_group_clustered_rotate' must be a power of two, found 0 [CM3717]"),
    ("*u = intel_sub_group_block_read(c);",
     "argument 1 of 'intel_sub_group_block_read' points to the __constant address space; expected a pointer to "
     "__global [CM3705]"),
    ("intel_work_group_barrier_arrive(n);",
     "cl_mem_fence_flags argument of 'intel_work_group_barrier_arrive' must be an integer constant expression "
     "[CM3707]"),
    ("uint p[8]; intel_sub_group_2d_block_read_16b_8r16x1c(x, 64, 8, 64, (int2)(0), p);",
     "no matching function for call to 'intel_sub_group_2d_block_read_16b_8r16x1c' with arguments of type "
     "('__global int *', 'int', 'int', 'int', 'int2', '__private uint *') [CM3701]"),
])
def test_wrong_calls(body: str, message: str) -> None:
    assert errors(body) == [message]


@pytest.mark.parametrize("device", ARCHITECTURES)
def test_functions_that_only_some_devices_have(device: str) -> None:
    is_intel = device.startswith(("intel_gpu", "generic"))
    cases = {"*u = intel_sub_group_block_read(u);": ("intel_sub_group_block_read", "cl_intel_subgroups", is_intel),
             "*x = intel_sub_group_shuffle(*x, 1);": ("intel_sub_group_shuffle", "cl_intel_subgroups", is_intel),
             "intel_sub_group_2d_block_prefetch_8b_1r32x1c(x, 64, 8, 64, (int2)(0));": (
                 "intel_sub_group_2d_block_prefetch_8b_1r32x1c", "cl_intel_subgroup_2d_block_io",
                 device in ("generic", "intel_gpu_pvc"))}
    for body, (name, extension, has) in cases.items():
        if has:
            lower(f"kernel void k(global int *x, global uint *u) {{ {body} }}", device)
        else:
            assert errors(body, device) == [
                f"built-in function '{name}' needs {extension}, which the device does not have [CM3713]"]


# ------------------------------------------------------------------ results on the simulator

LANES = 16


def run(body: str, x: np.ndarray, scalar: str, device: str = "sim:generic", result: str | None = None,
        out: np.ndarray | None = None) -> np.ndarray:
    """``out[i] = body`` with the work-item's element v of x, for two sub-groups of 16."""
    result = result or scalar
    out = np.zeros_like(x) if out is None else out
    source = f"""__attribute__((intel_reqd_sub_group_size({LANES})))
    kernel void k(global {scalar} *x, global {result} *out) {{
        size_t i = get_global_id(0);
        uint lane = get_sub_group_local_id();
        {scalar} v = x[i];
        out[i] = {body};
    }}"""
    target = cm.device(device)
    cm.Queue(target).enqueue(cm.build(source, device=target).kernel("k"), (x.size,), (2 * LANES,), x, out).wait()
    return out


DTYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
          "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "float": np.float32, "double": np.float64,
          "half": np.float16}
UFUNCS = {"add": np.add, "min": np.minimum, "max": np.maximum, "mul": np.multiply}


def numbers(scalar: str, low: int = -50, high: int = 50) -> np.ndarray:
    random = np.random.default_rng(5)
    if scalar.startswith("u"):
        low, high = 0, high - low
    return random.integers(low, high, 2 * LANES).astype(DTYPES[scalar])


def identity(what: str, dtype: type) -> object:
    """What an exclusive scan begins with (OpenCL C 6.15.16, sub-group functions)."""
    if what in ("add", "mul"):
        return int(what == "mul")
    if np.dtype(dtype).kind == "f":
        return np.inf if what == "min" else -np.inf
    info = np.iinfo(dtype)
    return info.max if what == "min" else info.min


NARROW = ("char", "uchar", "short", "ushort")
REDUCED = {"sub_group": tuple(DTYPES), "sub_group_non_uniform": tuple(DTYPES), "intel_sub_group": NARROW,
           "work_group": tuple(scalar for scalar in DTYPES if scalar not in NARROW)}


@pytest.mark.parametrize(("prefix", "scalar"), [(prefix, scalar) for prefix in REDUCED for scalar in REDUCED[prefix]])
@pytest.mark.parametrize("what", ["add", "min", "max"])
def test_reductions_and_scans(prefix: str, what: str, scalar: str) -> None:
    x = numbers(scalar, -3, 4)
    groups = x.reshape(1 if prefix == "work_group" else 2, -1)
    with np.errstate(over="ignore"):
        inclusive = UFUNCS[what].accumulate(groups, axis=1, dtype=x.dtype)
    first = np.full((len(groups), 1), identity(what, DTYPES[scalar])).astype(x.dtype)
    expected = {"reduce": np.broadcast_to(inclusive[:, -1:], groups.shape), "scan_inclusive": inclusive,
                "scan_exclusive": np.hstack([first, inclusive[:, :-1]])}
    for way, wanted in expected.items():
        np.testing.assert_array_equal(run(f"{prefix}_{way}_{what}(v)", x, scalar), wanted.reshape(-1), way)


@pytest.mark.parametrize(("body", "expected"), [
    ("sub_group_broadcast(v, 5u)", lambda g: np.repeat(g[:, 5:6], LANES, 1)),
    ("sub_group_broadcast_first(v)", lambda g: np.repeat(g[:, :1], LANES, 1)),
    ("sub_group_non_uniform_broadcast(v, 7u)", lambda g: np.repeat(g[:, 7:8], LANES, 1)),
    ("sub_group_shuffle(v, (lane * 7 + 3) % 16)", lambda g: g[:, (np.arange(LANES) * 7 + 3) % 16]),
    ("sub_group_shuffle_xor(v, 5u)", lambda g: g[:, np.arange(LANES) ^ 5]),
    ("select(v, sub_group_shuffle_up(v, 3u), lane >= 3 ? -1 : 0)", lambda g: np.hstack([g[:, :3], g[:, :-3]])),
    ("select(v, sub_group_shuffle_down(v, 2u), lane < 14 ? -1 : 0)", lambda g: np.hstack([g[:, 2:], g[:, -2:]])),
    ("intel_sub_group_shuffle(v, 15 - lane)", lambda g: g[:, ::-1]),
    ("intel_sub_group_shuffle_xor(v, 6u)", lambda g: g[:, np.arange(LANES) ^ 6]),
    ("intel_sub_group_shuffle_down(v, (int)-1, 4u)",
     lambda g: np.hstack([g[:, 4:], np.full((2, 4), -1)])),
    ("intel_sub_group_shuffle_up((int)-1, v, 4u)", lambda g: np.hstack([np.full((2, 4), -1), g[:, :-4]])),
    ("sub_group_rotate(v, 3)", lambda g: np.roll(g, -3, 1)),
    ("sub_group_clustered_rotate(v, 1, 4)", lambda g: np.roll(g.reshape(2, 4, 4), -1, 2).reshape(2, 16)),
    ("sub_group_clustered_reduce_max(v, 4)",
     lambda g: np.repeat(g.reshape(2, 4, 4).max(2), 4, 1)),
    ("sub_group_non_uniform_reduce_mul(v)", lambda g: np.repeat(np.multiply.reduce(g, 1, keepdims=True), LANES, 1)),
    ("sub_group_all(v > -100)", lambda g: np.ones_like(g)),
    ("sub_group_any(v == 0)", lambda g: np.repeat((g == 0).any(1, keepdims=True), LANES, 1)),
    ("sub_group_elect()", lambda g: np.eye(1, LANES).repeat(2, 0)),
    ("sub_group_ballot(v & 1).x", lambda g: np.repeat(((g & 1) << np.arange(LANES)).sum(1, keepdims=True), LANES, 1)),
    ("sub_group_ballot_bit_count(sub_group_ballot(v & 1))",
     lambda g: np.repeat((g & 1).sum(1, keepdims=True), LANES, 1)),
    ("sub_group_ballot_exclusive_scan(sub_group_ballot(v & 1))", lambda g: np.cumsum(g & 1, 1) - (g & 1)),
    ("sub_group_ballot_bit_extract(sub_group_ballot(v & 1), 2)", lambda g: np.repeat(g[:, 2:3] & 1, LANES, 1)),
    ("sub_group_inverse_ballot((uint4)(0x5a5a, 0, 0, 0))",
     lambda g: np.repeat([0x5A5A >> np.arange(LANES) & 1], 2, 0)),
    ("get_sub_group_lt_mask().x", lambda g: np.repeat([(1 << np.arange(LANES)) - 1], 2, 0)),
    ("work_group_broadcast(v, 17)", lambda g: np.full_like(g, g[1, 1])),
])
def test_exchanges(body: str, expected) -> None:
    x = numbers("int", -9, 10)
    np.testing.assert_array_equal(run(body, x, "int"), expected(x.reshape(2, LANES)).reshape(-1).astype(np.int32))


@pytest.mark.parametrize(("suffix", "scalar"), [("", "uint"), ("_ui", "uint"), ("_uc", "uchar"), ("_us", "ushort"),
                                                ("_ul", "ulong")])
@pytest.mark.parametrize("local", [False, True])
def test_block_reads_and_writes(suffix: str, scalar: str, local: bool) -> None:
    """Component i of work-item l is element i * 16 + l; a local copy in between changes nothing."""
    counts = {overload.count for overload in overloads_of(rf"intel_sub_group_block_read{suffix}\d*")}
    for count in sorted(counts):
        n = str(count) if count > 1 else ""
        vector = f"{scalar}{n}"
        read, write = (f"intel_sub_group_block_{what}{suffix}{n}" for what in ("read", "write"))
        through = f"{write}(shared, v); v = {read}(shared);" if local else ""
        source = f"""__attribute__((intel_reqd_sub_group_size(16)))
        kernel void k(global const {scalar} *x, global {vector} *held, global {scalar} *copy) {{
            local {scalar} shared[{count * LANES}] __attribute__((aligned(16)));
            {vector} v = {read}(x);
            {through}
            held[get_global_id(0)] = v;
            {write}(copy, v);
        }}"""
        device = cm.device("sim:intel_gpu_pvc")
        x = np.random.default_rng(1).integers(0, 200, count * LANES).astype(DTYPES[scalar])
        held, copy = np.zeros((LANES, count), x.dtype), np.zeros_like(x)
        cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (LANES,), (LANES,), x, held, copy).wait()
        np.testing.assert_array_equal(held.T, x.reshape(count, LANES))
        np.testing.assert_array_equal(copy, x)


# Function, elements' type, private type and count, coordinate → what work-item l holds, from rows [y, x].
HEIGHT, WIDTH = 40, 64  # elements


def vnni(rows: np.ndarray, dtype: type) -> np.ndarray:
    """Column by column, the rows packed into 32 bits: [work-item, word]."""
    return np.ascontiguousarray(rows.T).astype(dtype).view(np.uint32)


@pytest.mark.parametrize(("name", "element", "private", "count", "coordinate", "expected"), [
    ("read_16b_8r16x1c", np.uint16, "ushort", 8, (2, 3), lambda m: m[3:11, 2:18].T),
    ("read_16b_4r16x2c", np.uint16, "ushort", 8, (0, 5),
     lambda m: np.hstack([m[5:9, :16].T, m[5:9, 16:32].T])),
    ("read_32b_2r16x1c", np.uint32, "uint", 2, (1, 0), lambda m: m[:2, 1:17].T),
    ("read_transform_16b_16r16x1c", np.uint16, "uint", 8, (4, 6), lambda m: vnni(m[6:22, 4:20], np.uint16)),
    ("read_transform_8b_32r16x1c", np.uint8, "uint", 8, (8, 2), lambda m: vnni(m[2:34, 8:24], np.uint8)),
    ("read_transpose_32b_16r8x1c", np.uint32, "uint", 8, (3, 4), lambda m: m[4:20, 3:11]),
    ("read_16b_8r16x1c", np.uint16, "ushort", 8, (56, 36),  # beyond two edges: zero
     lambda m: np.pad(m[36:, 56:], ((0, 4), (0, 8))).T),
])
def test_2d_block_reads(name: str, element: type, private: str, count: int, coordinate: tuple[int, int],
                        expected) -> None:
    matrix = np.random.default_rng(3).integers(1, 250, (HEIGHT, WIDTH)).astype(element)
    pitch = WIDTH * matrix.itemsize
    source = f"""__attribute__((intel_reqd_sub_group_size(16)))
    kernel void k(global uchar *x, global {private} *out) {{
        {private} part[{count}];
        int2 place = (int2)({coordinate[0]}, {coordinate[1]});
        intel_sub_group_2d_block_prefetch_8b_1r32x1c(x, {pitch}, {HEIGHT}, {pitch}, (int2)(0));
        intel_sub_group_2d_block_{name}(x, {pitch}, {HEIGHT}, {pitch}, place, part);
        for (int i = 0; i < {count}; ++i) out[get_local_id(0) * {count} + i] = part[i];
    }}"""
    device = cm.device("sim:intel_gpu_pvc")
    out = np.zeros((LANES, count), DTYPES[private])
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (LANES,), (LANES,),
                             matrix.view(np.uint8), out).wait()
    np.testing.assert_array_equal(out, expected(matrix))


def test_2d_block_write() -> None:
    """What lies beyond the surface is not written."""
    source = """__attribute__((intel_reqd_sub_group_size(16)))
    kernel void k(global ushort *x) {
        ushort part[8];
        for (int i = 0; i < 8; ++i) part[i] = 100 * i + get_local_id(0);
        intel_sub_group_2d_block_write_16b_8r16x1c(x, 128, 40, 128, (int2)(54, 2), part);
    }"""
    device = cm.device("sim:intel_gpu_pvc")
    matrix = np.full((HEIGHT, WIDTH), 7, np.uint16)
    expected = matrix.copy()
    expected[2:10, 54:] = (100 * np.arange(8)[:, None] + np.arange(16))[:, :10]
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (LANES,), (LANES,), matrix).wait()
    np.testing.assert_array_equal(matrix, expected)


def test_split_barrier() -> None:
    """What was written to local memory before the arrival can be read after the wait."""
    source = """kernel void k(global int *x) {
        local int shared[32];
        int i = get_local_id(0);
        shared[i] = x[i];
        intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);
        int own = x[i];
        intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
        x[i] = own * 100 + shared[31 - i];
    }"""
    device = cm.device("sim:intel_gpu_pvc")
    x = np.arange(32, dtype=np.int32)
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (32,), (32,), x).wait()
    np.testing.assert_array_equal(x, np.arange(32) * 100 + np.arange(31, -1, -1))


def test_order_of_a_split_barrier() -> None:
    lowered = lower("""kernel void k(void) {
        intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group); }""")
    ((arrive, wait),) = lowered.bodies()
    assert [lowered.constant(word) for word in arrive.words] == [WORKGROUP, WORKGROUP, 0x304]  # Release
    assert [lowered.constant(word) for word in wait.words] == [WORKGROUP, SUBGROUP, 0x102]  # Acquire


def test_vectors_are_broadcast() -> None:
    x = np.random.default_rng(2).random((2 * LANES, 4)).astype(np.float32)
    out = np.zeros_like(x)
    source = """__attribute__((intel_reqd_sub_group_size(16)))
    kernel void k(global float4 *x, global float4 *out) {
        size_t i = get_global_id(0);
        out[i] = sub_group_broadcast(x[i], 9) + intel_sub_group_shuffle(x[i], 4); }"""
    device = cm.device("sim:generic")
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (32,), (32,), x, out).wait()
    groups = x.reshape(2, LANES, 4)
    np.testing.assert_array_equal(out.reshape(2, LANES, 4), np.repeat(groups[:, 9:10] + groups[:, 4:5], LANES, 1))


def test_types_in_the_table() -> None:
    """The element types that OpenCL C gives each family."""
    types = {name: {str(overload.parameters[0]) for overload in overloads_of(name)
                    if isinstance(overload.parameters[0], (Scalar, Vector))}
             for name in ("sub_group_reduce_add", "work_group_reduce_add", "sub_group_shuffle",
                          "sub_group_clustered_reduce_and")}
    wide = {"int", "uint", "long", "ulong", "float", "double", "half"}
    narrow = {"char", "uchar", "short", "ushort"}
    assert types["sub_group_reduce_add"] == types["sub_group_shuffle"] == wide | narrow
    assert types["work_group_reduce_add"] == wide
    assert types["sub_group_clustered_reduce_and"] == narrow | {"int", "uint", "long", "ulong"}
