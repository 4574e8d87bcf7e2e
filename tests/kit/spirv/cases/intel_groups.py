"""Cases of the family intel_groups."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, valid

SHUFFLE = ("SPV_INTEL_subgroups asks for {}; SPIRV-Tools has no rules for its instructions")
BLOCK = ("SPV_INTEL_2d_block_io asks for {}; SPIRV-Tools has no rules for its instructions")
VALUES = "%i = OpUndef %uint\n%f = OpUndef %float\n%n = OpUndef %ulong\n"


def shuffle(text: str) -> str:
    return kernel(f"{VALUES}%r = OpSubgroupShuffle{text}", capabilities="SubgroupShuffleINTEL",
                  extensions="SPV_INTEL_subgroups")


def block_io(body: str, pointer: str = "%ptr_global_uint") -> str:
    return kernel(VALUES + body, parameters=pointer, capabilities="SubgroupBufferBlockIOINTEL",
                  extensions="SPV_INTEL_subgroups")


def block(sizes: str = "%uint_2 %uint_16 %uint_8 %uint_1", base: str = "%p0", surface: str = "%i %i %i", at: str = "%c",
          private: str = "%v", op: str = "Load", capabilities: str = "Subgroup2DBlockIOINTEL", **rest: str) -> str:
    """A 2D block instruction; loads and prefetches have the surface first, stores the block."""
    first = f"{sizes} {private}" if op == "Store" else sizes
    last = "" if op in ("Store", "Prefetch") else private
    return kernel(f"%v = OpVariable %ptr_private_uint Function\n%u = OpVariable %ptr_private_ushort Function\n{VALUES}"
                  "%c = OpUndef %v2uint\n%d = OpUndef %v3uint\n"
                  f"OpSubgroup2DBlock{op}INTEL {first} {base} {surface} {at} {last}",
                  parameters="%ptr_global_ushort %ptr_local_ushort", capabilities=capabilities,
                  extensions="SPV_INTEL_2d_block_io", **rest)


def transform(private: str = "%v", sizes: str = "%uint_2 %uint_16 %uint_8 %uint_1") -> str:
    return block(sizes, private=private, op="LoadTransform",
                 capabilities="Subgroup2DBlockIOINTEL Subgroup2DBlockTransformINTEL")


CASES = [
    valid("a shuffle", shuffle("INTEL %float %f %i")),
    valid("a shuffle of two", shuffle("DownINTEL %float %f %f %i")),
    broken("intel-shuffle", "a shuffle of booleans",
           kernel("%b = OpUndef %bool\n%r = OpSubgroupShuffleINTEL %bool %b %uint_1",
                  capabilities="SubgroupShuffleINTEL", extensions="SPV_INTEL_subgroups"),
           SHUFFLE.format("numbers or vectors of them"), says="exchanges numbers"),
    broken("intel-shuffle", "a shuffle of another type", shuffle("INTEL %float %i %i"),
           SHUFFLE.format("Data of the result's type"), says="cannot give"),
    broken("intel-shuffle", "a shuffle of two types", shuffle("UpINTEL %float %f %i %i"),
           SHUFFLE.format("Previous and Current of the result's type"), says="cannot give"),
    broken("intel-shuffle", "a 64-bit position", shuffle("XorINTEL %float %f %n"),
           SHUFFLE.format("a 32-bit integer as Value"), says="32-bit integer"),
    valid("a block is read", block_io("%r = OpSubgroupBlockReadINTEL %v4uint %p0")),
    valid("a block is written", block_io("OpSubgroupBlockWriteINTEL %p0 %i")),
    broken("block-read-write", "a block of booleans", block_io("%r = OpSubgroupBlockReadINTEL %bool %p0"),
           SHUFFLE.format("a component type that the pointer points to"), says="moves numbers"),
    broken("block-read-write", "a block read through a number", block_io("%r = OpSubgroupBlockReadINTEL %uint %p0",
                                                                        "%ulong"),
           SHUFFLE.format("a pointer"), says="needs a pointer, not"),
    broken("block-read-write", "a block read through another pointer",
           block_io("%r = OpSubgroupBlockReadINTEL %float %p0"),
           SHUFFLE.format("the component type that the pointer points to"), says="its component type"),
    broken("block-read-write", "a block written through a pointer to vectors",
           block_io("OpSubgroupBlockWriteINTEL %p0 %i", "%ptr_global_v4uint"),
           SHUFFLE.format("a pointer to a scalar"), says="its component type"),
    valid("a 2D block is loaded", block()),
    valid("a 2D block is stored", block(op="Store")),
    valid("a 2D block is prefetched", block(op="Prefetch")),
    valid("a 2D block is transformed", transform()),
    valid("a 2D block of specialised height",
          block("%uint_2 %uint_16 %height %uint_1", declarations="%height = OpSpecConstant %uint 8")),
    valid("a 2D block of a surface with 64-bit sizes", block(surface="%n %n %n")),
    *(broken("block-2d", f"a {what} of run time", block(sizes), BLOCK.format("constants of 32-bit integers as sizes"),
             says=f"the {what} of")
      for what,
      sizes in (("element size", "%i %uint_16 %uint_8 %uint_1"), ("block width", "%uint_2 %i %uint_8 %uint_1"),
                          ("block height", "%uint_2 %uint_16 %i %uint_1"),
                          ("block count", "%uint_2 %uint_16 %uint_8 %i"))),
    broken("block-2d", "a 64-bit block width", block("%uint_2 %ulong_16 %uint_8 %uint_1"),
           BLOCK.format("constants of 32-bit integers as sizes"), says="the block width of"),
    broken("block-2d", "elements of 3 bytes", block("%uint_3 %uint_16 %uint_8 %uint_1"),
           BLOCK.format("an Element Size of 1, 2, 4 or 8 bytes"), says="1, 2, 4 or 8"),
    broken("block-2d", "a width of six bytes", block("%uint_1 %uint_6 %uint_8 %uint_1"),
           BLOCK.format("a Block Width that is a multiple of four for elements of one byte"), says="multiple of"),
    broken("block-2d", "a width of three shorts", block("%uint_2 %uint_3 %uint_8 %uint_1"),
           BLOCK.format("a Block Width that is a multiple of two for elements of two bytes"), says="multiple of"),
    valid("a width of three words", block("%uint_4 %uint_3 %uint_8 %uint_1")),
    broken("block-2d", "a surface in local memory", block(base="%p1"),
           BLOCK.format("a pointer to CrossWorkgroup memory"),
           says="CrossWorkgroup memory"),
    broken("block-2d", "a surface that is a number", block(base="%n", op="Store"),
           BLOCK.format("a pointer to CrossWorkgroup memory"), says="CrossWorkgroup memory"),
    broken("block-2d", "a float as surface height", block(surface="%i %f %i"),
           BLOCK.format("integers as sizes of the surface"), says="the surface height of"),
    broken("block-2d", "a coordinate of three", block(at="%d"), BLOCK.format("a Coordinate of two integers"),
           says="the coordinate of"),
    broken("block-2d", "a block in global memory", block(private="%p0"),
           BLOCK.format("a pointer to Function memory for the block"), says="Function memory"),
    broken("block-2d", "a number as the block", block(private="%n", op="Store"),
           BLOCK.format("a pointer to Function memory for the block"), says="Function memory"),
    valid("a transposed block of shorts", block(private="%u", op="LoadTranspose",
                                                capabilities="Subgroup2DBlockIOINTEL Subgroup2DBlockTransposeINTEL")),
    broken("block-2d", "a transformed block of shorts", transform("%u"),
           BLOCK.format("a pointer to 32-bit integers for transformed blocks"), says="32-bit integers"),
]
