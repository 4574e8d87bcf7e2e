"""Checked accesses: the code before each of them, and the errors that it finds."""
