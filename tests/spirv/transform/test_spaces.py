"""Generic pointers: what they can only point into is known afterwards, elsewhere a tag says it; kernels compute the
same."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import Error
from coopmat.spirv import Module
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.structure import unstructured
from tests.kit.paths import ROOT

SOURCE = (ROOT / "tests" / "kernels" / "generic.cl").read_text()
ITEMS, WORDS = 32, 320
CHAINS = {"with values": "inline,values,fold,spaces", "as written": "spaces", "inlined": "inline,spaces,structure"}


def launched(module: Module, kernel: str) -> np.ndarray:
    data = np.arange(WORDS, dtype=np.int32)
    cm.Queue(cm.device("sim:generic")).enqueue(cm.build(module).kernel(kernel), ITEMS, ITEMS, data,
                                               cm.local(4 * ITEMS)).wait()
    return data


def without_generic(module: Module, chain: str) -> tuple[Module, str]:
    changed, notes = passes.transform(module, passes.chosen(chain.split(",")))
    assert [found for found in changed.validate() if found.severity == "error"] == []
    assert not any(row.words[0] == StorageClass.Generic for row in changed.of_opcode(Op.TypePointer))
    return changed, "\n".join(map(str, notes))


@pytest.mark.parametrize("name", CHAINS)
def test_kernels(name: str) -> None:
    module = cm.build(SOURCE).module
    changed, _ = without_generic(module, CHAINS[name])
    kernels = [entry.name for entry in module.entry_points]
    assert len(kernels) > 5
    for kernel in kernels:
        expected = launched(module, kernel)
        assert (expected != np.arange(WORDS)).any()
        np.testing.assert_array_equal(launched(changed, kernel), expected, err_msg=kernel)


def test_known_memory_needs_no_tags() -> None:
    source = SOURCE[:SOURCE.index("// --- tags")]
    changed, notes = without_generic(cm.build(source).module, CHAINS["with values"])
    assert "generic pointers resolved" in notes
    assert not any(changed.of_opcode(Op.ConvertUToPtr, Op.PtrCastToGeneric))
    assert all(row.words[0] in (StorageClass.Function, StorageClass.Workgroup, StorageClass.CrossWorkgroup,
                                StorageClass.Input) for row in changed.of_opcode(Op.TypePointer))


def test_structure_stays() -> None:
    """Accesses in several arms are selections with their merge blocks."""
    program = cm.build(SOURCE).module
    assert not unstructured(program)
    assert not unstructured(without_generic(program, "spaces")[0])


def test_modules_without_generic_pointers_stay() -> None:
    module = cm.build("kernel void f(global int *p) { p[0] = 1; }").module
    assert passes.transform(module, passes.chosen(["spaces"]))[0] is module


def test_what_is_refused() -> None:
    text = cm.build(SOURCE).module.to_text().replace("Physical64", "Physical32")
    with pytest.raises(Error, match="the module's addresses must have 64 bits"):
        passes.chosen(["spaces"])[0].apply(Module.from_text(text), passes.Goal(), print)
