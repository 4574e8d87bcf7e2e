"""Preprocessing: source text to the parser's tokens (C99 translation phases 1 to 7).

:mod:`.preprocessor` obeys the directives and is the entry. Below it: :mod:`.lexer` (text to :mod:`.tokens`),
:mod:`.macros` with :mod:`.builtin_macros` and :mod:`.predefined_macros`, :mod:`.conditions` of ``#if``,
:mod:`.includes`, :mod:`.open_files`, :mod:`.pragmas`, :mod:`.literals`; what tokens carry is in :mod:`.token_values`.
:mod:`.options` says which features a device has after the build options.
"""
