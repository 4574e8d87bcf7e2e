"""Variables with cooperative matrices fall into parts, where a function accesses certain parts of them only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from coopmat.llvm.to_spirv.ir_text import VALUE, Types, is_matrix, operands, split_type, values_in
from coopmat.llvm.to_spirv.matrix_accesses import AccessCall, PointerPlace

_VARIABLE = re.compile(rf"  ({VALUE}) = alloca (.*)")
_LIFETIME = re.compile(r"  call void @llvm\.lifetime\.")

Path = tuple[int, ...]


def variable_type(line: str) -> tuple[str, str] | None:
    """Name and type of the one variable that a line makes; None of another line."""
    found = _VARIABLE.match(line)
    if found is None:
        return None
    type_, *rest = operands(found.group(2))
    return (found.group(1), type_) if all(part.startswith("align ") for part in rest) else None


class Parts:
    """The parts that the variables of a function fall into. ``calls`` are the accesses, by the numbers of lines."""

    def __init__(self, lines: Sequence[str], calls: Mapping[int, AccessCall], types: Types) -> None:
        self._types = types
        self._variables = dict(found for line in lines if (found := variable_type(line)) is not None
                               and types.holds_matrix(found[1]))
        paths: dict[str, set[Path]] = {name: set() for name, type_ in self._variables.items() if not is_matrix(type_)}
        for number, line in enumerate(lines):
            call = calls.get(number)
            split = self._split(call) if call is not None else None
            if call is not None and split is not None and call.place.base in paths:
                paths[call.place.base].add(split[0])
            elif not _VARIABLE.match(line) and not _LIFETIME.match(line):
                for name in values_in(line):
                    paths.pop(name, None)
        taken = {name for line in lines for name in values_in(line)}
        self._names = {name: _names(name, found, taken) for name, found in paths.items() if not _overlap(found)}

    @property
    def any(self) -> bool:
        """Whether variables fall into parts."""
        return bool(self._names)

    def _split(self, call: AccessCall) -> tuple[Path, PointerPlace] | None:
        """The constant path to the part of a variable that a call accesses, and the place in that part; None where
        there is no such path, or a pointer to it that can lead on is wanted."""
        place = call.place
        type_: str | None = self._variables.get(place.base, "")
        path: list[int] = []
        computed = list(place.computed)
        steps = list(place.steps)
        while steps and steps[0].indexed is not None:
            indices = [computed.pop(0) if index is None else index for index in steps[0].indices]
            numbers = [split_type(index)[1] for index in indices]
            if steps[0].indexed != type_ or numbers[0] != "0":
                return None
            for number in numbers[1:]:
                type_ = self._types.part(type_, int(number)) if type_ and number.isdigit() else None
                path += [int(number)] if type_ else []
            steps.pop(0)
        if not path or type_ is None or (not steps and call.access.kind == "address"):
            return None
        return tuple(path), PointerPlace(split_type(place.root)[0], tuple(steps), tuple(computed))

    def lines(self, line: str) -> list[str]:
        """The lines for one that is no access."""
        variable = _VARIABLE.match(line)
        if variable is None:
            is_gone = _LIFETIME.match(line) and any(name in self._names for name in values_in(line))
            return [] if is_gone else [line]
        names = self._names.get(variable.group(1))
        if names is None:
            return [line]
        _, *rest = operands(variable.group(2))
        return [f"  {name} = alloca {', '.join([self._type(variable.group(1), path), *rest])}"
                for path, name in sorted(names.items())]

    def _type(self, name: str, path: Path) -> str:
        type_ = self._variables[name]
        for index in path:
            type_ = self._types.part(type_, index) or ""
        return type_

    def moved(self, call: AccessCall) -> AccessCall:
        """An access to a variable that falls into parts is one to a part."""
        names = self._names.get(call.place.base)
        split = self._split(call) if names is not None else None
        if names is None or split is None:
            return call
        path, place = split
        return replace(call, place=replace(place, root=f"{place.root} {names[path]}"))

    def is_direct(self, call: AccessCall) -> bool:
        """Whether a call accesses a variable that is one matrix."""
        return not call.place.steps and is_matrix(self._variables.get(call.place.base, ""))


def _overlap(paths: Iterable[Path]) -> bool:
    """Whether one part lies in another, or there are none."""
    ordered = sorted(paths)
    return not ordered or any(after[:len(before)] == before for before, after in pairwise(ordered))


def _names(name: str, paths: Iterable[Path], taken: set[str]) -> dict[Path, str]:
    """A new name for each part."""
    names: dict[Path, str] = {}
    for path in paths:
        suffix = "".join(f".{index}" for index in path)
        while (new := f'{name[:-1]}{suffix}"' if name.endswith('"') else f"%part{suffix}" if name[1:].isdigit()
               else f"{name}{suffix}") in taken:
            suffix += "_"
        taken.add(new)
        names[path] = new
    return names
