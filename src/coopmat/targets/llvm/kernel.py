"""A whole kernel on any machine: what is known before code is written, its arguments, and the module with its code.

    origins = traced(flattened(prepared, entry, types))
    emitter = Emitter(machine, origins)
    bind(emitter, parameters, arguments)
    emitter.emit()
    text = module_text(emitter, header)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from coopmat.spirv.analysis.kernels import Parameter
from coopmat.spirv.analysis.types import MatrixType, PointerType, Type, TypeTable
from coopmat.spirv.module import EntryPoint
from coopmat.targets.analysis.flatten import Flat, flatten
from coopmat.targets.analysis.large_values import Prepared, in_variables
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.analysis.pointer_uses import PointerUses
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Number, Value
from coopmat.targets.llvm.variables import own_variable


def flattened(prepared: Prepared, entry: EntryPoint, types: TypeTable) -> Flat:
    """A kernel without calls, and with variables instead of large values."""
    return in_variables(flatten(prepared.module, entry.function_id, types), prepared)


def traced(flat: Flat, in_memory: Callable[[MatrixType], bool] = lambda kind: False, most_of_block: int = 0) -> Origins:
    """A kernel with what is known of its pointers: how they are used, and where they come from. ``in_memory``: whether
    variables with matrices of a type lie in memory where their components are accessed one by one. ``most_of_block``:
    how many components of a 2D block a work-item may have in a variable that needs no address."""
    return Origins(PointerUses(flat, in_memory, most_of_block))


class Arguments(Protocol):
    """How a machine passes arguments; each method writes what is needed, at the kernel's start."""

    def pointer(self, place: int, *, is_local: bool) -> str:
        """The address that the argument at a position is; ``is_local``: of local memory."""
        ...

    def value(self, place: int, kind: Type) -> Value:
        """The value of the argument at a position."""
        ...


def bind(emitter: Emitter, parameters: Iterable[Parameter], arguments: Arguments) -> None:
    """Give the kernel's parameters, which ``parameters`` describe, the values of its arguments. A pointer to what is
    passed by value is one to the work-item's own copy of it."""
    for place, (row, described) in enumerate(zip(emitter.flat.parameters, parameters, strict=False)):
        identifier, kind = row.result_id, emitter.result_type(row)
        assert identifier is not None
        emitter.homes.pop(identifier, None)
        if not isinstance(kind, PointerType):
            emitter.constants[identifier] = arguments.value(place, kind)
        elif described.kind == "value":
            pointee = emitter.types.pointee(kind)
            own_variable(emitter, identifier, pointee, arguments.value(place, pointee))
        else:
            address = arguments.pointer(place, is_local=described.kind == "local")
            emitter.constants[identifier] = (Number("ptr", address),)


def module_text(emitter: Emitter, header: str, *, variables: Sequence[str] = (), helpers: Sequence[str] = (),
                start: Sequence[str] = (), end: Sequence[str] = (),
                versions: Mapping[str, Callable[[str], str]] = MappingProxyType({})) -> str:
    """A module of LLVM IR with the code that was written, as the function with this header.

    variables: lines with the variables of the module. helpers: functions beside those that the code's writer knows of.
    start: what runs before everything else. end: what follows the function. versions: further functions with the same
    code, by their headers, and what they have in the place of a line; nothing, if that is empty.
    """
    writer = emitter.writer
    code = ["entry:", *start, *writer.entry, *writer.lines, "  ret void", "}"]
    others = [[f"define {other} {{", *(found for line in code if (found := changed(line)))]
              for other, changed in versions.items()]
    return "\n".join([
        *variables, *writer.declarations.values(), *writer.helpers.values(), *helpers,
        f"define {header} {{", *code, *(line for lines in others for line in lines), *end, "!0 = !{}"])
