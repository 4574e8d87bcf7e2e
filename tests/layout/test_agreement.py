"""JSON, SVG, HTML and text say the same of every matrix in every table."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import numpy as np
import pytest

from coopmat.devices import DeviceDescription
from coopmat.layout import DeviceMatrix
from tests.kit.layout.device_matrices import ALL, Matrix, matrices_of
from tests.kit.layout.pictures import SVG, nodes

KEYS = ["device", "use", "type", "m", "n", "k", "rows", "columns", "sub_group_size", "components",
        "implementation_dependent", "source", "elements"]
ENTRY = ["row", "column", "lane", "component", "register", "bits"]
Entry = tuple[int, int, int, int, int]  # lane, component, register, lowest and highest bit


def entries_of(matrix: Matrix, shown: DeviceMatrix) -> dict[tuple[int, int], list[Entry]]:
    """What the JSON says, by row and column; its form is that of the contract."""
    found = json.loads(shown.to_json())
    assert list(found) == KEYS
    assert (found["device"], found["use"], found["type"]) == (f"sim:{matrix.device}", matrix.use, matrix.type)
    assert (found["m"], found["n"], found["k"]) == (matrix.m, matrix.n, matrix.k)
    shape = {"a": (matrix.m, matrix.k), "b": (matrix.k, matrix.n), "accumulator": (matrix.m, matrix.n)}[matrix.use]
    assert (found["rows"], found["columns"]) == shape
    result = defaultdict(list)
    for entry in found["elements"]:
        assert list(entry) == ENTRY
        low, high = entry["bits"]
        result[entry["row"], entry["column"]].append((entry["lane"], entry["component"], entry["register"], low, high))
    assert list(result) == [(row, column) for row in range(shape[0]) for column in range(shape[1])]
    for places in result.values():
        assert places == sorted(set(places))
        for lane, component, _, low, high in places:
            assert 0 <= lane < found["sub_group_size"]
            assert 0 <= component < found["components"]
            assert high - low + 1 == shown.layout.element_bits
    return result


def check_layout(shown: DeviceMatrix, entries: dict[tuple[int, int], list[Entry]]) -> None:
    """The JSON has everything that the layout holds, and nothing else."""
    row, column, valid = shown.layout.held
    held = {(int(row[place]), int(column[place]), *map(int, place)) for place in np.argwhere(valid).tolist()
            for place in [tuple(place)]}
    assert held == {(*element, *place[:2]) for element, places in entries.items() for place in places}


def check_svg(svg: str, entries: dict[tuple[int, int], list[Entry]]) -> None:
    """Every element has one node; its attributes are those of the first place, its title names all."""
    found = {}
    for node in nodes(svg):
        data = {name.removeprefix("data-"): value for name, value in node.attrib.items() if name.startswith("data-")}
        high, low = map(int, data["bits"].split(":"))
        element = int(data["row"]), int(data["column"])
        assert element not in found
        title = node.findtext(f"{SVG}title") or ""
        words = re.findall(r"lane (\d+), component (\d+), (?:register|tile row) (\d+), bits (\d+):(\d+)", title)
        places = [(*map(int, word[:3]), int(word[4]), int(word[3])) for word in words]
        assert title[1:].startswith(f"[{element[0]}][{element[1]}]: ")
        assert places[0] == (int(data["lane"]), int(data["component"]), int(data["register"]), low, high)
        several = " ".join(f"{lane}:{component}" for lane, component, *_ in places) if len(places) > 1 else None
        assert data.get("places") == several
        found[element] = places
    assert found == entries


def check_text(text: str, entries: dict[tuple[int, int], list[Entry]]) -> None:
    """Every field, by its row and by the heading of its column, is the first place."""
    assert max(map(len, text.splitlines()[1:])) <= 120
    found, columns = {}, []
    for line in text.split("\n\n", 1)[1].splitlines():
        words = line.split()
        if line.startswith(" ") and "[" not in line:
            columns = list(map(int, words))
        elif words:
            found |= {(int(words[0]), column): word for column, word in zip(columns, words[1:], strict=True)}
    assert found == {element: f"{places[0][0]}[{places[0][1]}]" for element, places in entries.items()}


@pytest.mark.parametrize("device", ALL, ids=lambda device: device.name)
def test_all_forms_agree(device: DeviceDescription, long_form: bool) -> None:
    for matrix in matrices_of(device, is_long=long_form):
        shown = matrix.layout()
        entries = entries_of(matrix, shown)
        check_layout(shown, entries)
        svg = shown.to_svg()
        check_svg(svg, entries)
        check_text(str(shown), entries)
        page = shown.to_html()
        assert page.count(svg) == 1
        for text in (svg, page, str(shown)):
            assert shown.title in text
            assert ("implementation-dependent" in text) == shown.layout.implementation_dependent
