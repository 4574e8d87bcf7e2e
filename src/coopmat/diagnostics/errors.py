"""The exceptions of the public contract: every one that a user of the package can meet derives from :class:`Error`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from coopmat.diagnostics.error_codes import errc
from coopmat.diagnostics.locations import SourceFile, SourceLocation
from coopmat.diagnostics.messages import Diagnostic, in_source_order, render
from coopmat.diagnostics.quoting import LONGEST_MESSAGE, LONGEST_NAME, LONGEST_WORD, shortened


class Error(Exception):
    """Root of every error that coopmat raises on purpose; ``str()`` is the message for the user."""

    _code: ClassVar[errc] = errc.runtime
    _longest_word: ClassVar[int] = LONGEST_NAME  # a file's name may be as long
    _longest: ClassVar[int | None] = None

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, self._longest_word, self._longest or len(message)))

    def code(self) -> errc:
        """SYCL's error code, a member of ``coopmat.sycl.errc`` (SYCL 4.13.2)."""
        return self._code

    def what(self) -> str:
        """The message, as C++ calls it."""
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as it is: a class's arguments are not those of the message."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[Error], arguments: tuple[Any, ...]) -> Error:
    """An error that was pickled, without its attributes and notes, which pickle adds."""
    return kind.__new__(kind, *arguments)


class CompileError(Error):
    """The kernel's source has errors; ``diagnostics`` holds them all in source order, warnings included."""

    _code = errc.build

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = in_source_order(diagnostics)
        super().__init__(render(self.diagnostics))


class CompileWarning(UserWarning):
    """A warning about a kernel's source, shown where it is built; ``Program.warnings`` has them all."""


class LayoutWarning(UserWarning):
    """A matrix is loaded with another layout than it was stored with."""


class SignedOverflowWarning(UserWarning):
    """The result of signed arithmetic does not fit its type; C leaves that undefined."""


class ValidationError(Error):
    """A SPIR-V module is malformed; ``rule`` names the broken rule, ``offset`` the word's byte offset."""

    _code = errc.build

    def __init__(self, rule: str, message: str, offset: int | None = None, file: str | None = None) -> None:
        self.rule = rule
        self.message = message
        self.offset = offset
        place = f"{offset:#x}" if offset is not None else None
        if file is not None:
            super().__init__(f"{file}:{f'{place}:' if place else ''} error: {message} [{rule}]")
        else:
            super().__init__(f"{message}{f' at byte {place}' if place else ''} [{rule}]")

    def in_file(self, file: str) -> ValidationError:
        """The same error, naming the file that the module came from."""
        return ValidationError(self.rule, self.message, self.offset, file)


class KernelNotSupported(Error):
    """The device has no such matrix combination (SYCL's ``errc::kernel_not_supported``).

    ``kernel`` is the name of the kernel that uses it, and ``location`` the place where it does; None where that is not
    known.
    """

    _code = errc.kernel_not_supported

    def __init__(self, message: str, kernel: str | None = None, location: SourceLocation | None = None) -> None:
        self.message = message
        self.kernel = kernel
        self.location = location
        text = shortened(message if kernel is None else f"{message} (kernel {kernel})")
        super().__init__(text if location is None else str(Diagnostic("error", text, location)))

    def with_source(self, text: str) -> KernelNotSupported:
        """The same error with the line of a source text."""
        assert self.location is not None
        word = _WORD.match(SourceFile("", text).line(self.location.line), self.location.column - 1)
        location = replace(self.location, file=SourceFile(self.location.name, text), length=len(word[0]) if word else 1)
        return KernelNotSupported(self.message, self.kernel, location)


_WORD = re.compile(r"\w+")


class LaunchError(Error):
    """A kernel cannot be launched like this: arguments, sizes, or the kernel's name."""

    _code = errc.invalid
    _longest_word, _longest = LONGEST_WORD, LONGEST_MESSAGE


@dataclass(frozen=True, slots=True)
class Where:
    """Where in the execution of a kernel something happened; what is not known is None."""

    kernel: str | None = None
    location: str | None = None  # "file:line:column"
    work_group: tuple[int, ...] | None = None
    sub_group: int | None = None
    lane: int | None = None
    buffer: str | None = None
    element: int | None = None

    def __str__(self) -> str:
        names = ("kernel", "location", "work_group", "sub_group", "lane", "buffer", "element")
        labels = ("kernel", "at", "work-group", "sub-group", "lane", "buffer", "element")
        known = [(label, getattr(self, name)) for name, label in zip(names, labels, strict=True)]
        known = [(label, shortened(value) if label in ("kernel", "buffer") and value else value)
                 for label, value in known]
        return ", ".join(f"{label} {value}" for label, value in known if value is not None)


class SimulationError(Error):
    """The simulator found the kernel doing something undefined; ``where`` says at which place."""

    _code = errc.kernel

    def __init__(self, message: str, where: Where | None = None) -> None:
        self.where = where if where is not None else Where()
        place = str(self.where)
        super().__init__(f"{message} ({place})" if place else message)

    def in_part(self, first: tuple[int, ...]) -> SimulationError:
        """The error of a part of a launch as the whole launch's; ``first`` is the part's first work-group there."""
        group = self.where.work_group
        if group is None or not any(first):
            return self
        message = str(self).removesuffix(f" ({self.where})")
        if "work-group (" in message:
            message += f"; work-groups are counted from {first} here, where this device's part of the launch begins"
        whole = tuple(one + start for one, start in zip(group, first, strict=True))
        return type(self)(message, replace(self.where, work_group=whole))


class OutOfBounds(SimulationError):
    """An access outside of a buffer, of local memory, or of a private variable."""


class DivergentGroupOperation(SimulationError):
    """A group operation (matrix operation, barrier, …) was reached by only a part of its group."""


class KernelAssertion(SimulationError):
    """An ``assert`` of the kernel failed."""


class Misaligned(SimulationError):
    """An access whose address is not a multiple of the alignment that the type needs."""


class DataRace(SimulationError):
    """Two work-items access one place in memory, one of them writes, and nothing orders the two (OpenCL API
    specification, 3.3.4)."""


class Deadlock(SimulationError):
    """Work-items wait for each other, or for what nobody will store any more: none of them can go on."""


class UndefinedBehavior(SimulationError):
    """An operation whose result the specification leaves undefined for these operands."""


class UninitializedRead(UndefinedBehavior):
    """Something is decided by data that nobody has written: an address, a branch, a group operation, a result."""
