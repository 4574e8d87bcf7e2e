"""``assert``: what fails calls the function that compilers of SYCL call, which every target has."""

from __future__ import annotations

import ast
from functools import partial

from coopmat.support.assertions import DEVICELIB_ASSERT_FAIL
from coopmat.sycl.compiler import texts
from coopmat.sycl.compiler.builtins.printing import print_operation
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.numbers import negated, truth
from coopmat.sycl.compiler.statements import choose
from coopmat.sycl.compiler.values import Static
from coopmat.tree import nodes as n
from coopmat.tree import types as t

_TEXT = t.Pointer(t.CHAR, t.AddressSpace.GENERIC, const=True)
_PARAMETERS = {"expression": _TEXT, "file": _TEXT, "line": t.INT, "function": _TEXT,
               **{f"{which}{axis}": t.SIZE_T for which in ("global_id", "local_id") for axis in range(3)}}


def assert_statement(f: Compiler, node: ast.Assert) -> None:
    """``assert condition, message``; nothing where assertions are off."""
    if not f.unit.has_assertions:
        return
    test = f.read(node.test)
    if isinstance(test, Static) and f.known_truth(test, node.test):
        return
    fail = partial(f.block, [], node, f.blocks[-1].path, partial(_fail, f, node))
    if isinstance(test, Static):
        f.emit(fail())
    else:
        choose(f, truth(f, negated(f, test, node.test), node.test), node, fail, partial(f.block, [], node))


def _fail(f: Compiler, node: ast.Assert) -> None:
    """Print a message that the kernel completes, and call the function; a message that is known goes with the
    condition."""
    expression = ast.unparse(node.test)
    if node.msg is not None:
        message = texts.shown(f, f.read(node.msg), node.msg)
        if message.items:
            f.perform(print_operation(f, texts.joined([message, texts.literal("\n")]), node.msg))
        expression += f": {ast.unparse(node.msg) if message.items else message.literals[0]}"
    location = f.location(node)
    ids = [n.WorkItemQuery(t.SIZE_T, location, builtin, n.Constant(t.UINT, location, axis))
           for builtin in ("GlobalInvocationId", "LocalInvocationId") for axis in range(3)]
    strings = [_string(f, text, node) for text in (expression, location.name, _name(f))]
    line = n.Constant(t.INT, location, location.line)
    f.perform(n.Call(t.VOID, location, _function(f), (strings[0], strings[1], line, strings[2], *ids)))


def _string(f: Compiler, text: str, node: ast.AST) -> n.Expression:
    """A generic pointer to a text, as the function takes it; what a text cannot hold is left out."""
    known = "".join(character for character in text if character != "\0" and not "\ud800" <= character <= "\udfff")
    found = texts.string(f, known, node, t.AddressSpace.GLOBAL)
    return n.CastAddressSpace(_TEXT, found.location, found)


def _name(f: Compiler) -> str:
    return f.node.name if isinstance(f.node, ast.FunctionDef) else "<lambda>"


def _function(f: Compiler) -> n.Function:
    """The function, declared once."""
    if DEVICELIB_ASSERT_FAIL not in f.unit.imports:
        parameters = [n.Variable(name, type_, None) for name, type_ in _PARAMETERS.items()]
        f.unit.imports[DEVICELIB_ASSERT_FAIL] = n.Function(DEVICELIB_ASSERT_FAIL, t.VOID, parameters, None)
    return f.unit.imports[DEVICELIB_ASSERT_FAIL]
