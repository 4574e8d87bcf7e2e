"""Running one launch on several devices, and holding the results against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coopmat.comparison.copies import copied
from coopmat.comparison.differences import Difference, bits_of, differences, differs_from
from coopmat.comparison.explanation import Explanation, explain
from coopmat.comparison.result import Comparison, only_other_bits
from coopmat.comparison.steps import Launch
from coopmat.comparison.stores import Target
from coopmat.diagnostics import Error, LaunchError, value_text
from coopmat.runtime import Device, Kernel, Queue
from coopmat.runtime import device as find_device
from coopmat.runtime.arguments import array_dtype
from coopmat.runtime.device_arrays import DeviceArray
from coopmat.runtime.python_kernels import PythonKernel, kernel_of
from coopmat.runtime.python_launches import built
from coopmat.runtime.simulated_device import SimulatedDevice
from coopmat.runtime.sizes import Size, check_sizes, chosen_local_size
from coopmat.spirv.analysis.kernels import Parameter
from coopmat.targets.simulator import SimulatedProgram

EXACT = "exact:"
"""Before the name of an architecture: the simulated device, with exact arithmetic of matrices."""
SIMULATED = "sim:"
EXPLAINABLE = ("why they differ can be told of two simulated devices: add one, such as sim:nvidia_gpu_sm_90, or "
               "exact:nvidia_gpu_sm_90, which rounds once")
KernelFor = Callable[[Device], Kernel]
Array = np.ndarray[Any, Any]


def compare(kernel: Any, devices: Sequence[str | Device], global_size: Size, local_size: Size | None, /, *args: Any,
            reference: str | Device | None = None, explain: bool = True, **named: Any) -> Comparison:
    """Run one launch on several devices and compare the results, element by element.

    kernel: a kernel of a built program, or one in Python, which is compiled for each device. devices: at least two,
    names as :func:`coopmat.device` takes them or Device objects with options of their own; ``exact:ARCHITECTURE`` is
    the simulated device with ``numerics="exact"``. Sizes (in OpenCL's order) and arguments are those of
    :meth:`coopmat.Queue.enqueue`; each device gets its own copies of the arrays, and those given stay as they are.
    reference: the one of the devices that the others are held against, by default the first. explain: whether to run
    two simulated devices that differ once more, in step, to find where they part; ``named`` are further arguments of
    the kernel.

    Raises :class:`coopmat.Error` for devices that do not exist or fewer than two of them, and what enqueue raises; a
    note tells on which device.
    """
    return compare_kernels(_kernel_for(kernel), devices, global_size, local_size, args, named, reference, explain)


def _kernel_for(kernel: Any) -> KernelFor:
    kernel = kernel_of(kernel)
    if isinstance(kernel, Kernel):
        return lambda _: kernel
    if isinstance(kernel, PythonKernel):
        known = kernel
        return lambda device: built(known, device).kernel(known.name)
    raise LaunchError("compare takes a kernel of a built program, such as program.kernel(name), or a function with the "
                      f"decorator @kernel; found {type(kernel).__name__} {value_text(kernel)}")


def compare_kernels(kernel_for: KernelFor, devices: Sequence[str | Device], global_size: Size,
                    local_size: Size | None, args: Sequence[Any], named: Mapping[str, Any],
                    reference: str | Device | None, is_explained: bool) -> Comparison:
    """:func:`compare` with what gives the kernel for each device."""
    chosen = _devices(devices)
    labels = _labels(chosen)
    first = _reference(reference, chosen, labels)
    runs = [_told(label, _prepare, device, label, kernel_for, (global_size, local_size), args, named)
            for device, label in zip(chosen, labels, strict=True)]
    _check_alike(runs)
    for one in runs:
        _told(one.label, one.run)
    written = [index for index in range(len(runs[0].given)) if any(one.has_written(index) for one in runs)]
    others = [one for one in runs if one is not runs[first]]
    found = tuple(row for index in written for one in others for row in _compared(runs[first], one, index))
    explanation, note = None, ""
    if any(row.differing for row in found):
        if is_explained:
            explanation, note = _explained([runs[first], *others], written)
    else:
        note = only_other_bits(found)
    return Comparison(runs[0].kernel.name, tuple(labels), labels[first], found, explanation, note)


# --------------------------------------------------------------------------------------
# Devices
# --------------------------------------------------------------------------------------


def _devices(given: Sequence[str | Device]) -> list[Device]:
    if isinstance(given, str | Device) or not isinstance(given, Sequence):
        raise Error("compare takes a list of devices, such as ['cpu', 'sim:nvidia_gpu_sm_90']; found "
                    f"{value_text(given)}")
    if len(given) < 2:
        raise Error(f"compare needs at least two devices; found {len(given)}")
    return [named_device(one) for one in given]


def named_device(given: str | Device) -> Device:
    """A device by its name; ``exact:ARCHITECTURE`` is a simulated one with exact arithmetic of matrices."""
    if isinstance(given, str) and given.startswith(EXACT):
        simulated = find_device(SIMULATED + given.removeprefix(EXACT))
        return find_device(simulated, options=replace(simulated.options, numerics="exact"))
    return find_device(given)


def _labels(devices: Sequence[Device]) -> list[str]:
    """What the devices are called: their names, with a number where one occurs again."""
    found: list[str] = []
    for device in devices:
        name = device.name
        if isinstance(device, SimulatedDevice) and device.options.numerics == "exact":
            name = EXACT + name.removeprefix(SIMULATED)
        again = sum(one == name or one.startswith(f"{name} (") for one in found)
        found.append(f"{name} ({again + 1})" if again else name)
    return found


def _reference(given: str | Device | None, devices: Sequence[Device], labels: Sequence[str]) -> int:
    if given is None:
        return 0
    if isinstance(given, str) and given in labels:
        return labels.index(given)
    if isinstance(given, str | Device):
        wanted = named_device(given)
        if wanted in devices:
            return devices.index(wanted)
    raise Error(f"the reference is one of the devices that are compared: {', '.join(labels)}; found "
                f"{value_text(given)}")


def _told(label: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function; an error gets a note of the device."""
    try:
        return function(*arguments)
    except Error as error:
        error.add_note(f"on {label}")
        raise


# --------------------------------------------------------------------------------------
# Runs
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """The launch on one device. given: the bound arguments; arguments: its own copies of them."""

    label: str
    device: Device
    kernel: Kernel
    sizes: tuple[tuple[int, ...], tuple[int, ...]]
    given: list[Any]
    arguments: list[Any]

    def run(self) -> None:
        Queue(self.device).launch(self.kernel, self.sizes, self.arguments).wait()

    def array(self, index: int) -> Array | None:
        """An argument afterwards, in its own type: a bf16 may come as 16 bits."""
        found = self.arguments[index]
        return _typed(found, self.kernel.signature.parameters[index]) if isinstance(found, np.ndarray) else None

    def has_written(self, index: int) -> bool:
        """Whether an array's content is another one than before."""
        found = self.arguments[index]
        return isinstance(found, np.ndarray) and bool(
            (found.reshape(-1).view(np.uint8) != self.given[index].reshape(-1).view(np.uint8)).any())

    @property
    def launch(self) -> Launch | None:
        """The launch as the simulator takes it; None on other devices."""
        program = self.kernel.program.load(self.device)
        if not isinstance(program, SimulatedProgram):
            return None
        return Launch(self.label, program, self.kernel.name, *self.sizes, lambda: copied(self.given))


def _prepare(device: Device, label: str, kernel_for: KernelFor, sizes: tuple[Size, Size | None], args: Sequence[Any],
             named: Mapping[str, Any]) -> _Run:
    """The launch on a device, after all checks that come before running."""
    kernel = kernel_for(device)
    whole, part = sizes
    chosen = check_sizes(whole, chosen_local_size(kernel, whole, device) if part is None else part,
                         device.max_work_group_size)
    given = kernel.bound(kernel.program.arguments(kernel, args, named), device)
    if any(isinstance(one, DeviceArray) for one in given):
        raise LaunchError("arrays in a GPU's memory cannot be compared: give arrays of the host, of which each device "
                          "gets a copy")
    kernel.program.load(device)
    return _Run(label, device, kernel, chosen, given, _unbound(kernel, copied(given), args, named))


def _unbound(kernel: Kernel, values: list[Any], args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """The arguments with copies for arrays, and all others as they were given."""
    return [value if isinstance(value, np.ndarray) else given for value, given in
            zip(values, kernel.program.arguments(kernel, args, named), strict=True)]


def _check_alike(runs: Sequence[_Run]) -> None:
    """Kernels that were compiled for each device must have the same parameters."""
    for one in runs[1:]:
        if list(map(str, one.kernel.signature.parameters)) != list(map(str, runs[0].kernel.signature.parameters)):
            raise Error(f"kernel '{one.kernel.name}' has other parameters on {one.label} "
                        f"({', '.join(one.kernel.shown)}) than on {runs[0].label} ({', '.join(runs[0].kernel.shown)})")


def _typed(array: Array, parameter: Parameter) -> Array:
    if parameter.type.kind == "bfloat" and array.dtype.kind in "iu":
        return array.view(array_dtype(parameter))
    return array


def _compared(reference: _Run, one: _Run, index: int) -> list[Difference]:
    before, after = reference.array(index), one.array(index)
    assert before is not None
    assert after is not None
    name = one.kernel.names[index] or f"argument {index}"
    return list(differences(name, index, one.label, before, after))


# --------------------------------------------------------------------------------------
# Why
# --------------------------------------------------------------------------------------


def _explained(runs: Sequence[_Run], written: Sequence[int]) -> tuple[Explanation | None, str]:
    """The explanation of two simulated devices that differ, the reference first if it is one; or why there is none."""
    simulated = [(one, launch) for one in runs if (launch := one.launch) is not None]
    for number, (one, first) in enumerate(simulated):
        for other, second in simulated[number + 1:]:
            target = _target(one, other, written)
            if target is not None:
                found = explain(first, second, target)
                if found is None:
                    return None, "no instruction was found in which they differ"
                return replace(found, source_line=_source_line(one.kernel, found.location)), ""
    return None, ("the simulated devices agree" if len(simulated) > 1 else EXPLAINABLE)


def _source_line(kernel: Kernel, location: str | None) -> str | None:
    """The text of a line, ``file:line:column``; None if it is not known."""
    name, _, numbers = (location or "").partition(":")
    while numbers and not numbers.partition(":")[0].isdecimal():  # a colon in the file's name
        more, _, numbers = numbers.partition(":")
        name += f":{more}"
    text = kernel.program.text_of(name) if numbers else None
    lines = [] if text is None else text.splitlines()
    number = int(numbers.partition(":")[0]) if numbers else 0
    return lines[number - 1] if 0 < number <= len(lines) else None


def _target(one: _Run, other: _Run, written: Sequence[int]) -> Target | None:
    """The first element in which two runs differ, in the order of arguments and of memory."""
    for index in written:
        before, after = one.array(index), other.array(index)
        assert before is not None
        assert after is not None
        if before.dtype.names is not None or (before.dtype.kind == "V" and before.dtype.itemsize > 2):
            before, after = (array.view(np.uint8) for array in (before.reshape(-1), after.reshape(-1)))
        differs = differs_from(before, after) if (bits_of(before) != bits_of(after)).any() else np.zeros(1, np.bool_)
        if differs.any():
            flat = int(np.argmax(differs))
            place = tuple(int(axis) for axis in np.unravel_index(flat, differs.shape))
            return Target(index, place, flat * before.dtype.itemsize, before.dtype)
    return None
