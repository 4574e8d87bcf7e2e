"""joint_matrix in Python: the names of sycl_ext_oneapi_matrix, for ``from coopmat.sycl import *``."""
