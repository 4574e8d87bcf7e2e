"""A binding of Vulkan, by ctypes: what compute needs of it."""
