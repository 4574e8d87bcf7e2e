"""Commands of a queue beside kernels, as SYCL has them: copies, fills and command groups (SYCL 4.6.5.2, 4.9.4.3).

Memory is a numpy array, what malloc_device returned, or a multi_ptr or annotated_ptr to it. Sizes are checked against
the memory before anything is written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.diagnostics import LaunchError, value_text
from coopmat.runtime.arguments import as_number
from coopmat.runtime.arrays import EXPECTED, array_over, what_is_wrong
from coopmat.runtime.device import Device
from coopmat.runtime.events import Event
from coopmat.support.templates import template_method
from coopmat.targets.base.device_array import Memory, is_writable

if TYPE_CHECKING:
    from coopmat.runtime.element_types import ElementType
    from coopmat.runtime.streams import Stream

Dependencies = Event | Sequence[Event]


class Context:
    """SYCL's context: here it says no more than which device it is for."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def get_devices(self) -> list[Device]:
        """The device, in a list."""
        return [self.device]


class MemoryCommands:
    """The methods of a queue that copy and fill, submit command groups, and wait."""

    device: Device
    _stream: Stream

    def memcpy(self, dest: Any, src: Any, num_bytes: int, depends_on: Dependencies = ()) -> Event:
        """Copy ``num_bytes`` bytes. LaunchError, and nothing is written, if either memory is smaller."""
        self._after("memcpy", depends_on)
        count = _count("memcpy", "bytes", num_bytes)
        target = self._memory("memcpy", "destination", dest, count, writes=True)
        source = self._memory("memcpy", "source", src, count)
        return self._stream.copy(target, source, count)

    @template_method
    def copy(self, T: Any, src: Any, dest: Any, count: int, depends_on: Dependencies = ()) -> Event:
        """``copy[T](src, dest, count)``: copy ``count`` elements; both memories have elements of T (by default, the
        source's type). LaunchError, and nothing is written, if either has others or fewer of them."""
        self._after("copy", depends_on)
        element = self._element_of("copy", "source", src) if T is None else _template("copy", T)
        for role, memory in (("source", src), ("destination", dest)):
            found = self._element_of("copy", role, memory)
            if found != element:
                raise LaunchError(f"copy[{element}]: the {role} has elements of {found}")
        size = _count("copy", "elements", count) * element.dtype.itemsize
        target = self._memory("copy", "destination", dest, size, writes=True)
        source = self._memory("copy", "source", src, size)
        return self._stream.copy(target, source, size)

    def memset(self, ptr: Any, value: int, num_bytes: int, depends_on: Dependencies = ()) -> Event:
        """Set ``num_bytes`` bytes to ``value``, -128 to 255. LaunchError if the memory is smaller."""
        self._after("memset", depends_on)
        count = _count("memset", "bytes", num_bytes)
        byte = _index(value)
        if byte is None or not -128 <= byte <= 255:
            raise LaunchError(f"memset: the value must be a byte, an int from -128 to 255; found {value_text(value)}")
        target = self._memory("memset", "destination", ptr, count, writes=True)
        return self._stream.fill(target, np.array([byte & 0xFF], np.uint8), count)

    @template_method
    def fill(self, T: Any, ptr: Any, pattern: Any, count: int, depends_on: Dependencies = ()) -> Event:
        """``fill[T](ptr, pattern, count)``: write ``count`` elements of T (by default, the memory's type), each with
        the value ``pattern``; floating-point types round it. LaunchError if T cannot hold it, or for too little memory.
        """
        self._after("fill", depends_on)
        element = self._element_of("fill", "destination", ptr) if T is None else _template("fill", T)
        value = _pattern(element, pattern)
        number = _count("fill", "elements", count)
        target = self._memory("fill", "destination", ptr, number * element.dtype.itemsize, writes=True)
        return self._stream.fill(target, value.reshape(1).view(np.uint8), number)

    def prefetch(self, ptr: Any, num_bytes: int, depends_on: Dependencies = ()) -> Event:
        """A hint that memory will be used. Devices that share the host's memory have nothing to do."""
        self._after("prefetch", depends_on)
        count = _count("prefetch", "bytes", num_bytes)
        return self._stream.prefetch(self._memory("prefetch", "memory", ptr, count), count)

    def submit(self, command_group: Callable[[Any], object]) -> Event:
        """Call ``command_group`` with a handler, and execute the command that it gave to the handler.

        LaunchError for more than one command; a group without any is an event that has happened.
        """
        if not callable(command_group):
            raise LaunchError(f"submit takes a function of one parameter, the handler; "
                              f"found {value_text(command_group)}")
        handler = Handler(self)
        command_group(handler)
        return handler.execute()

    def wait_for(self, *events: Event) -> None:
        """What is submitted from now on comes after these events, of this queue or of others; the call itself waits for
        nothing on a GPU."""
        self._after("wait_for", events)

    def wait(self) -> None:
        """Return when every command has finished. On a GPU, LaunchError for one that has failed."""
        self._stream.wait()

    def wait_and_throw(self) -> None:
        """The same: all errors are raised."""
        self.wait()

    def get_device(self) -> Device:
        """The queue's device."""
        return self.device

    def get_context(self) -> Context:
        """The context of the queue's device."""
        return Context(self.device)

    def is_in_order(self) -> bool:
        """Whether commands run in the order in which they were submitted: they do."""
        return True

    def _after(self, command: str, events: Any) -> None:
        """Have the next command come after events. LaunchError for what is none."""
        _check_events(command, events)
        if events:
            self._stream.wait_for(events if isinstance(events, (list, tuple)) else (events,))

    def _memory(self, command: str, role: str, given: Any, count: int, *, writes: bool = False) -> Memory:
        """Memory of at least ``count`` bytes, as the device takes it."""
        found = self._array(command, role, given, writes=writes)
        if count > found.nbytes:
            raise LaunchError(f"{command}: {count} bytes are more than the {role} has, {found.nbytes} "
                              f"({found.size} elements of {found.dtype}); nothing was written")
        return found

    def _array(self, command: str, role: str, given: Any, *, writes: bool = False) -> Memory:
        array = array_over(given)
        try:
            found = array if array is not None else self.device.foreign(given)
        except LaunchError as error:
            raise LaunchError(f"{command}: the {role}: {error}") from None
        if found is None:
            raise LaunchError(f"{command}: the {role} must be {EXPECTED}, or memory of malloc_*; "
                              f"found {type(given).__name__}")
        wrong = None if array is None else what_is_wrong(array)
        if writes and not is_writable(found):
            wrong = "its memory is read-only"
        if wrong is not None:
            raise LaunchError(f"{command}: the {role}: {wrong}")
        return found

    def _element_of(self, command: str, role: str, given: Any) -> ElementType:
        """The type of the elements in memory."""
        from coopmat.runtime.element_types import of_dtype

        dtype = self._array(command, role, given).dtype
        found = of_dtype(dtype)
        if found is None:
            raise LaunchError(f"{command}: the {role} has elements of {dtype}, which kernels do not know; use memcpy")
        return found


