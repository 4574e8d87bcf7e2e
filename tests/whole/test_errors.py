"""Every error class of coopmat is the same after pickling, as in a pool of processes, and after copying."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from collections.abc import Callable, Iterator

import pytest

import coopmat as cm
from coopmat.diagnostics import Diagnostic, SourceFile, SourceLocation, Where
from coopmat.sycl import constraints

PLACE = SourceLocation.at(SourceFile("a.cl", "int x = y;\n"), 8)
WHERE = Where("kernel", "a.cl:1:9", (1, 0, 0), 2, 3, "out", 4)
ARGUMENTS: dict[str, Callable[[type[cm.Error]], cm.Error]] = {
    "CompileError": lambda kind: kind([Diagnostic("error", "what is y?", PLACE, "CM1000", notes=(
        Diagnostic("note", "here", PLACE),))]),
    "ValidationError": lambda kind: kind("id-unique", "defined again", 0x20, "a.spv"),
    "KernelNotSupported": lambda kind: kind("no such matrix", "kernel", PLACE),
    "BrokenConstraint": lambda kind: kind(constraints.GROUP, found="work_group"),
    "ContextLost": lambda kind: kind("kernel 'k' has failed", "CUDA_ERROR_ILLEGAL_ADDRESS"),
}
"""What makes an error of a class, where that takes other arguments than a message and a place."""


def classes(root: type[cm.Error]) -> Iterator[type[cm.Error]]:
    """A class and all that derive from it."""
    yield root
    for one in root.__subclasses__():
        yield from classes(one)


def all_classes() -> list[type[cm.Error]]:
    """The error classes of all modules."""
    for module in pkgutil.walk_packages(cm.__path__, "coopmat."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return [kind for kind in dict.fromkeys(classes(cm.Error)) if kind.__module__.startswith("coopmat.")]


def made(kind: type[cm.Error]) -> cm.Error:
    """An error of the class with every attribute that it can have."""
    make = ARGUMENTS.get(kind.__name__)
    error = make(kind) if make else kind("wrong", WHERE) if issubclass(kind, cm.SimulationError) else kind("wrong")
    error.add_note("in a test")
    error.add_note("as a second note")
    return error


@pytest.mark.parametrize("restored", [
    *(lambda error, protocol=protocol: pickle.loads(pickle.dumps(error, protocol))
      for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)), copy.copy, copy.deepcopy])
def test_errors_survive_pickling_and_copying(restored: Callable[[cm.Error], cm.Error]) -> None:
    found = all_classes()
    assert {kind.__name__ for kind in found} >= {*ARGUMENTS, "Error", "LaunchError", "OutOfBounds"}
    for kind in found:
        error = made(kind)
        other = restored(error)
        assert type(other) is kind
        assert other is not error
        assert (str(other), other.args, other.code()) == (str(error), error.args, error.code())
        assert vars(other) == vars(error), kind
        assert other.__notes__ == ["in a test", "as a second note"]


def test_errors_of_a_build_survive_pickling() -> None:
    with pytest.raises(cm.CompileError) as caught:
        cm.build("#define NAME y\nkernel void k(global int *out) { out[0] = NAME; }")
    other = pickle.loads(pickle.dumps(caught.value))
    assert str(other) == str(caught.value)
    assert "expanded from macro" in str(other)
    assert list(map(str, other.diagnostics)) == list(map(str, caught.value.diagnostics))
