"""docs/joint-matrix.md and docs/sycl-functions.md name everything that a program can write."""

from __future__ import annotations

import re

import pytest

import coopmat.sycl as sycl
from coopmat.runtime.commands import Handler, MemoryCommands
from coopmat.runtime.events import Event
from coopmat.sycl.compiler.builtins import work_items
from coopmat.sycl.queries import matrix_params
from tests.kit.paths import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "joint-matrix.md").read_text()
TABLE = PAGE[PAGE.index("## Porting table"):PAGE.index("## The kernel language")]
FUNCTIONS = (DOCS / "sycl-functions.md").read_text()


def words(text: str) -> set[str]:
    """The names in a page's code."""
    return {word for code in re.findall(r"`[^`]+`", text) for word in re.findall(r"\w+", code)}


def public(owner: type) -> set[str]:
    return {name for name in vars(owner) if not name.startswith("_")}


NAMES = {
    "work-items": set(work_items._ITEM_METHODS),
    "groups": set(work_items._GROUP_METHODS),
    "sub-groups": set(work_items._OF_SUB_GROUP),
    "queues": public(MemoryCommands) - {"device"},
    "command groups": public(Handler) - {"execute"},
    "events": public(Event) - {"of", "elapsed"},
    "matrix_params": public(matrix_params) & {"joint_matrix_a", "joint_matrix_b", "joint_matrix_c", "joint_matrix_d"},
    "information": set(sycl.info.device.descriptors),
    "cache modes": {one.name for one in sycl.cache_mode},
}


def test_every_public_name_is_described() -> None:
    assert set(sycl.__all__) - words(TABLE) - words(FUNCTIONS) == set()


def test_every_name_that_is_no_function_of_kernels_is_in_the_porting_table() -> None:
    assert set(sycl.__all__) - words(TABLE) - set(re.findall(r"^\| `(\w+)\(", FUNCTIONS, re.M)) == set()


@pytest.mark.parametrize("what", NAMES)
def test_every_method_is_in_the_porting_table(what: str) -> None:
    assert NAMES[what] - words(TABLE) == set()


def test_nothing_is_named_that_does_not_exist() -> None:
    """What the right-hand column calls is a name of the module, or of Python."""
    found = set()
    for line in TABLE.splitlines():
        cells = re.split(r"(?<!\\) \| ", line)
        for code in re.findall(r"`([^`]+)`", cells[1]) if len(cells) == 2 else ():
            found |= set(re.findall(r"(?<![\w.])([a-z]\w{3,})[\[(]", code))
    known = set(sycl.__all__) | set(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)
    assert found
    assert found - known == {"tile"}  # a local_accessor of the table