class Handler:
    """What a command group is given: it takes one command (SYCL 4.9.4). See :class:`MemoryCommands`."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._name: str | None = None
        self._command: Callable[[], Event] | None = None
        self._is_open = True

    def depends_on(self, events: Dependencies) -> None:
        """The command runs after these events."""
        self._queue._after("depends_on", events)

    def parallel_for(self, *arguments: Any, **named: Any) -> None:
        """Run a kernel, with the arguments of the queue's parallel_for."""
        self._record("parallel_for", lambda: self._queue.parallel_for(*arguments, **named))

    def memcpy(self, dest: Any, src: Any, num_bytes: int) -> None:
        """Copy bytes."""
        self._record("memcpy", lambda: self._queue.memcpy(dest, src, num_bytes))

    @template_method
    def copy(self, T: Any, src: Any, dest: Any, count: int) -> None:
        """``copy[T](src, dest, count)``: copy elements."""
        self._record("copy", lambda: self._queue.copy[T](src, dest, count))

    def memset(self, ptr: Any, value: int, num_bytes: int) -> None:
        """Set bytes."""
        self._record("memset", lambda: self._queue.memset(ptr, value, num_bytes))

    @template_method
    def fill(self, T: Any, ptr: Any, pattern: Any, count: int) -> None:
        """``fill[T](ptr, pattern, count)``: set elements."""
        self._record("fill", lambda: self._queue.fill[T](ptr, pattern, count))

    def prefetch(self, ptr: Any, num_bytes: int) -> None:
        """Hint that memory will be used."""
        self._record("prefetch", lambda: self._queue.prefetch(ptr, num_bytes))

    def execute(self) -> Event:
        """Execute the command, if there is one; the handler takes none from now on."""
        self._is_open = False
        return self._command() if self._command is not None else Event.of(lambda: None)

    def _record(self, name: str, command: Callable[[], Event]) -> None:
        if not self._is_open:
            raise LaunchError(f"{name}: a handler takes its command while its command group runs, not later")
        if self._command is not None:
            raise LaunchError(f"a command group has one command: found {name} after {self._name}; submit two groups")
        self._name, self._command = name, command


# -------------------------------------------------------------------------------- checks


def _check_events(command: str, given: Any) -> None:
    for one in given if isinstance(given, (list, tuple)) else (given,):
        if not isinstance(one, Event):
            raise LaunchError(f"{command}: expected an event, or a list of events, to depend on; "
                              f"found {value_text(one)}")


def _index(given: Any) -> int | None:
    """An int that ``given`` is, None if it is none."""
    if isinstance(given, (bool, np.bool_)):
        return None
    try:
        return operator.index(given)
    except TypeError:
        return None


def _count(command: str, unit: str, given: Any) -> int:
    count = _index(given)
    if count is None or count < 0:
        raise LaunchError(f"{command}: the number of {unit} must be an int, 0 or more; found {value_text(given)}")
    return count


def _template(command: str, given: Any) -> ElementType:
    """The type of a template argument that memory can have."""
    from coopmat.runtime.element_types import element_type  # imported late: most programs copy nothing

    found = element_type(given)
    if found is None or found.is_abstract:
        stored = f": memory has its storage type, {found.storage}" if found is not None else ""
        raise LaunchError(f"{command}[T] takes an element type, such as {command}[float32]; "
                          f"found {value_text(given)}{stored}")
    return found


def _pattern(element: ElementType, given: Any) -> np.ndarray:
    """A value as one element: integers exactly, floating-point numbers rounded, but not to infinity."""
    try:
        value = as_number(given)
        stored = None if value is None else _stored(element, value)
    except OverflowError:
        stored = None
    if stored is None:
        raise LaunchError(f"fill[{element}]: {value_text(given)} is no value of type {element}")
    return stored


def _stored(element: ElementType, value: int | float) -> np.ndarray | None:
    """A number as an element; None if the type does not hold it."""
    try:
        with np.errstate(all="ignore"):
            if element.scalar.is_float:
                stored = np.array(float(value)).astype(element.dtype)
                is_held = np.isinf(float(stored)) == np.isinf(float(value))
            else:
                stored = np.array(int(value), element.dtype)
                is_held = int(stored) == value
    except (OverflowError, ValueError):
        return None
    return stored if is_held else None
