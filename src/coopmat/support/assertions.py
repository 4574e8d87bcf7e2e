"""What a failed assertion of a kernel calls: functions that compilers leave to whoever runs the module.

Compilers of SYCL write ``__devicelib_assert_fail``, which Intel's runtimes have (DPC++'s design of assert); clang's
``assert`` is ``__assert_fail`` of C. Both get the condition's text, the file, the line and the function first.
"""

from __future__ import annotations

DEVICELIB_ASSERT_FAIL = "__devicelib_assert_fail"
"""``void (const char *expression, const char *file, int line, const char *function, size_t global_id_0, _1, _2,
size_t local_id_0, _1, _2)``; the pointers are generic."""

ASSERTION_FUNCTIONS = frozenset({DEVICELIB_ASSERT_FAIL, "__assert_fail"})

LONGEST_EXPRESSION = 1 << 12  # bytes of it that a message has


EXPRESSION, FILE, LINE = range(3)
"""The arguments that messages use, by their position."""


def place(file: bytes | None, line: int | None) -> str | None:
    """Where an assertion says that it is, for modules that have no source lines."""
    return f"{file.decode('utf-8', 'replace')}:{line}" if file and line else None


def message(expression: bytes | None) -> str:
    """What an error says of a failed assertion, whose text may not be known."""
    shown = (expression or b"").decode("utf-8", "replace")
    return f"assertion failed: {shown}" if shown else "an assertion failed"
