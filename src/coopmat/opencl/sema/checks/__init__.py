"""Checks of what is allowed and rarely meant: they report the warnings of :mod:`coopmat.opencl.messages.warnings`.

Nothing here changes what a program means. The analysis calls a check where it has the syntax and the typed
values at hand; each looks at one thing, by clang's rules.
"""
