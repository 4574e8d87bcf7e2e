"""How messages call an instruction: in the words of the kernel's author, with the SPIR-V name after them."""

from __future__ import annotations

import re

from coopmat.spirv.grammar import CONVERSIONS, Op, SourceLanguage

_GROUP_ARITHMETIC = re.compile(r"Group(NonUniform)?([IF](Add|Mul)|[SUF](Min|Max)|(Bitwise|Logical)(And|Or|Xor)).*")
_SHUFFLE = re.compile(r"(Subgroup|GroupNonUniform)Shuffle.*")
_BROADCAST = re.compile(r"Group(NonUniform)?Broadcast.*")
_VOTE = re.compile(r"Group(NonUniform)?(All|Any|AllEqual)(KHR)?")
_BLOCK_READ = re.compile(r"Subgroup(2D)?Block(Read|Load).*")
_BLOCK_WRITE = re.compile(r"Subgroup(2D)?Block(Write|Store).*")

AUTHORS_WORDS: dict[int, str] = {
    Op.Load: "use of a matrix",
    Op.Store: "assignment to a matrix",
    Op.ControlBarrier: "barrier",
    Op.ControlBarrierArriveEXT: "barrier's arrival",
    Op.ControlBarrierWaitEXT: "barrier's wait",
    Op.GroupAsyncCopy: "asynchronous copy",
    Op.GroupWaitEvents: "wait for events",
    Op.CooperativeMatrixLoadKHR: "coop_mat_load",
    Op.CooperativeMatrixStoreKHR: "coop_mat_store",
    Op.CooperativeMatrixMulAddKHR: "coop_matmul_add",
    Op.CooperativeMatrixLengthKHR: "coop_mat_length",
    Op.CooperativeMatrixLoadCheckedINTEL: "checked load of a matrix",
    Op.CooperativeMatrixStoreCheckedINTEL: "checked store of a matrix",
    Op.CooperativeMatrixConstructCheckedINTEL: "checked fill of a matrix",
    Op.CooperativeMatrixConvertUseEXT: "copy of a matrix to another use",
    Op.CooperativeMatrixTransposeNV: "transposition of a matrix",
    Op.CooperativeMatrixReduceEXT: "coop_mat_reduce",
    Op.CooperativeMatrixPerElementOpEXT: "function of a matrix's elements",
    **dict.fromkeys((Op.CooperativeMatrixGetElementCoordINTEL, Op.CooperativeMatrixGetCoordinateEXT),
                    "coop_mat_get_coord"),
    Op.CooperativeMatrixPrefetchINTEL: "prefetch of a matrix",
    Op.CompositeConstruct: "fill of a matrix",
    **dict.fromkeys((Op.FAdd, Op.IAdd), "matrix '+'"),
    **dict.fromkeys((Op.FSub, Op.ISub), "matrix '-'"),
    **dict.fromkeys((Op.FMul, Op.IMul, Op.MatrixTimesScalar), "matrix '*'"),
    **dict.fromkeys((Op.FDiv, Op.SDiv, Op.UDiv), "matrix '/'"),
    **dict.fromkeys((Op.FNegate, Op.SNegate), "matrix negation"),
    **dict.fromkeys((*CONVERSIONS, Op.Bitcast), "conversion of a matrix"),
    **dict.fromkeys((op for op in Op if _GROUP_ARITHMETIC.fullmatch(op.name)), "reduction or scan of a group"),
    **dict.fromkeys((op for op in Op if _SHUFFLE.fullmatch(op.name)), "shuffle"),
    **dict.fromkeys((op for op in Op if _BROADCAST.fullmatch(op.name)), "broadcast"),
    **dict.fromkeys((op for op in Op if _VOTE.fullmatch(op.name)), "vote of a group"),
    **dict.fromkeys((op for op in Op if _BLOCK_READ.fullmatch(op.name)), "block read"),
    **dict.fromkeys((op for op in Op if _BLOCK_WRITE.fullmatch(op.name)), "block write"),
    Op.GroupNonUniformBallot: "ballot",
}
"""What the author wrote for each instruction that concerns a whole group; on other instructions' values
(scalars, vectors) no message speaks of the instruction."""

SYCL_WORDS: dict[int, str] = {
    Op.CooperativeMatrixLoadKHR: "joint_matrix_load",
    Op.CooperativeMatrixStoreKHR: "joint_matrix_store",
    Op.CooperativeMatrixMulAddKHR: "joint_matrix_mad",
    Op.CooperativeMatrixLengthKHR: "joint_matrix_apply",
    Op.CooperativeMatrixLoadCheckedINTEL: "joint_matrix_load_checked",
    Op.CooperativeMatrixStoreCheckedINTEL: "joint_matrix_store_checked",
    Op.CooperativeMatrixConstructCheckedINTEL: "joint_matrix_fill_checked",
    Op.CooperativeMatrixConvertUseEXT: "joint_matrix_copy",
    Op.CooperativeMatrixGetElementCoordINTEL: "joint_matrix_apply",
    Op.CooperativeMatrixReduceEXT: "joint_matrix_reduce",
    Op.CooperativeMatrixPrefetchINTEL: "joint_matrix_prefetch",
    Op.CompositeConstruct: "joint_matrix_fill",
    **dict.fromkeys((*CONVERSIONS, Op.Bitcast), "joint_matrix_copy"),
}
"""What the author of a SYCL kernel wrote instead."""

_BY_NAME = {f"Op{Op(opcode).name}": words for opcode, words in AUTHORS_WORDS.items()}
_OF_SYCL = {f"Op{Op(opcode).name}": words for opcode, words in SYCL_WORDS.items()}
SYCL_LANGUAGES = (SourceLanguage.SYCL, SourceLanguage.OpenCL_CPP)
"""What a module of a SYCL kernel names as its language: DPC++ says OpenCL_CPP, and so does this compiler."""

_BY_LANGUAGE: dict[int, dict[str, str]] = dict.fromkeys(SYCL_LANGUAGES, _OF_SYCL)


def in_words(instruction: str, language: int) -> str:
    """``the barrier (OpControlBarrier)``; an instruction without an entry keeps its SPIR-V name alone."""
    words = _BY_LANGUAGE.get(language, {}).get(instruction) or _BY_NAME.get(instruction)
    return f"the {words} ({instruction})" if words else instruction
