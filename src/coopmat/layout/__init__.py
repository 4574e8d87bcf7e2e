"""Which work-item holds which element of a matrix, as picture, page, text and JSON.

    import coopmat as cm
    tile = cm.layout.of("sim:intel_gpu_pvc", use="a", type="bf16", m=8, n=16, k=16)
    print(tile)                                   # in a notebook, `tile` alone shows the picture
    tile.to_svg(), tile.to_html(), tile.to_json()

:func:`of` shows the matrices of every device; :func:`matrix_a` and its neighbours show Intel's sub-group functions with
the names that their kernels use. All draw what :mod:`coopmat.devices` says.
"""

from coopmat.layout.device_matrix import DeviceMatrix, of
from coopmat.layout.elements import Element, ElementLayout, ElementPlace
from coopmat.layout.picture import Picture
from coopmat.layout.sources import accumulator, block_2d, block_io, matrix_a, matrix_b

__all__ = [
           "DeviceMatrix",
           "Element",
           "ElementLayout",
           "ElementPlace",
           "Picture",
           "accumulator",
           "block_2d",
           "block_io",
           "matrix_a",
           "matrix_b",
           "of",
]
