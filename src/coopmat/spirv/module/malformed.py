"""What a malformed module makes of Python code that takes its instructions as they should be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from coopmat.diagnostics import Error, ValidationError

MALFORMED = (TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError, AssertionError,
             RecursionError)
"""What Python raises when an instruction does not fit its operands' types: the module is not valid."""


@contextmanager
def well_formed(what: str) -> Iterator[None]:
    """Turn what Python raises on a malformed module into the errors of the contract."""
    try:
        yield
    except MALFORMED as error:
        raise ValidationError("operand-type", f"{what} is malformed: an instruction does not have the operands "
                              f"that it needs: {error}") from error
    except MemoryError as error:
        raise Error(f"{what} needs more memory than there is: {error}") from error
