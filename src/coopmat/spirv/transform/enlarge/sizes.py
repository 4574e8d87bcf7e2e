"""The work-group size that a kernel requires, changed."""

from __future__ import annotations

from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.grammar import ExecutionMode, Op
from coopmat.spirv.module.instruction import make

_SIZES = (ExecutionMode.LocalSize, ExecutionMode.LocalSizeId, ExecutionMode.LocalSizeHint,
          ExecutionMode.LocalSizeHintId)


def require_sizes(editor: FunctionEditor, function: int, local_size: tuple[int, int, int], *, sub_groups: bool = True
                  ) -> None:
    """Let a kernel require another work-group size. sub_groups: whether it still requires the size of sub-groups that
    it did; that counts only for their matrices."""
    dropped = _SIZES if sub_groups else (*_SIZES, ExecutionMode.SubgroupSize)
    kept = [row for row in editor.head if not (
        row.opcode in (Op.ExecutionMode, Op.ExecutionModeId) and row.words[0] == function and row.words[1] in dropped)]
    place = 1 + max(number for number, row in enumerate(kept) if row.opcode in (
        Op.EntryPoint, Op.ExecutionMode, Op.ExecutionModeId))
    kept.insert(place, make(Op.ExecutionMode, function, ExecutionMode.LocalSize, *local_size))
    editor.head = kept
