"""What options mean for the front end: which features there are, and what is odd about them."""

from __future__ import annotations

from coopmat.devices import DeviceDescription
from coopmat.devices.features import macros_of_version
from coopmat.diagnostics import DiagnosticSink
from coopmat.diagnostics.warning_levels import name_in
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.messages import warning_names
from coopmat.opencl.preprocess.spelling import closest
from coopmat.support.build_options import BuildOptions


def check_options(options: BuildOptions, sink: DiagnosticSink) -> None:
    """Report what is odd about options: names of warnings that nobody knows, and what has no effect here."""
    for option in options.warnings:
        name = name_in(option)
        if name is not None and name not in warning_names():
            close = closest(name, sorted(warning_names()))
            prefix = option.removesuffix(name)
            sink.report(messages.UNKNOWN_WARNING_OPTION, None, option=option,
                        suggestion=f"; did you mean '{prefix}{close}'?" if close else "")
    for option in options.unused:
        sink.report(messages.UNUSED_OPTION, None, option=option)


def features_of(device: DeviceDescription, options: BuildOptions, sink: DiagnosticSink) -> frozenset[str]:
    """The extension and feature macros that a device defines in this version of the language, after -cl-ext."""
    available = macros_of_version(device.extensions, options.language.number)
    result = set(available)
    for name, is_on in options.extensions:
        if name == "all":
            result = set(available) if is_on else set()
        elif not is_on:
            result.discard(name)
        elif name in available:
            result.add(name)
        else:
            sink.report(messages.UNSUPPORTED_EXTENSION, None, name=name, what="option")
    return frozenset(result)
