"""The decorations of a module, with what they stand on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coopmat.spirv.grammar import Decoration, LinkageType, Op
from coopmat.spirv.module.operands import decode_string
from coopmat.spirv.validate.arrays import ModuleArrays

_OF_IDS = (Op.Decorate, Op.DecorateId, Op.DecorateString)
_OF_MEMBERS = (Op.MemberDecorate, Op.MemberDecorateString, Op.MemberDecorateIdEXT)


class Decorated(NamedTuple):
    """One decoration of one thing: the instruction that says so, the decoration and its parameters' words, the id
    that it stands on, and the structure's member (None: the id itself)."""

    at: int
    decoration: int
    parameters: tuple[int, ...]
    target: int
    member: int | None


class Linkage(NamedTuple):
    """The linkage of an id: the instruction that says so, the name, and the linkage type."""

    at: int
    name: str
    kind: int


class Annotations:
    """Decorations by what they stand on, decoration groups applied."""

    def __init__(self, view: ModuleArrays) -> None:
        self.all = list(_decorations(view))
        self.of_id: dict[int, list[Decorated]] = {}
        for entry in self.all:
            self.of_id.setdefault(entry.target, []).append(entry)
        self.linkage = dict(_linkage(self.all))

    @property
    def imports(self) -> set[int]:
        """The ids with Import linkage."""
        return {identifier for identifier, linkage in self.linkage.items() if linkage.kind == LinkageType.Import}

    def targets(self, decoration: Decoration) -> set[int]:
        """The ids that have this decoration."""
        return {entry.target for entry in self.all if entry.decoration == decoration and entry.member is None}

    def has(self, identifier: int, *decorations: Decoration) -> bool:
        """Whether an id has one of these decorations."""
        return any(entry.decoration in decorations and entry.member is None
                   for entry in self.of_id.get(identifier, ()))


def _decorations(view: ModuleArrays) -> Iterator[Decorated]:
    groups: dict[int, list[Decorated]] = {}
    for index, item in view.of_opcode(*_OF_IDS, *_OF_MEMBERS, Op.GroupDecorate, Op.GroupMemberDecorate):
        words = item.words
        if item.opcode in _OF_IDS:
            entry = Decorated(index, words[1], words[2:], words[0], None)
            if view.definition(words[0]).opcode == Op.DecorationGroup:
                groups.setdefault(words[0], []).append(entry)
            else:
                yield entry
        elif item.opcode in _OF_MEMBERS:
            yield Decorated(index, words[2], words[3:], words[0], words[1])
        elif item.opcode == Op.GroupDecorate:
            yield from (entry._replace(at=index, target=target)
                        for target in words[1:] for entry in groups.get(words[0], ()))
        else:
            yield from (entry._replace(at=index, target=target, member=member)
                        for target, member in zip(words[1::2], words[2::2], strict=False)
                        for entry in groups.get(words[0], ()))


def _linkage(entries: list[Decorated]) -> Iterator[tuple[int, Linkage]]:
    for entry in entries:
        if entry.decoration == Decoration.LinkageAttributes and entry.member is None:
            name = decode_string(entry.parameters, 0)
            if name is not None and name[1] < len(entry.parameters):
                yield entry.target, Linkage(entry.at, name[0], entry.parameters[name[1]])
