"""SPIR-V as text: the assembler, the disassembler, and the names that it gives ids."""
