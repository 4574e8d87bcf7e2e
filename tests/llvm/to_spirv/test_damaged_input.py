"""IR with tokens replaced, lines lost and functions renamed ends in a module or in an error of the package."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from coopmat import llvm
from coopmat.diagnostics import Error
from tests.kit.paths import ROOT

SOURCES = sorted((ROOT / "tests" / "lowering" / "llvm" / "golden").glob("*.ll"))
ROUNDS, LONG_ROUNDS = 100, 1000
TYPES = ("i32", "i64", "float", "half", "i8", "i1", "ptr", "double", "bfloat", "<4 x float>")
NUMBERS = ("0", "1", "3", "8", "64", "4294967296", "-1")
FUNCTIONS = ("__spirv_Load", "__spirv_Store", "__spirv_SDot", "__spirv_Phi", "__spirv_AtomicIAdd", "__spirv_Select",
             "__spirv_CompositeInsert", "__spirv_VectorShuffle", "__spirv_InBoundsPtrAccessChain", "__spirv_Label",
             "__spirv_SpecConstant", "__spirv_GenericCastToPtrExplicit", "_Z11convert_inth", "_Z8mem_fencej")


def damaged(text: str, chance: random.Random) -> str:
    tokens = list(re.finditer(r"[\w.]+|\S", text))
    match chance.randrange(5):
        case 0:
            old, new = chance.choice(tokens), chance.choice(tokens)
            return text[:old.start()] + new.group() + text[old.end():]
        case 1:
            number = chance.choice([token for token in tokens if token.group().isdigit()])
            return text[:number.start()] + chance.choice(NUMBERS) + text[number.end():]
        case 2:
            return re.sub(rf"\b{chance.choice(TYPES[:6])}\b", chance.choice(TYPES), text)
        case 3:
            lines = text.split("\n")
            del lines[chance.randrange(len(lines))]
            return "\n".join(lines)
    names = [token.group() for token in tokens if token.group().startswith("_Z")]
    if not names:
        return text
    return text.replace(chance.choice(names), chance.choice((*FUNCTIONS, chance.choice(names) + "_9")))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_damaged_input(path: Path, long_form: bool) -> None:
    chance = random.Random(path.stem)
    source = path.read_text()
    seen: Counter[str] = Counter()
    for _ in range(LONG_ROUNDS if long_form else ROUNDS):
        text = damaged(source, chance)
        try:
            llvm.to_spirv(text if chance.random() < 0.7 else damaged(text, chance))
            seen["module"] += 1
        except Error:
            seen["error"] += 1
    assert min(seen["module"], seen["error"]) > 10
