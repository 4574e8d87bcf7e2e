"""Linking: several modules into one, what some import matched with what others export (SPIR-V 2.16, Linkage).

Ids are renumbered; types and constants that are the same become one; capabilities and extensions are united.
What no module exports stays an import, so that a module that was linked can be linked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.edit.identities import Name, check_known, classes
from coopmat.spirv.edit.ordering import LINES, ordered
from coopmat.spirv.grammar import Decoration, LinkageType, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.operands import decode_string
from coopmat.spirv.text.names import FriendlyNames
from coopmat.spirv.validate.sections import DECLARATIONS, SECTION_OF, SECTIONS

_CAPABILITIES, _EXTENSIONS, _SETS, _MEMORY_MODEL, _ENTRY_POINTS = range(1, 6)
_CONTINUATIONS = frozenset({Op.TypeStructContinuedINTEL, Op.ConstantCompositeContinuedINTEL,
                            Op.SpecConstantCompositeContinuedINTEL})
_WITH_TARGETS: dict[int, int] = {Op.GroupDecorate: 1, Op.GroupMemberDecorate: 2}
"""Instructions that apply a group to many → the words that each takes."""
_ABOUT_ONE = frozenset({Op.Name, Op.MemberName, Op.Decorate, Op.MemberDecorate, Op.DecorateId, Op.DecorateString,
                        Op.MemberDecorateString, Op.MemberDecorateIdEXT})
ALL_VARIABLES = 0x00010400
"""The version since which an entry point lists the variables of all storage classes."""


def link(modules: Sequence[Module], names: Sequence[str] | None = None) -> Module:
    """One module from several.  ``names`` are what messages call them.

    Raises Error if two export one name, if an import and its export have different types, or if the modules
    are not for the same memory model.
    """
    if not modules:
        raise Error("there is nothing to link: give at least one module")
    called = list(names) if names is not None else [f"module {number}" for number in range(1, len(modules) + 1)]
    for module in modules:
        module.check_operands()
    return _Linker(modules, called).link()


@dataclass(slots=True)
class _Symbol:
    """A function or variable with a LinkageAttributes decoration."""

    name: str
    id: Name
    linkage: int
    item: Instruction


@dataclass(slots=True)
class _Output:
    """The instructions of the new module by section; functions by whether they have a body."""

    sections: dict[int, list[Instruction]] = field(default_factory=dict)
    declared: list[Instruction] = field(default_factory=list)
    defined: list[Instruction] = field(default_factory=list)


class _Linker:
    def __init__(self, modules: Sequence[Module], names: Sequence[str]) -> None:
        self.modules = modules
        self.names = names
        self.starts = [0]
        for module in modules:
            self.starts.append(self.starts[-1] + module.bound)
        self.bound = self.starts[-1]
        self.same = classes(modules)
        self.replaced: dict[Name, Name] = {name: first for name, first in self.same.items() if name != first}
        self.recast: dict[Name, Name] = {}  # imported function → its definition, whose pointers are of other types

    def link(self) -> Module:
        self._check()
        self._merge_inputs()
        self._resolve()
        output = _Output()
        for number in range(len(self.modules)):
            self._copy(number, output)
        instructions = [item for section in (*SECTIONS, DECLARATIONS)
                        for item in self._finished(section, output.sections.get(section, []))]
        version = max(module.version for module in self.modules)
        module = Module([*instructions, *output.declared, *output.defined], bound=self.bound, version=version)
        interfaces = _interfaces(module)
        return Module([interfaces.get(item, item) for item in module.instructions], bound=self.bound, version=version)

    def _check(self) -> None:
        first: tuple[int, ...] | None = None
        entries: dict[tuple[int, str], str] = {}
        for name, module in zip(self.names, self.modules, strict=True):
            for item in module.of_opcode(Op.MemoryModel):
                if first is not None and item.words != first:
                    raise Error(f"{name} has the memory model {item}, {self.names[0]} has "
                                f"{next(self.modules[0].of_opcode(Op.MemoryModel))}: compile both for the same")
                first = item.words
            for entry in module.entry_points:
                other = entries.setdefault((entry.model, entry.name), name)
                if other is not name:
                    raise Error(f"kernel '{entry.name}' is in {other} and in {name}: rename one of them")
            for item in module.of_opcode(*_CONTINUATIONS):
                raise Error(f"{name}: {item.name} cannot be linked")

    # -- symbols -----------------------------------------------------------------------

    def _symbols(self) -> Iterator[_Symbol]:
        for number, module in enumerate(self.modules):
            for item in module.instructions:
                if item.opcode not in (Op.Function, Op.Variable) or item.result_id is None:
                    continue
                for decoration, words in module.decorations(item.result_id):
                    decoded = decode_string(words, 0) if decoration == Decoration.LinkageAttributes else None
                    if decoded is not None and decoded[1] < len(words):
                        yield _Symbol(decoded[0], (number, item.result_id), words[decoded[1]], item)

    def _merge_inputs(self) -> None:
        """Make the variables of one built-in one."""
        found: dict[tuple[Name, int], Name] = {}
        for number, module in enumerate(self.modules):
            for item in module.of_opcode(Op.Variable):
                if item.words[0] != StorageClass.Input or item.result_id is None or item.type_id is None:
                    continue
                builtin = next((words[0] for decoration, words in module.decorations(item.result_id)
                                if decoration == Decoration.BuiltIn), None)
                if builtin is not None:
                    kind = self.same.get((number, item.type_id), (number, item.type_id))
                    first = found.setdefault((kind, builtin), (number, item.result_id))
                    if first[0] != number:
                        self.replaced[number, item.result_id] = first

    def _resolve(self) -> None:
        """Find for each name the symbol that all others of this name stand for."""
        by_name: dict[str, list[_Symbol]] = {}
        for symbol in self._symbols():
            if symbol.id not in self.replaced:
                by_name.setdefault(symbol.name, []).append(symbol)
        for name, symbols in by_name.items():
            exports = [symbol for symbol in symbols if symbol.linkage == LinkageType.Export]
            if len(exports) > 1:
                raise Error(f"'{name}' is exported by {' and by '.join(self.names[s.id[0]] for s in exports)}: "
                            "one name can have one definition")
            merged = [symbol for symbol in symbols if symbol.linkage == LinkageType.LinkOnceODR]
            chosen = (exports or merged or symbols)[0]
            for symbol in symbols:
                if symbol is not chosen:
                    self._match(symbol, chosen)

    def _match(self, symbol: _Symbol, chosen: _Symbol) -> None:
        """Let ``symbol`` stand for ``chosen``; Error unless the types are the same."""
        if self._type(symbol) == self._type(chosen):
            self.replaced[symbol.id] = chosen.id
        elif self._differ_in_pointees(symbol, chosen):
            self.recast[symbol.id] = chosen.id
        else:
            texts = [self._type_text(one) for one in (chosen, symbol)]
            if texts[0] == texts[1]:  # the names do not tell the types apart
                texts = [self._type_text(one, in_full=True) for one in (chosen, symbol)]
            raise Error(f"'{symbol.name}' is {texts[0]} in {self.names[chosen.id[0]]}, but {texts[1]} in "
                        f"{self.names[symbol.id[0]]}: the types must be the same")

    def _type(self, symbol: _Symbol) -> Name:
        item, number = symbol.item, symbol.id[0]
        own = (number, item.words[1] if item.opcode == Op.Function else item.type_id or 0)
        return self.same.get(own, own)

    def _differ_in_pointees(self, symbol: _Symbol, chosen: _Symbol) -> bool:
        """Whether two functions differ only in what their pointers point to: LLVM does not know that of a
        function that it only declares."""
        if symbol.item.opcode != Op.Function or chosen.item.opcode != Op.Function:
            return False
        pairs = list(zip(self._signature(symbol), self._signature(chosen), strict=False))
        return (len(self._signature(symbol)) == len(self._signature(chosen))
                and all(one == other or self._pointer(one) == self._pointer(other) is not None
                        for one, other in pairs))

    def _signature(self, symbol: _Symbol) -> list[Name]:
        """The types of a function's result and parameters."""
        number, identifier = self._type(symbol)
        return [self.same.get((number, word), (number, word))
                for word in self.modules[number].definition(identifier).words]

    def _pointer(self, name: Name) -> int | None:
        item = self.modules[name[0]].definition(name[1])
        return item.words[0] if item.opcode == Op.TypePointer else None

    def _type_text(self, symbol: _Symbol, in_full: bool = False) -> str:
        module = self.modules[symbol.id[0]]
        name = FriendlyNames(module).name

        def called(identifier: int) -> str:
            return str(module.definition(identifier)).partition("= ")[2] if in_full else name(identifier)

        if symbol.item.opcode == Op.Variable:
            return called(symbol.item.type_id or 0)
        result, *parameters = module.definition(symbol.item.words[1]).words
        return f"{called(result)} ({', '.join(map(called, parameters))})"

    # -- copying -----------------------------------------------------------------------

    def _id(self, name: Name) -> int:
        """The id in the new module."""
        number, identifier = self.replaced.get(name) or self.recast.get(name) or name
        return self.starts[number] + identifier

    def _is_gone(self, name: Name) -> bool:
        return name in self.replaced or name in self.recast

    def _renumbered(self, number: int, item: Instruction) -> Instruction:
        check_known(item)
        return item.with_ids(lambda identifier: self._id((number, identifier)))

    def _copy(self, number: int, output: _Output) -> None:
        """Take over the instructions of one module."""
        gone = self._inside_of_gone(number)
        function: list[Instruction] = []
        lines: list[Instruction] = []
        for item in self.modules[number].instructions:
            if function or item.opcode == Op.Function:
                function.append(item)
                if item.opcode == Op.FunctionEnd:
                    self._copy_function(number, [*lines, *function], output)
                    function, lines = [], []
            elif item.opcode in LINES:
                lines.append(item)
            else:
                kept = self._kept(number, item, gone)
                section = output.sections.setdefault(SECTION_OF.get(item.opcode, DECLARATIONS), [])
                if kept is not None:
                    section += [self._renumbered(number, one) for one in (*lines, kept)]
                lines = []

    def _inside_of_gone(self, number: int) -> set[int | None]:
        """The ids inside of functions that are gone."""
        gone = [function for function in self.modules[number].functions if self._is_gone((number, function.id))]
        return {item.result_id for function in gone
                for items in (function.parameters, *(block.instructions for block in function.blocks))
                for item in items} | {block.label for function in gone for block in function.blocks}

    def _kept(self, number: int, item: Instruction, gone: set[int | None]) -> Instruction | None:
        """An instruction outside of functions, without what it says of ids that are gone; None if nothing is left."""
        def is_gone(identifier: int) -> bool:
            return identifier in gone or self._is_gone((number, identifier))

        if item.result_id is not None:
            return None if is_gone(item.result_id) else item
        if item.opcode in _ABOUT_ONE:
            return None if is_gone(item.words[0]) else item
        if item.opcode in _WITH_TARGETS:
            size = _WITH_TARGETS[item.opcode]
            targets = [item.words[start:start + size] for start in range(1, len(item.words), size)]
            words = tuple(word for target in targets if not is_gone(target[0]) for word in target)
            return Instruction(item.opcode, None, None, (item.words[0], *words)) if words else None
        return item

    def _copy_function(self, number: int, items: list[Instruction], output: _Output) -> None:
        head = next(item for item in items if item.opcode == Op.Function)
        if self._is_gone((number, head.result_id or 0)):
            return
        has_body = any(item.opcode == Op.Label for item in items)
        target = output.defined if has_body else output.declared
        for item in items:
            callee = (number, item.words[0]) if item.opcode == Op.FunctionCall else (-1, 0)
            if callee in self.recast:
                target += self._recast_call(number, item, self.recast[callee])
            else:
                target.append(self._renumbered(number, item))

    def _recast_call(self, number: int, item: Instruction, callee: Name) -> list[Instruction]:
        """A call of a function whose pointers are of other types, with the casts."""
        call = self._renumbered(number, item)
        module = self.modules[callee[0]]
        kind = module.definition(module.definition(callee[1]).words[1])
        result, *parameters = (self._id((callee[0], word)) for word in kind.words)
        target = self._id(callee)
        casts: list[Instruction] = []
        arguments = []
        for argument, original, parameter in zip(call.words[1:], item.words[1:], parameters, strict=True):
            given = self._id((number, self.modules[number].definition(original).type_id or 0))
            if given != parameter:
                casts.append(make(Op.Bitcast, argument, type_id=parameter, result_id=self._fresh()))
                argument = casts[-1].result_id or 0
            arguments.append(argument)
        if result == call.type_id:
            return [*casts, make(Op.FunctionCall, target, *arguments, type_id=result, result_id=call.result_id)]
        made = make(Op.FunctionCall, target, *arguments, type_id=result, result_id=self._fresh())
        return [*casts, made, make(Op.Bitcast, made.result_id or 0, type_id=call.type_id, result_id=call.result_id)]

    def _fresh(self) -> int:
        self.bound += 1
        return self.bound - 1

    # -- sections ----------------------------------------------------------------------

    def _finished(self, section: int, items: list[Instruction]) -> list[Instruction]:
        """The instructions of a section: in an order in which each id comes before its uses, and none twice."""
        if section in (_CAPABILITIES, _EXTENSIONS, _MEMORY_MODEL):
            return list({item.to_words(): item for item in items}.values())
        return ordered(items) if section == DECLARATIONS else items


