"""What expressions see: the variables of one activation, or of the module, for the lanes of a batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coopmat.debugger.activations import Activation
from coopmat.debugger.code import Variable, module_variables
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import PointerType, Type, TypeTable
from coopmat.spirv.grammar import Decoration, FunctionParameterAttribute
from coopmat.spirv.module import Module
from coopmat.targets.simulator.state import Frame, Mask, Site
from coopmat.targets.simulator.values import Array, Value, zero


@dataclass(frozen=True)
class Known:
    """A value, or a place in memory that holds one: then ``address`` is given, ``[S, L]`` or what broadcasts to it, and
    ``value`` is None until it is read. ``type_id`` is the type's id in the module, where it has one; ``is_unsigned``:
    its integers have no sign, or those that it leads to."""

    kind: Type
    value: Value = None
    type_id: int | None = None
    is_unsigned: bool = False
    address: Array | None = None


@dataclass(frozen=True)
class Address(PointerType):
    """A pointer that the debugger made, to a value of type ``target``."""

    target: Type


class Scope:
    """The names of an activation. ``lanes``, ``[S, L]``, are those whose values count."""

    def __init__(self, activation: Activation, lanes: Array) -> None:
        assert activation.frame is not None
        assert activation.code is not None
        self.activation = activation
        self.frame: Frame = activation.frame
        self.code = activation.code
        self.compiler = activation.code.function.compiler
        self.module: Module = self.compiler.module
        self.types: TypeTable = self.compiler.types
        self.lanes = lanes

    def narrowed(self, condition: Array) -> Scope:
        """The same for the lanes where a condition holds, too."""
        return Scope(self.activation, self.lanes & condition)

    def find(self, name: str) -> Known:
        """What a name stands for; Error, naming what there is, if it is unknown."""
        variable = self.code.function.find(name, self.code)
        if variable is not None:
            return self.held(variable)
        shared = module_variables(self.module).get(name)
        if shared is not None and shared.identifier in self.compiler.kernel._values:
            return self._at(shared, self.compiler.kernel.value(shared.identifier))
        known = ", ".join(dict.fromkeys(variable.name for variable in self.code.function.variables))
        raise Error(f"no variable '{name}' in {self.code.function.name}" + (f"; it has {known}" if known else ""))

    def shared(self) -> list[str]:
        """The names of the module's variables that there are here; local ones are among them."""
        return [name for name, variable in module_variables(self.module).items()
                if variable.identifier in self.compiler.kernel._values]

    def held(self, variable: Variable) -> Known:
        """What a variable or parameter of the function is."""
        place = self.compiler.places.get(variable.identifier)
        if place is not None:
            return Known(place.kind, place.root(self.frame), variable.type_id, variable.is_unsigned)
        slot = self.compiler.slot(variable.identifier)
        value = self.frame.slots[slot]
        if variable.is_variable:
            return self._at(variable, value)
        kind = self.types[variable.type_id]
        found = Known(kind, value, variable.type_id, variable.is_unsigned)
        by_value = any(decoration == Decoration.FuncParamAttr and words[0] == FunctionParameterAttribute.ByVal
                       for decoration, words in self.module.decorations(variable.identifier))
        return self.pointed(found) if by_value else found

    def _at(self, variable: Variable, address: Array) -> Known:
        return Known(self.types[variable.type_id], None, variable.type_id, variable.is_unsigned, address)

    def pointed(self, pointer: Known) -> Known:
        """What a pointer points to."""
        assert isinstance(pointer.kind, PointerType)
        return Known(self.target(pointer.kind), None, pointer.kind.pointee_id or None, pointer.is_unsigned,
                     pointer.value)

    def target(self, kind: PointerType) -> Type:
        """The type that a pointer points to."""
        return kind.target if isinstance(kind, Address) else self.types[kind.pointee_id]

    def load(self, known: Known) -> Known:
        """The value itself, read from memory if it is there. Error for memory that no lane may read."""
        if known.value is not None or known.address is None:
            return known
        if not self.lanes.any():
            return replace(known, value=zero(known.kind))
        reader = Frame(self.frame.batch, self.frame.slots, Mask(self.lanes, self.frame.batch.lanes))
        site = Site(self.compiler.kernel.kernel, None, "debugger", 0)
        with np.errstate(all="ignore"):
            return replace(known, value=self.frame.memory.unwatched.read(reader, known.address, known.kind, 1, site))

    def at(self, value: Value, place: tuple[int, int]) -> Any:
        """A value of one lane: a scalar of numpy, an array of components or of a matrix, a tuple for an aggregate."""
        if isinstance(value, tuple):
            return tuple(self.at(part, place) for part in value)
        sub_group, lane = place
        full: Array = value
        return full[min(sub_group, full.shape[0] - 1), min(lane, full.shape[1] - 1)]
