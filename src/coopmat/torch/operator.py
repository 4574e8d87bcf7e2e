"""Operators of PyTorch that run a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from coopmat.diagnostics import Error
from coopmat.runtime.program import Kernel
from coopmat.runtime.python_kernels import PythonKernel
from coopmat.runtime.ranges import nd_range
from coopmat.spirv.analysis.kernels import Parameter
from coopmat.support.cached import cached_property
from coopmat.torch.choices import Arguments, Choice
from coopmat.torch.tensors import check_tensor, device_of, memory_of, own_dtype, queue_on, shape_and_dtype, taken

NUMBERS = {"int": "SymInt", "bool": "bool", "float": "float", "bfloat": "float"}
"""The kinds of a kernel's numbers in PyTorch's schemas."""


@dataclass(frozen=True)
class Operator:
    """A kernel as an operator called ``name``.

    spelled: the kernel's names of all parameters that a launch gives, by the operator's, which all others are.
    parameters: the operator's own arguments, those of pointers and numbers. defaults: of those that may be left out.
    mutates: the tensors that are written in place. outputs: the shapes of the tensors that are returned. values: of the
    kernel's other parameters.
    """

    kernel: Kernel | PythonKernel
    name: str
    spelled: Mapping[str, str]
    parameters: Mapping[str, Parameter]
    defaults: Mapping[str, Any]
    mutates: tuple[str, ...]
    outputs: Mapping[str, tuple[Parameter, Choice]]
    values: Mapping[str, Choice]
    global_size: Choice
    local_size: Choice

    @property
    def schema(self) -> str:
        """The operator's arguments and results as PyTorch writes them."""
        arguments = ", ".join(f"{self._type(name)} {name}{self._default(name)}" for name in self.parameters)
        results = ", ".join("Tensor" for _ in self.outputs)
        return f"({arguments}) -> {results if len(self.outputs) == 1 else f'({results})'}"

    def _type(self, name: str) -> str:
        parameter = self.parameters[name]
        if parameter.is_pointer:
            alias = f"(a{self.mutates.index(name)}!)" if name in self.mutates else ""
            return f"Tensor{alias}{'?' * (name in self.defaults)}"
        type_ = parameter.type
        return NUMBERS["bool" if parameter.type_name == "bool" else type_.kind] + "[]" * (type_.count > 1)

    def _default(self, name: str) -> str:
        return f"={self.defaults[name]!r}" if name in self.defaults else ""

    @cached_property
    def _dtypes(self) -> dict[str, tuple[Any, ...]]:
        """What tensors may have, by the names of arguments and outputs."""
        outputs = {name: parameter for name, (parameter, _) in self.outputs.items()}
        return {name: taken(parameter) for name, parameter in {**self.parameters, **outputs}.items()}

    @cached_property
    def _own_dtypes(self) -> dict[str, Any]:
        """What outputs have unless their shapes say otherwise."""
        return {name: own_dtype(parameter) for name, (parameter, _) in self.outputs.items()}

    def fake(self, *given: Any, **named: Any) -> Any:
        """The results for tensors that have no memory."""
        arguments = self._arguments(given, named)
        return self._results(self._allocated(arguments, self._device(arguments)))

    def run(self, *given: Any, **named: Any) -> Any:
        """Launch the kernel."""
        arguments = self._arguments(given, named)
        device = self._device(arguments)
        queue = queue_on(f"operator '{self.name}'", device)
        made = self._allocated(arguments, device)
        arguments.update(made)
        whole, part = self.global_size.made(arguments), self.local_size.made(arguments)
        if 0 not in (whole if isinstance(whole, Sequence) else (whole,)):
            names = (*self.parameters, *self.outputs, *self.values)
            bound = {self.spelled[name]: self._bound(name, arguments[name]) for name in names}
            if isinstance(self.kernel, Kernel):
                queue.enqueue(self.kernel, whole, part, **bound)
            else:
                queue.parallel_for(nd_range(whole, part), self.kernel, **bound)
        return self._results(made)

    def _arguments(self, given: Sequence[Any], named: Mapping[str, Any]) -> Arguments:
        """The arguments by name; PyTorch leaves out those that are as their default."""
        known = {**dict(zip(self.parameters, given, strict=False)), **named}
        known |= {name: default for name, default in self.defaults.items() if name not in known}
        for name, tensor in known.items():
            if isinstance(tensor, torch.Tensor):
                check_tensor(self._called(name), tensor, self._dtypes[name])
        return Arguments(known, self.values)

    def _device(self, arguments: Mapping[str, Any]) -> Any:
        return device_of(f"operator '{self.name}'", [(name, tensor) for name, tensor in arguments.items()
                                                     if isinstance(tensor, torch.Tensor)])

    def _allocated(self, arguments: Mapping[str, Any], device: Any) -> dict[str, Any]:
        """A new tensor for each output."""
        made = {}
        for name, (_, shape) in self.outputs.items():
            what = self._called(name)
            sizes, dtype = shape_and_dtype(what, shape.made(arguments), self._own_dtypes[name])
            if dtype is None:
                raise Error(f"{what}: the kernel does not tell the type of its elements: let its shape be a pair of "
                            "shape and torch.dtype")
            made[name] = torch.empty(sizes, dtype=dtype, device=device)
            check_tensor(what, made[name], self._dtypes[name])
        return made

    def _results(self, made: Mapping[str, Any]) -> Any:
        tensors = tuple(made.values())
        return tensors[0] if len(tensors) == 1 else tensors or None

    def _bound(self, name: str, value: Any) -> Any:
        return memory_of(self._called(name), value) if isinstance(value, torch.Tensor) else value

    def _called(self, name: str) -> str:
        return f"operator '{self.name}', {'output' if name in self.outputs else 'argument'} '{name}'"


def registered(made: Operator) -> Any:
    """PyTorch's own object for the operator."""
    try:
        found = torch.library.custom_op(made.name, made.run, mutates_args=made.mutates, schema=made.schema)
    except (RuntimeError, ValueError) as error:
        raise Error(f"operator '{made.name}': PyTorch does not take its schema {made.schema}: "
                    f"{str(error).strip().splitlines()[0]}") from None
    found.register_fake(made.fake)
    return found
