"""Compute shaders in GLSL, with arguments and what numpy computes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

GENERATOR = np.random.default_rng(11)


@dataclass(frozen=True)
class Case:
    """A shader, its arguments, and, by their place, what arrays hold afterwards. size: work-items, and those of a
    work-group; None stands for a sub-group, whose size is specialisation constant 0."""

    name: str
    text: str
    arguments: Sequence[Any]
    expected: Mapping[int, np.ndarray[Any, Any]]
    size: tuple[int, int] | None = (64, 32)
    spec: Mapping[int, int] = field(default_factory=dict)
    tolerance: float = 0.0


def _layouts() -> Case:
    """Members of blocks at the places that std140, std430 and scalar give them; a matrix by rows."""
    text = """
    layout(local_size_x = 32) in;
    struct Inner { vec3 place; float weight; };
    layout(set = 0, binding = 2, std430) buffer Data { uint count; Inner inner[]; } data;
    layout(set = 0, binding = 0, std140, row_major) uniform Block { mat2x3 turn; float factors[3]; vec2 pair; } block;
    layout(set = 0, binding = 1, scalar) readonly buffer Scalar { vec3 values[]; };
    layout(set = 1, binding = 0) writeonly buffer Result { float result[]; };
    void main() {
        uint i = gl_GlobalInvocationID.x;
        vec3 turned = block.turn * vec2(values[i].x, values[i].z);
        data.inner[i].place += turned;
        result[i] = data.inner[i].weight * block.factors[i % 3] + block.pair[i % 2] + float(data.inner.length());
        if (i == 0) data.count = data.inner.length();
    }"""
    numbers = GENERATOR.integers(-8, 8, 400).astype(np.float32)
    block = np.zeros(28, np.float32)
    turn = numbers[:6].reshape(3, 2)
    block[:12].reshape(3, 4)[:, :2] = turn
    block[12:24:4] = factors = numbers[6:9]
    block[24:26] = pair = numbers[9:11]
    values = numbers[11:203].reshape(64, 3)
    data = np.zeros(4 + 4 * 64, np.float32)
    inner = data[4:].reshape(64, 4)
    inner[:] = np.resize(numbers, (64, 4))
    after = data.copy()
    after[:1].view(np.uint32)[:] = 64
    after[4:].reshape(64, 4)[:, :3] += values[:, ::2] @ turn.T
    index = np.arange(64)
    result = inner[:, 3] * factors[index % 3] + pair[index % 2] + 64
    return Case("layouts", text, [block, values, data.view(np.uint8), np.zeros(64, np.float32)],
                {2: after.view(np.uint8), 3: result.astype(np.float32)})


def _references() -> Case:
    """Buffers by their addresses, in push constants and a uniform buffer; members chosen by a variable index."""
    text = """
    layout(local_size_x = 32) in;
    layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float x[]; };
    layout(set = 0, binding = 0) uniform Params { Floats a; uint start; } params;
    layout(push_constant) uniform Push { Floats b; int pick; ivec2 steps[2]; } push;
    void main() {
        uint i = gl_GlobalInvocationID.x;
        Floats later = Floats(uint64_t(params.a) + 4 * params.start);
        push.b.x[i] = later.x[i] + float(push.steps[push.pick].y);
    }"""
    a = GENERATOR.normal(size=80).astype(np.float32)
    return Case("references", text, [a, 5, np.zeros(64, np.float32), 1, (1, 2), (3, 4)], {2: a[5:69] + np.float32(4)})


def _local_memory() -> Case:
    """Blocks that share local memory, and a function that gets an array's element."""
    text = """
    layout(local_size_x = 32) in;
    shared Bytes { uint8_t bytes[128]; };
    shared Words { uint words[32]; };
    layout(set = 0, binding = 0) buffer Data { uint data[]; };
    uint twice(inout uint x) { x *= 2; return x; }
    void main() {
        uint i = gl_LocalInvocationIndex, at = gl_WorkGroupID.x * 32 + i;
        words[i] = data[at];
        barrier();
        uint8_t low = bytes[4 * (31 - i)];
        uint sum = subgroupAdd(1u) / gl_SubgroupSize;
        data[at] = twice(data[at]) + uint(low) + sum;
    }"""
    data = GENERATOR.integers(0, 1 << 20, 64).astype(np.uint32)
    low = data.reshape(2, 32)[:, ::-1].reshape(-1) & 0xFF
    return Case("local memory", text, [data], {0: 2 * data + low + np.uint32(1)})


