"""Which work-item holds which element of a matrix, and pictures of it.

:mod:`coopmat.layout.sources` reads the tables of :mod:`coopmat.devices`, :func:`as_svg` and
:func:`as_text` draw what it finds.
"""

from coopmat.layout.elements import Element, ElementLayout
from coopmat.layout.sources import accumulator, block_2d, block_io, cooperative_matrix, matrix_a, matrix_b
from coopmat.layout.svg import as_svg
from coopmat.layout.text import as_text

__all__ = ["Element", "ElementLayout", "accumulator", "as_svg", "as_text", "block_2d", "block_io",
           "cooperative_matrix", "matrix_a", "matrix_b"]
