"""SPIR-V as text: the assembler, the disassembler, the lines of instructions, and names for ids."""
