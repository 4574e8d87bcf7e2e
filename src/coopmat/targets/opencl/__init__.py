"""OpenCL's drivers that take SPIR-V: what they really do, and launches on them (docs/opencl_drivers.md).

Drivers crash, and say more than they do. So they are listed in a child process first, and what a module needs beyond
plain code is tried in one; both answers are kept in the cache. What a driver does not do is replaced before a module
reaches it, or refused.
"""
