"""OpExtInst of the instruction set OpenCL.std: the table of all functions, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.grammar import OPENCL_STD_NAMES, Op
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator import opencl_integer, opencl_math, opencl_memory, printing
from coopmat.targets.simulator.arithmetic import elementwise
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.undefined import refuse
from coopmat.targets.simulator.values import Array, unsigned

SET = "OpenCL.std"
WITHOUT_EFFECT = "NonSemantic."


def _values(function: Callable[..., Array]) -> Handler:
    """A handler for a function of values only. The words are the set, the number, the operands."""
    return lambda compiler, row: compiler.compute(row, function, *row.words[2:])


@dataclass(frozen=True)
class _Domain:
    """For which operands a function is undefined (``is_outside``), and what is said then, with their values."""

    is_outside: Callable[..., Array]
    words: Callable[..., str]


_CLAMP = _Domain(
    lambda value, low, high: low > high,
    lambda value, low, high: f"clamp between {low} and {high} is undefined: the lower limit must not be above the "
                             "upper one; exchange them")
_UNSIGNED_CLAMP = _Domain(lambda *values: _CLAMP.is_outside(*map(unsigned, values)), _CLAMP.words)
_SMOOTH_STEP = _Domain(
    lambda low, high, value: ~(low < high) | np.isnan(value),
    lambda low, high, value: f"smoothstep from {low} to {high} at {value} is undefined: the first edge must be below "
                             "the second one, and no argument a NaN")
DOMAINS = {"s_clamp": _CLAMP, "u_clamp": _UNSIGNED_CLAMP, "fclamp": _CLAMP, "smoothstep": _SMOOTH_STEP}


def _in_domain(name: str, domain: _Domain) -> Handler:
    """A handler for a function that is undefined for some operands."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        step, site, kind = FUNCTIONS_OF_VALUES[name](compiler, row), compiler.site(row), compiler.result_type(row)
        assert step is not None
        slots = [compiler.slot(operand) for operand in row.words[2:]]

        def execute(frame: Frame) -> None:
            if frame.batch.options.undefined:
                values = [frame.slots[slot] for slot in slots]
                outside = domain.is_outside(*values)
                if np.count_nonzero(outside):
                    shown = map(unsigned, values) if name.startswith("u_") else values
                    refuse(frame, site, kind, outside, domain.words, *shown)
            step(frame)

        return execute

    return handle


def _pair(function: Callable[..., tuple[Array, Array]]) -> Handler:
    """A handler for a function whose second result goes through its last operand, a pointer."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        *operands, pointer = row.words[2:]
        slots = [compiler.slot(operand) for operand in operands]
        result, write = compiler.result(row), compiler.writer(pointer, row)

        def execute(frame: Frame) -> None:
            values = frame.slots
            first, second = function(*[values[slot] for slot in slots])
            values[result] = first
            write(frame, second)

        return execute

    return handle


def bit_select(a: Array, b: Array, mask: Array) -> Array:
    """The bits of ``b`` where ``mask`` has ones, of ``a`` elsewhere."""
    bits = f"i{a.dtype.itemsize}"
    chosen = mask.view(bits)
    return ((a.view(bits) & ~chosen) | (b.view(bits) & chosen)).view(a.dtype)


def select(a: Array, b: Array, condition: Array) -> Array:
    """``b`` where the condition holds: for scalars if it is not 0, for vectors by the highest bit."""
    return np.where(condition < 0 if condition.ndim == 3 else condition != 0, b, a)


def shuffle(*operands: Array) -> Array:
    """``shuffle`` and ``shuffle2``: components of one or two vectors by a vector of indices."""
    *vectors, mask = operands
    shape = np.broadcast_shapes(mask.shape[:2], *(vector.shape[:2] for vector in vectors))
    source = np.concatenate([np.broadcast_to(v, (*shape, v.shape[-1])) for v in vectors], axis=-1)
    index = (mask & mask.dtype.type(source.shape[-1] - 1)).astype(np.intp)
    return np.take_along_axis(source, np.broadcast_to(index, (*shape, mask.shape[-1])), axis=-1)


FUNCTIONS_OF_VALUES = {name: _values(function) for table in (opencl_math.FUNCTIONS, opencl_integer.FUNCTIONS)
                       for name, function in table.items()}
FUNCTIONS: dict[str, Handler] = {
    **FUNCTIONS_OF_VALUES,
    **{name: _in_domain(name, domain) for name, domain in DOMAINS.items()},
    **{name: _pair(function) for name, function in opencl_math.PAIRS.items()},
    **opencl_memory.FUNCTIONS,
    "printf": printing.printf,
    "bitselect": _values(bit_select),
    "select": _values(select),
    "shuffle": _values(shuffle),
    "shuffle2": _values(shuffle),
}


def _extended(compiler: FunctionCompiler, row: Instruction) -> Step | None:
    name = compiler.module.instruction_sets.get(row.words[0])
    if name is None:
        raise ValidationError("extended-set", f"%{row.words[0]} is no imported instruction set", row.offset)
    if name.startswith(WITHOUT_EFFECT):
        return None
    if name != SET:
        raise Error(f"cannot simulate '{row}': the instruction set {name} is unknown; the simulator has {SET}")
    function = OPENCL_STD_NAMES.get(row.words[1])
    if function is None or function not in FUNCTIONS:
        raise Error(f"the simulator does not know the instruction {function or row.words[1]} of {SET}")
    return FUNCTIONS[function](compiler, row)


OPERATIONS: dict[int, Handler] = {
    Op.ExtInst: _extended,
    Op.ExtInstWithForwardRefsKHR: _extended,
    Op.FmaKHR: elementwise(opencl_math.FUNCTIONS["fma"]),
}
