"""Cases of the family matrix_memory, and of those about parts of cooperative matrices."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid

MATRICES = {"capabilities": "CooperativeMatrixKHR", "extensions": "SPV_KHR_cooperative_matrix"}
PACKED = {"capabilities": "PackedCooperativeMatrixINTEL",
          "extensions": "SPV_INTEL_joint_matrix SPV_KHR_cooperative_matrix"}
VULKAN = {"kind": "Shader VulkanMemoryModel", "model": "OpMemoryModel Logical Vulkan",
          "extensions": "SPV_KHR_vulkan_memory_model SPV_KHR_cooperative_matrix"}
LAYOUT = ("SPV_KHR_cooperative_matrix asks for {} as MemoryLayout; SPIRV-Tools looks at the kind of the "
          "constant, not at its width and value")
STORAGE = ("cl_khr_cooperative_matrix in the OpenCL SPIR-V environment allows Workgroup and CrossWorkgroup only "
           "; SPIRV-Tools checks the storage class for Vulkan only")
STRIDE = ("SPV_KHR_cooperative_matrix asks for a Stride greater than 0 in stores; SPIRV-Tools does not look at "
          "its value")
NO_JOINT_MATRIX = ("SPV_INTEL_joint_matrix defines the capability and the layout; SPIRV-Tools does not know the "
                   "extension")
M = "%matrix_acc_8x16_float"


def load(operands: str, pointer: str = "%ptr_global_float", matrix: str = M, **rest: str) -> str:
    return kernel(f"%m = OpCooperativeMatrixLoadKHR {matrix} %p0 {operands}", parameters=pointer, **rest)


def store(operands: str, value: str = M, pointer: str = "%ptr_global_float", **rest: str) -> str:
    return kernel(f"%m = OpUndef {value}\nOpCooperativeMatrixStoreKHR %p0 %m {operands}", parameters=pointer, **rest)


def shared(body: str, kind: str, declarations: str = "") -> str:
    """A compute shader with the work-group variable ``%v`` of a type."""
    return shader(body, declarations=f"{declarations}\n%ptr_v = OpTypePointer Workgroup {kind}\n"
                  "%v = OpVariable %ptr_v Workgroup", entry='OpEntryPoint GLCompute %main "main" %v', **VULKAN)


def held(body: str, extra: str = "") -> str:
    """A kernel with the private variable ``%v`` of a matrix."""
    return kernel(f"%v = OpVariable %ptr_private_matrix_acc_8x16_float Function\n{body}", declarations=extra)


LOADS = [
    valid("a load", load("%uint_0 %uint_16")),
    valid("a load of columns", load("%uint_1 %uint_16")),
    valid("a load that repeats one row", load("%uint_0 %uint_0")),
    valid("a load through bytes with a 64-bit stride", load("%uint_1 %ulong_64", "%ptr_global_uchar")),
    valid("a load through vectors", load("%uint_0 %uint_4", "%ptr_local_v4float")),
    valid("a load with memory operands", load("%uint_0 %uint_16 Aligned|Volatile 16")),
    valid("a load of packed components without stride", load("%uint_2", "%ptr_global_uint", **PACKED),
          NO_JOINT_MATRIX),
    valid("a load whose layout is specialised",
          load("%layout %uint_16", declarations="%layout = OpSpecConstant %uint 0")),
    valid("a load whose stride is a parameter",
          kernel(f"%m = OpCooperativeMatrixLoadKHR {M} %p0 %uint_0 %p1", parameters="%ptr_global_float %uint")),
    broken("matrix-load", "no stride", load("%uint_0"), says="needs a stride"),
    broken("matrix-load", "columns without stride", load("%uint_1"), says="needs a stride"),
    broken("matrix-load", "an unknown layout", load("%uint_77 %uint_16"),
           LAYOUT.format("a value of Cooperative Matrix Layout"), says="RowMajorKHR (0)"),
    broken("matrix-load", "a 64-bit layout", load("%ulong_0 %uint_16"), LAYOUT.format("a 32-bit constant"),
           says="the layout of"),
    broken("matrix-load", "a layout that is no constant",
           kernel(f"%m = OpCooperativeMatrixLoadKHR {M} %p0 %p1 %uint_16", parameters="%ptr_global_float %uint"),
           says="is a constant 32-bit integer"),
    broken("matrix-load", "a float as stride", load("%uint_0 %float_16"), says="the stride of"),
    broken("matrix-load", "no matrix", load("%uint_0 %uint_16", matrix="%float", **MATRICES),
           says="works on a cooperative matrix"),
    broken("matrix-load", "no pointer", load("%uint_0 %uint_16", "%ulong"), says="needs a pointer, not"),
    broken("matrix-load", "a pointer to a structure",
           load("%uint_0 %uint_16", "%ptr_global_pair", declarations="%pair = OpTypeStruct %float %float\n"
                "%ptr_global_pair = OpTypePointer CrossWorkgroup %pair"), says="to a number or to a vector"),
    broken("matrix-load", "a pointer to an array", load("%uint_0 %uint_16", "%ptr_global_arr4_float"),
           says="to a number or to a vector"),
    broken("memory-operands", "a load that makes memory available",
           load("%uint_0 %uint_16 MakePointerAvailable|NonPrivatePointer %uint_3",
                capabilities="VulkanMemoryModel", extensions="SPV_KHR_vulkan_memory_model",
                model="OpMemoryModel Physical64 Vulkan"), says="for stores, not loads"),
    broken("memory-operands", "a store that makes memory visible",
           store("%uint_0 %uint_16 MakePointerVisible|NonPrivatePointer %uint_3",
                 capabilities="VulkanMemoryModel", extensions="SPV_KHR_vulkan_memory_model",
                 model="OpMemoryModel Physical64 Vulkan"), says="for loads, not stores"),
    broken("alignment", "an alignment of 12", load("%uint_0 %uint_16 Aligned 12")),
    broken("matrix-pointer-storage", "a load from constant memory",
           load("%uint_0 %uint_16", "%ptr_constant_float"), STORAGE),
    valid("a load from a generic pointer",
          kernel(f"%g = OpPtrCastToGeneric %ptr_generic_float %p0\n"
                 f"%m = OpCooperativeMatrixLoadKHR {M} %g %uint_0 %uint_16", parameters="%ptr_global_float")),
    broken("matrix-pointer-storage", "a store to a private array",
           kernel(f"%v = OpVariable %ptr_private_float Function\n%m = OpUndef {M}\n"
                  "OpCooperativeMatrixStoreKHR %v %m %uint_0 %uint_16"), STORAGE),
    valid("a store", store("%uint_0 %uint_16")),
    valid("a store to local memory", store("%uint_1 %uint_8", pointer="%ptr_local_float")),
    broken("matrix-store", "no stride", store("%uint_1"), says="needs a stride"),
    broken("matrix-store", "stride 0", store("%uint_0 %uint_0"), STRIDE, says="all rows or columns"),
    broken("matrix-store", "a scalar is stored", store("%uint_0 %uint_16", value="%float", **MATRICES),
           says="works on a cooperative matrix"),
    broken("matrix-store", "no pointer", store("%uint_0 %uint_16", pointer="%ulong"), says="needs a pointer, not"),
    broken("matrix-store", "an unknown layout", store("%uint_9 %uint_16"),
           LAYOUT.format("a value of Cooperative Matrix Layout"), says="the layout of"),
    broken("matrix-store", "a vector as stride", store("%uint_0 %two", declarations="%two = OpConstantNull %v2uint"),
           says="the stride of"),
    valid("a shader loads from an array",
          shared(f"%e = OpAccessChain %ptr_e %v %uint_0\n%m = OpCooperativeMatrixLoadKHR {M} %e %uint_0 %uint_16",
                 "%arr64_float", "%ptr_e = OpTypePointer Workgroup %float")),
    broken("matrix-pointer-array", "a shader loads from a variable of one number",
           shared(f"%m = OpCooperativeMatrixLoadKHR {M} %v %uint_0 %uint_16", "%float"),
           "SPV_KHR_cooperative_matrix asks for a pointer into an array in modules with Shader; SPIRV-Tools "
           "does not look at where a pointer comes from"),
    broken("matrix-pointer-array", "a shader stores into a member",
           shared(f"%m = OpUndef {M}\n%e = OpAccessChain %ptr_e %v %uint_1\n"
                  "OpCooperativeMatrixStoreKHR %e %m %uint_0 %uint_16", "%pair",
                  "%ptr_e = OpTypePointer Workgroup %float\n%pair = OpTypeStruct %float %float"),
           "SPV_KHR_cooperative_matrix asks for a pointer into an array in modules with Shader; SPIRV-Tools "
           "does not look at where a pointer comes from"),
    valid("a length", kernel("%l = OpCooperativeMatrixLengthKHR %uint %matrix_a_8x16_half")),
    broken("matrix-length", "a 64-bit length", kernel("%l = OpCooperativeMatrixLengthKHR %ulong %matrix_a_8x16_half"),
           says="32 bits and signedness 0"),
    broken("matrix-length", "a signed length",
           shader("%l = OpCooperativeMatrixLengthKHR %sint %matrix_a_8x16_half", **VULKAN),
           says="32 bits and signedness 0"),
    broken("matrix-length", "the length of a vector",
           kernel("%x = OpUndef %matrix_a_8x16_half\n%l = OpCooperativeMatrixLengthKHR %uint %v4float"),
           says="takes a cooperative matrix type"),
    broken("id-role", "the length of a value",
           kernel("%x = OpUndef %matrix_a_8x16_half\n%l = OpCooperativeMatrixLengthKHR %uint %x")),
]

PARTS = [
    valid("one value fills a matrix", kernel(f"%m = OpCompositeConstruct {M} %float_1")),
    broken("composite-construct", "two values for a matrix",
           kernel(f"%m = OpCompositeConstruct {M} %float_1 %float_1")),
    broken("composite-construct", "a value of another type for a matrix",
           kernel(f"%m = OpCompositeConstruct {M} %half_1")),
    broken("composite-constant", "two constants for a matrix",
           kernel("", declarations=f"%m = OpConstantComposite {M} %float_1 %float_1")),
    broken("composite-constant", "a constant of another type for a matrix",
           kernel("", declarations=f"%m = OpConstantComposite {M} %uint_1")),
    valid("a matrix of zeros", kernel("", declarations=f"%m = OpConstantNull {M}")),
    valid("a component is taken", kernel(f"%m = OpUndef {M}\n%e = OpCompositeExtract %float %m 3")),
    valid("a component is replaced", kernel(f"%m = OpUndef {M}\n%e = OpCompositeInsert {M} %float_1 %m 3")),
    broken("composite-extract", "a component of two indices",
           kernel(f"%m = OpUndef {M}\n%e = OpCompositeExtract %float %m 1 2")),
    broken("composite-extract", "a component of another type",
           kernel(f"%m = OpUndef {M}\n%e = OpCompositeExtract %uint %m 1")),
    broken("composite-insert", "a component of another type is put in",
           kernel(f"%m = OpUndef {M}\n%e = OpCompositeInsert {M} %half_1 %m 3")),
    broken("vector-dynamic", "a component at a position of run time",
           kernel(f"%m = OpUndef {M}\n%e = OpVectorExtractDynamic %float %m %uint_1")),
    valid("a component through a pointer", held("%e = OpAccessChain %ptr_private_float %v %uint_3\n"
                                               "%x = OpLoad %float %e")),
    broken("access-chain", "a pointer to a component of another type",
           held("%e = OpAccessChain %ptr_private_half %v %uint_3")),
    broken("access-chain", "a pointer to a row", held("%e = OpAccessChain %ptr_private_float %v %uint_3 %uint_1")),
    broken("matrix-bytes", "bytes are counted to the next matrix",
           kernel("%b = OpBitcast %ptr_private_uchar %v\n%c = OpInBoundsPtrAccessChain %ptr_private_uchar %b %ulong_8\n"
                  f"%m = OpBitcast %ptr_private_matrix_acc_8x16_float %c\n%x = OpLoad {M} %m",
                  declarations=f"%two = OpTypeArray {M} %uint_2\n%ptr = OpTypePointer Function %two").replace(
                      "%b = ", "%v = OpVariable %ptr Function\n%b = ")),
    valid("a matrix is loaded and stored", held(f"%x = OpLoad {M} %v\nOpStore %v %x")),
    valid("a matrix is copied", held(f"%x = OpLoad {M} %v\n%y = OpCopyObject {M} %x")),
    valid("a matrix is chosen", kernel(f"%c = OpUndef %bool\n%m = OpUndef {M}\n%r = OpSelect {M} %c %m %m"),
          "SPV_KHR_cooperative_matrix adds matrices to the composites, which OpSelect takes from SPIR-V 1.4 on; "
          "SPIRV-Tools knows no OpSelect of cooperative matrices"),
    broken("select-types", "a matrix is chosen before SPIR-V 1.4",
           kernel(f"%c = OpUndef %bool\n%m = OpUndef {M}\n%r = OpSelect {M} %c %m %m", version="1.3")),
]



ARM = {"capabilities": "CooperativeMatrixLayoutsARM", "extensions": "SPV_ARM_cooperative_matrix_layouts"}


def blocked(stride: str = "%uint_1", matrix: str = "%matrix_a_8x8_half", layout: str = "%uint_4202") -> str:
    """A load with a layout of SPV_ARM_cooperative_matrix_layouts: blocks of 4 rows of 16 bytes."""
    return load(f"{layout} {stride}", "%ptr_global_half", matrix, **ARM)


BLOCKED = [
    valid("blocks in rows", blocked()),
    valid("pairs of blocks in columns", blocked("%uint_2", layout="%uint_4203")),
    broken("matrix-blocked-layout", "blocks without stride", blocked(""), says="needs a stride"),
    broken("matrix-blocked-layout", "blocks with a stride of run time",
           kernel("%m = OpCooperativeMatrixLoadKHR %matrix_a_8x8_half %p0 %uint_4202 %p1",
                  parameters="%ptr_global_half %uint", **ARM), says="is a constant"),
    broken("matrix-blocked-layout", "triples of blocks", blocked("%uint_3"), says="1, 2 or 4"),
    broken("matrix-blocked-layout", "pairs of blocks in rows of one block", blocked("%uint_2"),
           says="no multiples of the blocks"),
    broken("matrix-blocked-layout", "a block and a half of rows", blocked(matrix="%matrix_a_6x8_half"),
           says="no multiples of the blocks"),
    broken("matrix-blocked-layout", "a store of half a block",
           store("%uint_4202 %uint_1", "%matrix_a_4x4_half", "%ptr_global_half", **ARM),
           says="no multiples of the blocks"),
    broken("capability-missing", "blocks without their capability",
           load("%uint_4202 %uint_1", "%ptr_global_half", "%matrix_a_8x8_half"), says="CooperativeMatrixLayoutsARM"),
]

CASES = [*LOADS, *PARTS, *BLOCKED]
