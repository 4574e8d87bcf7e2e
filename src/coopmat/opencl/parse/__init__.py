"""Parsing: tokens to the syntax tree, before names and types are resolved.

:mod:`.parser` is the entry; it builds on :mod:`.statements`, :mod:`.declarations`, :mod:`.expressions` and the
:mod:`.token_stream`, each for its part of the grammar. The tree is :mod:`.syntax`, its places in the source
:mod:`.extents`.
"""
