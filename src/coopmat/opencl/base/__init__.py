"""What the semantic analysis and the built-in functions have in common.

:mod:`.analysis` is the Protocol that they are written against. Around it: :mod:`.values` and :mod:`.temporaries`,
questions about :mod:`.types`, :mod:`.symbols`, implicit and explicit :mod:`.conversions` with the
:mod:`.conversion_warnings`, the :mod:`.ranges` of values, and how overloads compare (:mod:`.ranking`,
:mod:`.overloading`).
"""