def _functions() -> Case:
    """Functions of GLSL.std.450 on floats, each in a column.

    Of negative powers of two, Mesa 26 takes the bit above the one that findMSB is to find.
    """
    calls: dict[str, Callable[[Any], Any]] = {
        "fract(x)": lambda x: x - np.floor(x), "roundEven(x)": np.rint, "sign(x)": np.sign, "exp2(x)": np.exp2,
        "inversesqrt(abs(x) + 1)": lambda x: 1 / np.sqrt(abs(x) + 1), "atan(x, 2.0)": lambda x: np.arctan2(x, 2),
        "mix(x, 2.0, 0.25)": lambda x: 0.75 * x + 0.5, "smoothstep(-1.0, 3.0, x)":
        lambda x: (t := np.clip((x + 1) / 4, 0, 1)) * t * (3 - 2 * t),
        "clamp(x, -1.0, 1.0)": lambda x: np.clip(x, -1, 1),
        "length(vec3(x, 2, 3))": lambda x: np.sqrt(x * x + 13), "dot(vec2(x), vec2(1, 2))": lambda x: 3 * x,
        "reflect(vec2(x, 1), vec2(0, 1)).y": lambda x: -1 + 0 * x, "modf_whole(x)": np.trunc,
        "frexp_part(x)": lambda x: np.frexp(x)[0], "float(findMSB(int(x * 9) * 3))":
        lambda x: np.array([(n if n >= 0 else ~n).bit_length() - 1 for n in (3 * (x * 9).astype(int)).tolist()]),
        "float(findLSB(int(x * 9)))":
        lambda x: np.array([(n & -n).bit_length() - 1 for n in (x * 9).astype(int).tolist()]),
        "unpackHalf2x16(packHalf2x16(vec2(1, x))).y": lambda x: x.astype(np.float16),
        "unpackSnorm4x8(packSnorm4x8(vec4(x / 8))).z": lambda x: np.rint(np.clip(x / 8, -1, 1) * 127) / 127,
        "(mat2(1, 2, 3, 4) * mat2(x, 0, 0, 1) * vec2(1, 1)).y": lambda x: 2 * x + 4,
        "float(bitfieldExtract(int(x * 9), 1, 3))": lambda x: ((x * 9).astype(int) << 60 >> 61).astype(float),
    }
    lines = "\n".join(f"        result[{place} * 64 + i] = {call};" for place, call in enumerate(calls))
    text = """
    layout(local_size_x = 32) in;
    layout(set = 0, binding = 0) readonly buffer Data { float data[]; };
    layout(set = 0, binding = 1) buffer Result { float result[]; };
    float modf_whole(float x) { float whole; modf(x, whole); return whole; }
    float frexp_part(float x) { int e; return frexp(x, e); }
    void main() {
        uint i = gl_GlobalInvocationID.x;
        float x = data[i];
""" + lines + "\n    }"
    data = np.linspace(-7.3, 7.9, 64, dtype=np.float32)
    expected = np.concatenate([np.asarray(call(data), np.float32) for call in calls.values()])
    return Case("functions", text, [data, np.zeros(len(expected), np.float32)], {1: expected}, tolerance=2e-5)


def _matrices() -> Case:
    """A product of cooperative matrices from local memory and buffers."""
    text = """
    layout(constant_id = 1) const uint M = 16;
    layout(constant_id = 2) const uint K = 16;
    layout(local_size_x_id = 0) in;
    layout(set = 0, binding = 0) readonly buffer A { float16_t a[]; };
    layout(set = 0, binding = 1) readonly buffer B { float16_t b[]; };
    layout(set = 0, binding = 2) buffer C { float c[]; };
    layout(push_constant) uniform Push { float factor; };
    shared float16_t staged[M * K];
    void main() {
        for (uint i = gl_LocalInvocationIndex; i < M * K; i += gl_WorkGroupSize.x) staged[i] = a[i];
        barrier();
        coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> left;
        coopmat<float16_t, gl_ScopeSubgroup, K, M, gl_MatrixUseB> right;
        coopmat<float, gl_ScopeSubgroup, M, M, gl_MatrixUseAccumulator> sum;
        coopMatLoad(left, staged, 0, K, gl_CooperativeMatrixLayoutRowMajor);
        coopMatLoad(right, b, 0, K, gl_CooperativeMatrixLayoutColumnMajor);
        coopMatLoad(sum, c, 0, M, gl_CooperativeMatrixLayoutRowMajor);
        sum = coopMatMulAdd(left, right, sum) * factor;
        for (int i = 0; i < sum.length(); ++i) sum[i] += 1.0;
        coopMatStore(sum, c, 0, M, gl_CooperativeMatrixLayoutRowMajor);
    }"""
    a, b, c = (GENERATOR.integers(-4, 4, (8, 8)) for _ in range(3))
    return Case("matrices", text, [a.astype(np.float16), b.astype(np.float16), c.astype(np.float32), 0.5],
                {2: ((a @ b.T + c) * 0.5 + 1).astype(np.float32)}, None, {1: 8, 2: 8})


def _refraction() -> Case:
    """A function that kernels do not have."""
    text = """
    layout(local_size_x = 32) in;
    layout(set = 0, binding = 0) buffer Data { float data[]; };
    void main() {
        uint i = gl_GlobalInvocationID.x;
        data[i] = refract(vec2(0, -1), vec2(0, 1), data[i]).y;
    }"""
    return Case("refraction", text, [np.linspace(0.1, 0.9, 64, dtype=np.float32)], {0: np.full(64, -1, np.float32)},
                tolerance=1e-6)


CASES = [_layouts(), _references(), _local_memory(), _functions(), _matrices()]
DRIVER_CASES = [*CASES, _refraction()]


def arguments_of(case: Case) -> list[Any]:
    """Arguments that a launch may write to."""
    return [one.copy() if isinstance(one, np.ndarray) else one for one in case.arguments]


def check(case: Case, found: Sequence[Any]) -> None:
    """Compare what a launch left in its arguments."""
    for place, expected in case.expected.items():
        np.testing.assert_allclose(found[place].reshape(expected.shape), expected, rtol=case.tolerance,
                                   atol=case.tolerance)


def launched(case: Case, module: Any, device: Any) -> list[Any]:
    """The arguments after a launch."""
    import coopmat as cm

    device = device if isinstance(device, cm.Device) else cm.device(device)
    lanes = device.sub_group_sizes[0]
    spec = dict(case.spec) if case.size is not None else {**case.spec, 0: lanes}
    kernel = cm.build(module, spec_constants=spec, device=device).kernel("main")
    arguments = arguments_of(case)
    cm.Queue(device).enqueue(kernel, *(case.size or (lanes, lanes)), *arguments).wait()
    return arguments
