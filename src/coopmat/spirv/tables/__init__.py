"""The project's own tables of SPIR-V: one row per instruction and per enumerant, nothing else.

:mod:`coopmat.spirv.grammar` gives them a shape; import the names from there.
"""
