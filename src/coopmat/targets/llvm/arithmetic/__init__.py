"""Arithmetic on numbers of any count of lanes: functions of a writer of numbers, for instructions and for matrices."""
