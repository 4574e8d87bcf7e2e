"""The names that ``-W`` takes for several warnings at once, as clang groups them."""

from __future__ import annotations

GROUPS: dict[str, tuple[str, ...]] = {
    "all": ("most", "parentheses", "switch", "switch-bool", "misleading-indentation"),
    "most": ("comment", "for-loop-analysis", "format", "int-in-bool-context", "missing-braces", "multichar",
             "return-type", "self-assign", "sizeof-array-argument", "tautological-compare", "uninitialized",
             "unknown-pragmas", "unused"),
    "extra": ("initializer-overrides", "missing-field-initializers", "sign-compare", "unused-but-set-parameter",
              "unused-parameter"),
    "unused": ("unused-but-set-variable", "unused-function", "unused-label", "unused-local-typedef", "unused-value",
               "unused-variable"),
    "unused-value": ("unused-comparison",),
    "parentheses": ("bitwise-op-parentheses", "dangling-else", "logical-not-parentheses", "logical-op-parentheses",
                    "parentheses-equality", "shift-op-parentheses"),
    "uninitialized": ("sometimes-uninitialized",),
    "tautological-compare": ("tautological-constant-compare", "tautological-pointer-compare"),
    "tautological-constant-compare": ("tautological-constant-out-of-range-compare",),
    "type-limits": ("tautological-unsigned-zero-compare",),
    "conversion": ("constant-conversion", "float-conversion", "implicit-float-conversion", "implicit-int-conversion",
                   "literal-conversion", "shorten-64-to-32", "sign-conversion"),
    "implicit-float-conversion": ("implicit-int-float-conversion",),
    "implicit-int-float-conversion": ("implicit-const-int-float-conversion",),
    "format": ("format-extra-args", "format-insufficient-args", "format-invalid-specifier", "format-nonliteral",
               "format-security"),
    "pragmas": ("ignored-pragmas", "unknown-pragmas"),
    "unknown-pragmas": (),
    "everything": (),
    "pedantic": (),
}
"""The members of each group; a warning that has members of its own is also a name (``-Wuninitialized``)."""
