"""What ``__has_feature`` and ``__has_extension`` know besides the device's macros, named as clang names it."""

from __future__ import annotations

LANGUAGE_FEATURES: frozenset[str] = frozenset({
    "attribute_deprecated_with_message", "attribute_ext_vector_type", "attribute_unavailable_with_message",
    "attribute_unused_on_fields", "enumerator_attributes",
})
"""Parts of the language."""

LANGUAGE_EXTENSIONS: frozenset[str] = LANGUAGE_FEATURES | {
    "c_alignas", "c_alignof", "c_generic_selections", "c_static_assert", "statement_attributes_with_gnu_syntax",
}
"""The same, with what is taken from later versions of C."""
