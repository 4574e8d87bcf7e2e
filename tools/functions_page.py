"""docs/sycl-functions.md: what kernels in Python can call, from the stubs' signatures and docstrings."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

import coopmat.sycl
from coopmat.sycl.compiler.builtins import PYTHON_FUNCTIONS
from coopmat.sycl.device_functions import DeviceFunction
from coopmat.sycl.group_functions import FunctionObject
from coopmat.sycl.math_functions import Namespace

INTRODUCTION = """# Functions of kernels in Python

Made from the functions' signatures and docstrings by tools/make_docs.py. All names are in `coopmat.sycl`;
[joint-matrix.md](joint-matrix.md) describes the language. "SYCL" and a number is a section of the SYCL 2020
specification, a section in quotes is one of `sycl_ext_oneapi_matrix`. Arguments in square brackets after a name are
C++'s template arguments. "Host" says that the function also works outside of kernels."""


def functions_page() -> str:
    """The page."""
    found = [getattr(coopmat.sycl, name) for name in coopmat.sycl.__all__]
    functions = [value for value in found if isinstance(value, DeviceFunction)]
    lines = [INTRODUCTION]
    for module in sorted({function.__module__ for function in functions}, key=_rank):
        lines += _section(module, [function for function in functions if function.__module__ == module])
    lines += [f"\n`{value}`: {_markdown(value.__doc__ or '')}" for value in found if isinstance(value, Namespace)]
    objects = ", ".join(f"`{value}`" for value in found if isinstance(value, FunctionObject))
    lines += ["\n## Function objects\n", f"For reductions and scans: {objects}. On the host they compute, too.",
              "\n## Functions of Python, math and numpy\n",
              "They stand for the functions above of the same meaning, so that a helper can be shared with the host.\n",
              "| module | functions |\n|---|---|", *_of_python()]
    return "\n".join(lines) + "\n"


_ORDER = ("matrix_functions", "pointer_functions", "local_memory", "group_functions", "atomic_functions", "printing",
          "math_functions")


def _rank(module: str) -> tuple[int, str]:
    name = module.rpartition(".")[2]
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER)), name


def _section(module: str, functions: list[DeviceFunction]) -> Iterator[str]:
    """A module's functions, under the first line of its docstring."""
    title, _, text = inspect.cleandoc(sys.modules[module].__doc__ or "").partition("\n")
    yield f"\n## {_markdown(title).rstrip('.')}\n"
    if text.strip():
        yield f"{_markdown(text.strip())}\n"
    yield "| function | what it does | host |\n|---|---|---|"
    for function in functions:
        cells = (f"`{function}({_parameters(function)})`", _cell(inspect.getdoc(function) or ""),
                 "yes" if function.runs_on_host else "")
        yield f"| {' | '.join(cells)} |"


def _parameters(function: DeviceFunction) -> str:
    """The parameters, as a call fills them."""
    return ", ".join(str(parameter.replace(annotation=parameter.empty))
                     for parameter in function.signature.parameters.values())


def _markdown(text: str) -> str:
    return text.replace("``", "`").replace(":mod:", "")


def _cell(text: str) -> str:
    """A docstring as one cell of a table."""
    return _markdown("<br>".join(" ".join(part.split()) for part in text.split("\n\n"))).replace("|", "\\|")


def _of_python() -> Iterator[str]:
    """The functions of each module that are not ours."""
    modules: dict[str, list[str]] = {}
    for function in PYTHON_FUNCTIONS:
        name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None) or "numpy"
        if not module.startswith("coopmat"):
            modules.setdefault(module, []).append(name)
    for module, names in modules.items():
        yield f"| {module} | {', '.join(f'`{name}`' for name in sorted(names))} |"