def _interfaces(module: Module) -> dict[Instruction, Instruction]:
    """Each entry point → the same with all variables that its functions use in its interface, as they came from
    several modules: before SPIR-V 1.4 those of the storage classes Input and Output, then all."""
    variables = {item.result_id: item.words[0] for item in module.of_opcode(Op.Variable)
                 if module.version >= ALL_VARIABLES or item.words[0] in (StorageClass.Input, StorageClass.Output)}
    used: dict[int, dict[int, None]] = {}
    calls: dict[int, set[int]] = {}
    local = set()
    for function in module.functions:
        rows = [item for block in function.blocks for item in block.instructions]
        local |= {item.result_id for item in rows if item.opcode == Op.Variable}
        used[function.id] = {word: None for item in rows for word in item.ids() if word in variables}
        calls[function.id] = {callee for item in rows for callee in callees_of(item)}
    found = {}
    for item, entry in zip(module.of_opcode(Op.EntryPoint), module.entry_points, strict=True):
        waiting, reached = [entry.function_id], {entry.function_id}
        while waiting:
            more = calls.get(waiting.pop(), set()) - reached
            reached |= more
            waiting += more
        missing = {word: None for function in reached for word in used.get(function, {})
                   if word not in entry.interface and word not in local}
        found[item] = Instruction(item.opcode, None, None, (*item.words, *missing))
    return found
