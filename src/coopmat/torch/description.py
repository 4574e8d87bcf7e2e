"""From the description of an operator to the operator: which parameters of the kernel are what."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coopmat.diagnostics import Error, value_text
from coopmat.runtime.calls import CallForm
from coopmat.runtime.program import Kernel
from coopmat.runtime.python_kernels import PythonKernel, kernel_of
from coopmat.runtime.python_launches import built
from coopmat.runtime.selection import device as find_device
from coopmat.spirv.analysis.kernels import Parameter
from coopmat.torch.choices import choice
from coopmat.torch.operator import NUMBERS, Operator, registered

_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*", re.ASCII)


def operator(kernel: Any, name: str, *, outputs: Mapping[str, Any], mutates: Sequence[str], inputs: Sequence[str],
             values: Mapping[str, Any], defaults: Mapping[str, Any], global_size: Any, local_size: Any) -> Any:
    """What :func:`coopmat.torch.custom_op` does."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Error(f"an operator's name is a namespace and a name, such as 'mylib::gemm'; found {value_text(name)}")
    kernel, found = _described(kernel)
    what = f"operator '{name}'"
    outputs, values, defaults = _named(outputs), _named(values), _named(defaults)
    roles = {"outputs": tuple(outputs), "mutates": _names("mutates", mutates), "inputs": _names("inputs", inputs),
             "values": tuple(values), "defaults": tuple(defaults)}
    for role, names in roles.items():
        _check_role(what, role, names, kernel.form, found)
    _check_defaults(what, defaults)
    own, defaults = _arguments(what, found, roles, {**_named(kernel.form.defaults), **defaults})

    known, chosen = list(own), {}
    for key, value in values.items():
        chosen[key] = choice(f"{what}, value of '{key}'", value, known)
        known.append(key)
    shapes = {key: (found[key], choice(f"{what}, shape of '{key}'", shape, known)) for key, shape in outputs.items()}
    known += outputs
    return registered(Operator(
        kernel, name, {key: one.name for key, one in found.items()}, own, defaults, roles["mutates"], shapes, chosen,
        choice(f"{what}, global_size", global_size, known), choice(f"{what}, local_size", local_size, known)))


def _arguments(what: str, found: Mapping[str, Parameter], roles: Mapping[str, Sequence[str]],
               defaults: Mapping[str, Any]) -> tuple[dict[str, Parameter], dict[str, Any]]:
    """The parameters that are arguments of the operator, and the defaults of those that may be left out."""
    given = (*roles["outputs"], *roles["values"])
    own = {key: one for key, one in found.items()
           if key not in given and _is_argument(what, key, one, defaults, (*roles["mutates"], *roles["inputs"]))}
    if not any(one.is_pointer and key not in defaults for key, one in own.items()):
        raise Error(f"{what} has no argument that is always a tensor: it would not know its device; its arguments are "
                    f"{', '.join(own) or 'none'}")
    return own, {key: defaults[key] for key in own if key in defaults}


def _described(kernel: Any) -> tuple[Kernel | PythonKernel, dict[str, Parameter]]:
    """A kernel, and the parameters that a launch gives, by the operator's names."""
    kernel = kernel_of(kernel)
    if isinstance(kernel, PythonKernel):
        compiled = built(kernel, find_device("cpu")).kernel(kernel.name)  # for the types of its parameters
    elif isinstance(kernel, Kernel):
        compiled = kernel
    else:
        raise Error("an operator is made of a kernel in Python, with the decorator @kernel, or of one of a built "
                    f"program, program.kernel(name); found {type(kernel).__name__}")
    parameters = {parameter.name: parameter for parameter in compiled.signature.parameters}
    return kernel, _named({name: parameters[name] for name in kernel.form.names})


def _named(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given by names of parameters, by the operator's names of them."""
    return {_spelled(name): value for name, value in given.items()}


def _spelled(name: str) -> str:
    """The operator's name of a parameter: PyTorch takes no words of Python's, such as ``in``."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _check_defaults(what: str, defaults: Mapping[str, Any]) -> None:
    for name, default in defaults.items():
        if not _is_plain(default):
            raise Error(f"{what}: the default of '{name}' must be an int, a float, a bool or None; found "
                        f"{value_text(default)}: what never changes belongs in values")


def _is_plain(default: Any) -> bool:
    """Whether PyTorch's schemas can have such a default."""
    return default is None or type(default) in (int, float, bool)


def _names(what: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise Error(f"{what} are names in a sequence, such as {what}=({given!r},); found {given!r}")
    return tuple(map(_spelled, given))


def _check_role(what: str, role: str, names: Iterable[str], form: CallForm, found: Mapping[str, Parameter]) -> None:
    """Names must be those of parameters, and tensors those of pointers, written ones of pointers that are not const."""
    for name in names:
        if name not in found:
            close = difflib.get_close_matches(str(name), found, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise Error(f"{what}: {role} names '{name}', and the kernel has no such parameter{hint}: {form}")
        parameter = found[name]
        if role in ("outputs", "mutates", "inputs") and parameter.kind not in ("global", "constant"):
            raise Error(f"{what}: {role} names '{parameter}', which is no pointer to global memory: only those "
                        "take tensors")
        if role in ("outputs", "mutates") and (parameter.const or parameter.kind == "constant"):
            raise Error(f"{what}: {role} names '{parameter}', which the kernel declares const: it is only read, and an "
                        "argument without being named")


def _is_argument(what: str, name: str, parameter: Parameter, defaults: Mapping[str, Any],
                 tensors: Sequence[str]) -> bool:
    """Whether a parameter is an argument of the operator; not if only the kernel knows its default. Error if nothing
    gives its value. ``tensors``: the pointers that are named as arguments."""
    if name in defaults and not _is_plain(defaults[name]):
        return False
    if parameter.kind in ("global", "constant"):
        if not parameter.const and parameter.kind == "global" and name not in tensors:
            raise Error(f"{what}: the kernel may write to '{parameter}', which is not const: name it in outputs, if "
                        "the operator allocates its tensor, in mutates, if it is written in place, in inputs, if it "
                        "is only read, or declare it const")
        return True
    if parameter.kind != "value" or parameter.type.kind not in NUMBERS:
        example = "cm.local(nbytes)" if parameter.kind == "local" else "..."
        raise Error(f"{what}: '{parameter}' is neither a tensor nor a number: give it a value, "
                    f"values={{'{name}': {example}}}")
    return True
