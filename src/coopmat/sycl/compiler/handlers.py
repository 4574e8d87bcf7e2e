"""The tables of all that compiles a kernel's source, put together."""

from __future__ import annotations

import ast

from coopmat.sycl.compiler import calls, expressions, statements
from coopmat.sycl.compiler.asserting import assert_statement
from coopmat.sycl.compiler.builtins import DEVICE_FUNCTIONS, METHODS, PYTHON_FUNCTIONS, groups, local_memory
from coopmat.sycl.compiler.context import Handlers
from coopmat.sycl.compiler.elementwise import MATRIX_OPERATORS
from coopmat.sycl.compiler.patterns import match_statement

HANDLERS = Handlers(
    expressions={**expressions.EXPRESSIONS, ast.Call: calls.call},
    statements={**statements.STATEMENTS, ast.Assert: assert_statement, ast.Match: match_statement},
    device_functions=DEVICE_FUNCTIONS,
    python_functions=PYTHON_FUNCTIONS,
    methods=METHODS,
    sub_group_methods=groups.SUB_GROUP_METHODS,
    operators={**MATRIX_OPERATORS, **local_memory.OPERATORS},
)
