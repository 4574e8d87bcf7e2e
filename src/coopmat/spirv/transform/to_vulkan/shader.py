"""What comes out of the translation to Vulkan, and what has to be known of a driver for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from coopmat.devices import Combination
from coopmat.spirv.analysis.types import Type
from coopmat.spirv.transform.enlarge.requirements import Requirements

TAME_MULTIPLE = 16
ADDRESS_BYTES = 8
"""Of a pointer in the argument block."""
PUSH_CONSTANT_BYTES = 128
"""What every driver has (Vulkan, required limits)."""
LOCAL_MEMORY_BYTES = 16384


@dataclass(frozen=True)
class VulkanTarget:
    """What a driver can do.

    ``features``: the names of the feature structures' members that are on (``shaderFloat64``, ``cooperativeMatrix``),
    of the boolean properties that allow something in a shader (``shaderDenormPreserveFloat32``), and the operations of
    sub-groups (``subgroupBasic``, ``subgroupArithmetic``: bits of VkSubgroupFeatureFlags that hold for compute).
    ``sub_group_size``: of the pipeline. ``push_constant_bytes``: maxPushConstantsSize. ``local_memory_bytes``:
    maxComputeSharedMemorySize. ``combinations``: the matrices of sub-group scope; None where every one is taken.
    ``work_group``: the size of work-groups, known where the kernel has matrices of work-groups; ``work_groups``: the
    driver's for such work-groups. ``in_step``: the work-items of a sub-group are never apart, as on a CPU, where it is
    a vector: barriers of sub-groups order memory only.
    """

    features: frozenset[str]
    sub_group_size: int = 32
    push_constant_bytes: int = PUSH_CONSTANT_BYTES
    local_memory_bytes: int = LOCAL_MEMORY_BYTES
    combinations: tuple[Combination, ...] | None = None
    work_group: tuple[int, int, int] | None = None
    work_groups: tuple[Combination, ...] = ()
    in_step: bool = False

    @classmethod
    def of_everything(cls, sub_group_size: int = 32) -> VulkanTarget:
        """A driver that has every feature of which a translated kernel could make use, and every matrix."""
        from coopmat.spirv.transform.to_vulkan.features import ALL

        return cls(ALL, sub_group_size, local_memory_bytes=1 << 20)


@dataclass(frozen=True)
class Argument:
    """One parameter of the kernel.

    A ``pointer`` is a 64-bit address at ``offset`` of the argument block, a ``value`` its bytes as they are in memory.
    Of a ``local`` pointer nothing is in the block: the specialisation constant ``spec_id`` (u32) is the number of
    elements of ``element_size`` bytes of its array, at least 1; bytes that fill no element count as one. What is bound
    to a ``descriptor`` is not in the block either: shaders that were no kernels have such.

    ``grain_id``: the specialisation constant (u32, 0 if it is not set) that promises that the integer or address is a
    multiple of so many powers of two.
    """

    kind: Literal["pointer", "value", "local", "descriptor"]
    offset: int
    size: int
    spec_id: int | None = None
    element_size: int = 0
    grain_id: int | None = None


@dataclass(frozen=True)
class Tame:
    """What must hold in a launch so that it is tame: ``requirements``, and that the arguments with the numbers
    ``aligned`` are multiples of :data:`TAME_MULTIPLE`."""

    requirements: Requirements
    aligned: tuple[int, ...]

    def holds(self, arguments: Sequence[int], group_counts: Sequence[int]) -> bool:
        """For arguments as integers with their sign, pointers as addresses."""
        return (all(arguments[number] % TAME_MULTIPLE == 0 for number in self.aligned)
                and self.requirements.hold(arguments, group_counts))


@dataclass(frozen=True)
class PrintedCall:
    """A call of printf in the shader; its number is its place in :attr:`Shader.print_calls`.

    format: None if it is not known. kinds: the types of the arguments. strings: which of these are in the record as
    strings, with the most bytes that are read of them.
    """

    format: bytes | None
    kinds: tuple[Type, ...]
    strings: Mapping[int, int | None]


@dataclass(frozen=True)
class Shader:
    """A compute shader that does what a kernel does.

    arguments: in the order of the kernel's parameters. block_size: bytes of the block that holds them: the push
    constants, or, with ``block_in_memory``, memory whose 64-bit address is the only push constant.

    hidden: offsets in the block of what the runtime fills in, only of what the shader uses: ``group_offset`` (3 × u32)
    and ``group_count`` (3 × u32, of the whole launch: a launch may be run by several dispatches), ``global_offset``
    (3 × u64), ``printf`` and ``globals`` (u64 addresses of the print buffer and of the program-scope variables).

    print_calls: what calls of printf write to the print buffer. assertions: what those say that may fail; a shader with
    any has the print buffer, too, and notes there which failed first.

    local_size_spec_ids: the specialisation constants (u32) that are the work-group's size.

    globals_image: what the program-scope variables hold at first; at each of ``globals_relocations`` (bytes), the
    address of the image's copy on the device is to be added to the 64-bit number there.

    local_bytes: local memory of a work-group besides local arguments. features: those that the shader needs.
    sub_group_size: that the pipeline must have, None where any will do.

    tame: which launches are so, if the kernel has matrices of work-groups, and tame_spirv: the shader for these.
    """

    spirv: bytes
    entry_point: str
    arguments: tuple[Argument, ...]
    block_size: int
    block_in_memory: bool
    hidden: Mapping[str, int]
    local_size_spec_ids: tuple[int, int, int]
    globals_image: bytes = b""
    globals_relocations: tuple[int, ...] = ()
    print_calls: tuple[PrintedCall, ...] = ()
    assertions: tuple[str, ...] = ()
    local_bytes: int = 0
    features: frozenset[str] = frozenset()
    sub_group_size: int | None = None
    tame: Tame | None = None
    tame_spirv: bytes = b""
