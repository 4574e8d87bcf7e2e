"""The functions of OpenCL.std."""
