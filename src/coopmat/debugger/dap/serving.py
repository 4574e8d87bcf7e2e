"""Where clients come from: standard input and output, or connections to a port of this machine."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from coopmat.debugger.dap.session import Opener, Session
from coopmat.diagnostics import Error

HOST = "127.0.0.1"


def serve_standard_streams(open_launch: Opener) -> int:
    """Serve the client at standard input and output; what else is printed goes to standard error. Returns 0 if the
    kernel ended well."""
    reader = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as writer, _output_aside():
        return Session(reader, writer, open_launch).run()


def serve_port(port: int, open_launch: Opener, *, once: bool = False) -> int:
    """Serve the clients that connect to a port of this machine, 0 for a free one: one after another until Ctrl-C, or,
    ``once``, one. Returns 0 if its kernel ended well. Error if the port cannot be had."""
    with _listener(port) as listener:
        print(f"waiting for a debugger at {HOST}:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as reader, connection.makefile("wb") as writer:
                try:
                    status = Session(reader, writer, open_launch).run()
                except Error as error:
                    print(f"coopmat: error: {error}", file=sys.stderr, flush=True)
                    continue
                finally:
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)  # ends the thread that reads
            if once:
                return status


def _listener(port: int) -> socket.socket:
    if not 0 <= port < 1 << 16:
        raise Error(f"a port is a number from 0 to 65535; found {port}")
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise Error(f"cannot listen at {HOST}:{port}: {error.strerror or error}") from error


@contextmanager
def _output_aside() -> Iterator[None]:
    """Standard output is standard error meanwhile: only messages of the protocol go to the client."""
    before = sys.stdout
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout = before
