"""SPV_INTEL_2d_block_io, against a reference that follows the extension's text step by step."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.devices import describe
from coopmat.diagnostics import (
    DivergentGroupOperation,
    KernelNotSupported,
    OutOfBounds,
    SimulationError,
    UndefinedBehavior,
    ValidationError,
)
from coopmat.targets import simulator
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.targets.short_kernels import module, run

RNG = np.random.default_rng(13)
WIDTH, HEIGHT, PITCH = 80, 23, 96  # bytes, rows, bytes
KINDS = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
LOADS = {"": "OpSubgroup2DBlockLoadINTEL", "transpose": "OpSubgroup2DBlockLoadTransposeINTEL",
         "transform": "OpSubgroup2DBlockLoadTransformINTEL"}


def power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def held_by_lanes(rows: list[list[int]], lanes: int) -> list[list[int]]:
    """"The rows of the 2D block are assigned to invocations": what each of them gets."""
    width = len(rows[0])
    held: list[list[int]] = [[] for _ in range(lanes)]
    if width < lanes:
        per_pass = lanes // width
        padded = rows + [[0] * width] * (-len(rows) % per_pass)
        rows = [[value for row in padded[i:i + per_pass] for value in row] for i in range(0, len(padded), per_pass)]
        width = lanes
    for row in rows:
        for lane in range(lanes):
            held[lane] += row[lane * (width // lanes):(lane + 1) * (width // lanes)]
    return held


def expected_load(memory: np.ndarray, size: int, width: int, height: int, count: int, x: int, y: int, lanes: int,
                  mode: str) -> np.ndarray:
    """The bytes that each lane has after the load: [lanes, bytes]. ``memory`` is [rows, pitch in elements]."""
    result: list[list[int]] = [[] for _ in range(lanes)]
    for block in range(count):
        start = x + block * width
        rows = [[int(memory[r, c]) if 0 <= r < HEIGHT and 0 <= c < WIDTH // size else 0
                 for c in range(start, start + width)] for r in range(y, y + height)]
        item = size
        if mode == "transpose":
            rows += [[0] * width] * (power_of_two(height) - height)
            rows = [list(column) for column in zip(*rows, strict=True)]
        else:
            rows = [row + [0] * (power_of_two(width) - width) for row in rows]
        if mode == "transform":
            group, item = 4 // size, 4
            rows += [[0] * len(rows[0])] * (-height % group)
            rows = [[sum((rows[r + i][c] & (1 << 8 * size) - 1) << 8 * size * i for i in range(group))
                     for c in range(len(rows[0]))] for r in range(0, len(rows), group)]
        for lane, values in enumerate(held_by_lanes(rows, lanes)):
            result[lane] += [byte for value in values
                             for byte in (value & (1 << 8 * item) - 1).to_bytes(item, "little")]
    return np.array(result, np.uint8)


def load_kernel(size: int, width: int, height: int, count: int, nbytes: int, lanes: int = 16,
                opcode: str = LOADS[""]):
    """Each work-item stores the bytes that it gets; the base is shared, x and y depend on the sub-group."""
    array = f"a{nbytes // size}_{KINDS[size]}"
    return module(f"g_{array} out, g_i8 base, i32 width, i32 height, i32 pitch, i32 x, i32 y", f"""
        %t = OpVariable %p_{array} Function
        %two = OpShiftLeftLogical %i32 %sub_group %i32_c2
        %x1 = OpIAdd %i32 %x %two
        %y1 = OpIAdd %i32 %y %sub_group
        %at = OpCompositeConstruct %v2_i32 %x1 %y1
        {opcode} %i32_c{size} %i32_c{width} %i32_c{height} %i32_c{count} %base %width %height %pitch %at %t
        %v = OpLoad %{array} %t
        %q = OpPtrAccessChain %g_{array} %out %gx
        OpStore %q %v""", modes=[f"SubgroupSize {lanes}"])


SHAPES = [  # element size, block width, block height, block count, mode
    *((1, 32, rows, count, "") for rows in (1, 2, 8, 32) for count in (1, 2)), (1, 16, 8, 4, ""), (1, 16, 16, 1, ""),
    (1, 64, 4, 1, ""), (1, 4, 5, 1, ""), (1, 12, 3, 2, ""),
    *((2, 16, rows, count, "") for rows in (1, 4, 16) for count in (1, 2)), (2, 8, 3, 1, ""), (2, 6, 4, 2, ""),
    *((4, width, rows, count, "") for width, count in ((8, 1), (16, 1), (8, 2)) for rows in (1, 2, 8)),
    (4, 3, 5, 1, ""), (8, 8, 4, 1, ""), (8, 1, 2, 1, ""),
    *((1, 16, 32, count, "transform") for count in (1, 2, 4)),
    *((2, 16, rows, count, "transform") for rows in (16, 32) for count in (1, 2)), (1, 8, 6, 1, "transform"),
    (2, 4, 5, 2, "transform"), (2, 32, 3, 1, "transform"),
    (4, 8, 16, 1, "transpose"), (4, 8, 32, 1, "transpose"), (4, 2, 5, 1, "transpose"), (4, 4, 8, 1, "transpose"),
    (8, 4, 8, 1, "transpose"),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("lanes", [8, 16, 32])
@pytest.mark.parametrize(("size", "width", "height", "count", "mode"), SHAPES)
def test_loads(size: int, width: int, height: int, count: int, mode: str, lanes: int) -> None:
    """Inside, and over each of the four edges: what is outside is zero, although the memory goes on there."""
    raw = RNG.integers(-128, 128, (HEIGHT, PITCH)).astype(np.int8)
    memory = raw.view(f"i{size}")
    for x, y in ((0, 0), (8, 3), (-4, -2), (WIDTH // size // 4 * 4 - 4, HEIGHT - 2), (1000, 5), (0, -1000)):
        first = expected_load(memory, size, width, height, count, x, y, lanes, mode)
        second = expected_load(memory, size, width, height, count, x + 4, y + 1, lanes, mode)
        out = np.full((2 * lanes, first.shape[1]), 0x55, np.uint8)
        source = load_kernel(size, width, height, count, first.shape[1], lanes, LOADS[mode])
        run(source, [out, raw, WIDTH, HEIGHT, PITCH, x, y], 2 * lanes, 2 * lanes)
        np.testing.assert_array_equal(out[:lanes], first)
        np.testing.assert_array_equal(out[lanes:], second)


def store_kernel(size: int, width: int, height: int, count: int, nbytes: int, lanes: int = 16):
    array = f"a{nbytes // size}_{KINDS[size]}"
    return module(f"g_i8 base, g_{array} data, i32 width, i32 height, i32 pitch, i32 x, i32 y", f"""
        %t = OpVariable %p_{array} Function
        %q = OpPtrAccessChain %g_{array} %data %gx
        %v = OpLoad %{array} %q
        OpStore %t %v
        %at = OpCompositeConstruct %v2_i32 %x %y
        OpSubgroup2DBlockStoreINTEL %i32_c{size} %i32_c{width} %i32_c{height} %i32_c{count} %t %base %width %height """
                  "%pitch %at", modes=[f"SubgroupSize {lanes}"])


@pytest.mark.parametrize(("size", "width", "height", "count"), [
    (1, 16, 8, 1), (1, 32, 4, 1), (1, 4, 3, 1), (2, 16, 8, 1), (2, 6, 5, 1), (2, 8, 2, 2), (4, 16, 2, 1), (4, 8, 8, 1),
    (8, 8, 4, 1), (8, 3, 1, 1)])
def test_stores(size: int, width: int, height: int, count: int) -> None:
    """A load gives what a store of the same shape wrote; elements outside, and padding, are dropped."""
    for x, y in ((0, 0), (8, 5), (-4, -1), (WIDTH // size // 4 * 4 - 4, HEIGHT - 2)):
        numbers = RNG.integers(-128, 128, (HEIGHT + height, PITCH)).astype(np.int8)
        wide = np.zeros((HEIGHT, PITCH), np.int8)
        target = wide.view(f"i{size}")
        for r in range(max(y, 0), min(y + height, HEIGHT)):
            for c in range(max(x, 0), min(x + width * count, WIDTH // size)):
                target[r, c] = numbers.view(f"i{size}")[r, c]
        data = expected_load(wide.view(f"i{size}"), size, width, height, count, x, y, 16, "")
        out = np.zeros((HEIGHT, PITCH), np.int8)
        run(store_kernel(size, width, height, count, data.shape[1]), [out, data, WIDTH, HEIGHT, PITCH, x, y])
        np.testing.assert_array_equal(out, wide)


def attempt(memory: np.ndarray | None = None, *, width: int = 64, height: int = 8, pitch: int = 64, x: int = 0,
            y: int = 0, shape: tuple[int, int, int, int] = (2, 16, 8, 1), opcode: str = LOADS[""]) -> None:
    memory = np.zeros(512, np.int8) if memory is None else memory
    source = load_kernel(*shape, 32, opcode=opcode)
    run(source, [np.zeros((16, 32), np.uint8), memory, width, height, pitch, x, y],
        options=SimulatorOptions(races="benign-equal", uninitialized=False))


@pytest.mark.parametrize("opcode", [LOADS[""], LOADS["transform"]])
@pytest.mark.parametrize(("change", "message"), [
    ({"width": 60}, "from 64 to"), ({"width": 1 << 25, "pitch": 1 << 25}, "from 64 to"),
    ({"width": 66, "pitch": 80}, "multiple of 4 bytes"), ({"height": 0}, "from 1 to"),
    ({"height": (1 << 24) + 1}, "from 1 to"), ({"width": 80}, "less than the width"),
    ({"pitch": 72}, "multiple of 16"), ({"x": 3}, "x coordinate must be a multiple")])
def test_constraints_are_named(change: dict, message: str, opcode: str) -> None:
    attempt(opcode=opcode)
    with pytest.raises(UndefinedBehavior, match=message) as error:
        attempt(opcode=opcode, **change)
    assert error.value.where.sub_group == 0


@pytest.mark.parametrize(("shape", "rule"), [
    ((3, 16, 8, 1), "2D-2"), ((1, 6, 8, 1), "2D-3"), ((2, 15, 8, 1), "2D-3"), ((2, 16, 0, 1), "2D-1"),
    ((2, 1024, 1024, 1), "2D-4")])
def test_constants_are_checked(shape: tuple[int, int, int, int], rule: str) -> None:
    size = shape[0] if shape[0] in KINDS else 1
    source = module("g_i8 base, i32 w", f"""
        %t = OpVariable %p_{KINDS[size]} Function
        OpSubgroup2DBlockLoadINTEL {" ".join(f"%i32_c{number}" for number in shape)} %base %w %w %w %at %t""",
                    declarations="%at = OpConstantComposite %v2_i32 %i32_c0 %i32_c0")
    with pytest.raises(ValidationError) as error:
        run(source, [np.zeros(64, np.int8), 64])
    assert error.value.rule == rule


def test_the_transform_is_for_one_and_two_bytes() -> None:
    with pytest.raises(ValidationError, match="elements of 1 and 2 bytes, not of 4"):
        attempt(shape=(4, 8, 8, 1), opcode=LOADS["transform"])


def test_the_base_address_must_be_aligned_and_the_memory_there() -> None:
    source = module("g_i8 base", """
        %t = OpVariable %p_a8_i16 Function
        %p = OpPtrAccessChain %g_i8 %base %i64_c32
        OpSubgroup2DBlockLoadINTEL %i32_c2 %i32_c16 %i32_c8 %i32_c1 %p %i32_c64 %i32_c8 %i32_c64 %at %t""",
                    declarations="%at = OpConstantComposite %v2_i32 %i32_c0 %i32_c0")
    with pytest.raises(UndefinedBehavior, match="base address must be a multiple of 64 bytes"):
        run(source, [np.zeros(1024, np.int8)])
    with pytest.raises(OutOfBounds, match="the buffer has 400 bytes") as error:
        attempt(np.zeros(400, np.int8))
    assert (error.value.where.lane, error.value.where.buffer) == (8, "argument 1 'base'")
    attempt(np.zeros(480, np.int8))  # the block ends before


def test_a_store_needs_writable_memory() -> None:
    memory = np.zeros(512, np.int8)
    memory.flags.writeable = False
    with pytest.raises(SimulationError, match="read-only"):
        run(store_kernel(2, 16, 8, 1, 16), [memory, np.zeros((16, 16), np.uint8), 64, 8, 64, 0, 0])


def test_operands_are_uniform_and_the_sub_group_is_whole() -> None:
    template = """
        %t = OpVariable %p_a8_i16 Function
        %at = OpCompositeConstruct %v2_i32 %i32_c0 {y}
        {before}
        OpSubgroup2DBlockLoadINTEL %i32_c2 %i32_c16 %i32_c8 %i32_c1 %base %i32_c64 %i32_c8 %i32_c64 %at %t"""
    with pytest.raises(UndefinedBehavior, match=r"coordinate of the block read .* must be the same"):
        run(module("g_i8 base", template.format(y="%lane", before="")), [np.zeros(512, np.int8)])
    before = """%c = OpSLessThan %bool %lane %i32_c3
        OpBranchConditional %c %then %end
        %end = OpLabel
        OpReturn
        %then = OpLabel"""
    with pytest.raises(DivergentGroupOperation):
        run(module("g_i8 base", template.format(y="%i32_c0", before=before)), [np.zeros(512, np.int8)])
    with pytest.raises(DivergentGroupOperation, match="full sub-groups"):
        run(module("g_i8 base", template.format(y="%i32_c0", before="")), [np.zeros(512, np.int8)], 8, 8)


def test_a_prefetch_does_nothing_but_its_operands_are_checked() -> None:
    source = module("g_i8 base, i32 w", """
        OpSubgroup2DBlockPrefetchINTEL %i32_c2 %i32_c16 %i32_c8 %i32_c1 %base %w %i32_c8 %i32_c64 %at""",
                    declarations="%at = OpConstantComposite %v2_i32 %i32_c0 %i32_c0")
    run(source, [np.zeros(1, np.int8), 64])
    with pytest.raises(UndefinedBehavior, match="pitch must not be less"):
        run(source, [np.zeros(1, np.int8), 128])


def test_which_devices_have_2d_blocks() -> None:
    source = load_kernel(2, 16, 8, 1, 16)
    for name in ("intel_gpu_pvc", "generic"):
        simulator.compile(source, describe(name))
    for name in ("intel_gpu_dg2_g10", "intel_cpu_spr", "nvidia_gpu_sm_90"):
        with pytest.raises(KernelNotSupported, match=f"{name} has no 2D block.*: intel_gpu_pvc, generic"):
            simulator.compile(source, describe(name))
