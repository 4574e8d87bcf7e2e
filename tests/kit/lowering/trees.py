"""Short ways to write kernel trees by hand, and to run them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from coopmat.devices import describe
from coopmat.lowering import to_spirv
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from coopmat.tree import nodes as n
from coopmat.tree import types as t

Operator = n.BinaryOperator
GLOBAL = t.AddressSpace.GLOBAL


def pointer(pointee: t.Type, space: t.AddressSpace = GLOBAL, **qualifiers: bool) -> t.Pointer:
    return t.Pointer(pointee, space, **qualifiers)


def variable(name: str, type_: t.Type, space: t.AddressSpace = t.AddressSpace.PRIVATE,
             **facts: Any) -> n.Variable:
    return n.Variable(name, type_, None, space, **facts)


def place(v: n.Variable) -> n.VariablePlace:
    return n.VariablePlace(v.type, None, v)


def load(source: n.Variable | n.Place) -> n.Load:
    found = place(source) if isinstance(source, n.Variable) else source
    return n.Load(found.type, None, found)


def num(value: int | float | bool, type_: t.Type = t.INT) -> n.Constant:
    return n.Constant(type_, None, value)


def binary(operator: str, left: n.Expression, right: n.Expression) -> n.Binary:
    op = Operator(operator)
    type_: t.Type = left.type
    if op.is_comparison:
        type_ = t.Vector(t.BOOL, type_.count) if isinstance(type_, t.Vector) else t.BOOL
    return n.Binary(type_, None, op, left, right)


def convert(value: n.Expression, type_: t.Type, rounding: str | None = None,
            saturate: bool = False) -> n.Convert:
    return n.Convert(type_, None, value, rounding, saturate)


def gid() -> n.Expression:
    return n.WorkItemQuery(t.ULONG, None, "GlobalInvocationId", num(0, t.UINT))


def at(base: n.Variable | n.Expression, index: n.Expression | None = None) -> n.Dereference:
    """``base[index]``, without index at this work-item's number."""
    source = load(base) if isinstance(base, n.Variable) else base
    assert isinstance(source.type, t.Pointer)
    offset = gid() if index is None else convert(index, t.LONG)
    return n.Dereference(source.type.pointee, None, n.PointerOffset(source.type, None, source, offset))


def element(base: n.Place, index: n.Expression | int) -> n.ElementPlace:
    item = base.type.item if isinstance(base.type, t.Array) else base.type.element
    return n.ElementPlace(item, None, base, num(index) if isinstance(index, int) else index)


def member(base: n.Place, name: str) -> n.FieldPlace:
    assert isinstance(base.type, t.Record)
    index = base.type.field_index(name)
    assert index is not None
    assert base.type.fields is not None
    return n.FieldPlace(base.type.fields[index].type, None, base, index)


def assign(target: n.Variable | n.Place, value: n.Expression) -> n.Assign:
    where = place(target) if isinstance(target, n.Variable) else target
    return n.Assign(where.type, None, where, value)


def update(target: n.Variable | n.Place, operator: str, value: n.Expression,
           returns_old: bool = False) -> n.Update:
    where = place(target) if isinstance(target, n.Variable) else target
    current = n.CurrentValue(where.type, None)
    return n.Update(where.type, None, where, current, binary(operator, current, value), returns_old)


def statement(item: n.Statement | n.Expression) -> n.Statement:
    return item if isinstance(item, n.Statement) else n.Evaluate(None, item)


def block(*items: n.Statement | n.Expression) -> n.Block:
    return n.Block(None, tuple(map(statement, items)))


def declare(v: n.Variable, initializer: n.Expression | None = None) -> n.Declare:
    return n.Declare(None, v, initializer)


def if_(condition: n.Expression, then: n.Statement | n.Expression,
        otherwise: n.Statement | n.Expression | None = None) -> n.If:
    return n.If(None, condition, statement(then), None if otherwise is None else statement(otherwise))


def while_(condition: n.Expression | None, body: n.Statement, **more: Any) -> n.Loop:
    return n.Loop(None, condition, body, **more)


def function(name: str, result: t.Type, parameters: list[n.Variable], *body: n.Statement | n.Expression,
             **facts: Any) -> n.Function:
    return n.Function(name, result, parameters, None, body=block(*body), **facts)


def kernel(name: str, parameters: list[n.Variable], *body: n.Statement | n.Expression,
           **facts: Any) -> n.Function:
    return function(name, t.VOID, parameters, *body, is_kernel=True, **facts)


def run(program: n.Program, name: str, items: int, *arguments: Any, local: int | None = None,
        device: str = "generic") -> None:
    """Launch a kernel over ``items`` work-items in the simulator; arrays hold the results afterwards."""
    compiled = simulator.compile(to_spirv(program), describe(device), simulator.SimulatorOptions())
    compiled.launch(name, (items,), (local or items,), list(arguments))


def validate(module: Module, folder: Path) -> None:
    """Let Khronos's validator look at a module without cooperative matrices."""
    tool = shutil.which("spirv-val")
    if tool is None:
        pytest.skip("spirv-val is not installed (package spirv-tools)")
    path = folder / "module.spv"
    path.write_bytes(module.to_bytes())
    done = subprocess.run([tool, "--target-env", "spv1.4", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout + module.to_text()
