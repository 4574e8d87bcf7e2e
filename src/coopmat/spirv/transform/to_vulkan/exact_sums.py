"""Sums stay as they are written: drivers may take ``(x + a) - a`` for ``x`` where nobody forbids it.

OpenCL C allows a product and a sum to become one instruction, and nothing else of that kind; Vulkan's decoration
NoContraction forbids all of it. So it goes to sums of what are no products, or of products that are used elsewhere,
too: there the rounded one may be meant, as where what a product loses is computed.
"""

from __future__ import annotations

from collections import Counter

from coopmat.spirv.grammar import Decoration, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import make

_SUMS = frozenset({Op.FAdd, Op.FSub})
_NUMBERS = frozenset({Op.TypeFloat, Op.TypeVector})
_ANNOTATIONS = frozenset({Op.Decorate, Op.MemberDecorate})


def with_exact_sums(module: Module) -> Module:
    """The shader with that decoration."""
    rows = module.instructions
    uses = Counter(word for row in rows if row.type_id is not None for word in row.ids())
    products = {row.result_id for row in module.of_opcode(Op.FMul) if uses[row.result_id or 0] == 1}
    products |= {row.result_id for row in module.of_opcode(Op.FNegate) if row.words[0] in products
                 and uses[row.result_id or 0] == 1}
    numbers = {row.result_id for row in rows if row.opcode in _NUMBERS}
    decorated = {row.words[0] for row in module.of_opcode(Op.Decorate) if row.words[1] == Decoration.NoContraction}
    exact = [row.result_id or 0 for row in rows if row.opcode in _SUMS and row.type_id in numbers
             and row.result_id not in decorated and not any(word in products for word in row.words)]
    if not exact:
        return module
    place = 1 + max(place for place, row in enumerate(rows) if row.opcode in _ANNOTATIONS)
    added = [make(Op.Decorate, identifier, Decoration.NoContraction) for identifier in exact]
    return module.with_instructions([*rows[:place], *added, *rows[place:]])
