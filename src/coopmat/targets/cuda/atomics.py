"""Updates in memory with an order and a scope (PTX ISA, atom), as assembly: LLVM 22 leaves both out."""

from __future__ import annotations

from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Writer


def _types(*names: str) -> dict[str, str]:
    """LLVM's types of PTX's."""
    return {{"f32": "float", "f64": "double"}.get(name, f"i{name[1:]}"): name for name in names}


UPDATES = {
    "add": _types("u32", "u64"), "sub": _types("u32", "u64"), "fadd": _types("f32", "f64"),
    "and": _types("b32", "b64"), "or": _types("b32", "b64"), "xor": _types("b32", "b64"), "xchg": _types("b32", "b64"),
    "min": _types("s32", "s64"), "max": _types("s32", "s64"), "umin": _types("u32", "u64"),
    "umax": _types("u32", "u64")}
"""LLVM's operations that PTX has: the types of their numbers, and what PTX calls these. Others become loops of
comparisons and exchanges, to which LLVM gives the order and the scope."""
_NAMES = {"fadd": "add", "sub": "add", "xchg": "exch", "umin": "min", "umax": "max"}
_ORDERS = {"monotonic": "relaxed", "seq_cst": "acq_rel"}  # of the latter a fence makes the rest
_SCOPES = {"block": "cta", "singlethread": "cta", "device": "gpu", None: "sys"}
_REGISTERS = {"i32": "r", "i64": "l", "float": "f", "double": "d"}


def update(writer: Writer, name: str, address: str, number: Number, order: str, scope: str | None) -> str:
    """The number that was there; ``scope``: LLVM's name, None for all of the system."""
    llvm, operand = number.type, number.base
    if name == "sub":
        operand = writer.let(f"sub {llvm} 0, {operand}")
    text = (f"atom.{_ORDERS.get(order, order)}.{_SCOPES[scope]}.{_NAMES.get(name, name)}.{UPDATES[name][llvm]} "
            "$0, [$1], $2;")
    register = _REGISTERS[llvm]
    return writer.let(f'call {llvm} asm sideeffect "{text}", "={register},l,{register},~{{memory}}"(ptr {address}, '
                      f"{llvm} {operand})")
