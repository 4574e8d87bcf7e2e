"""The protocol's messages: JSON behind a header that tells its length."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from typing import IO, Any

from coopmat.diagnostics import Error

LONGEST = 1 << 26
"""A message of more bytes is refused."""
_LENGTH = re.compile(rb"content-length:\s*(\d{1,12})\s*", re.I)
_MISSING: Any = object()
_KINDS: dict[str, tuple[type, ...]] = {"a text": (str,), "a number": (int,), "true or false": (bool,),
                                      "an object": (dict,), "a list": (list,)}


class Refusal(Error):
    """An error whose short form the client interprets: ``notStopped`` or ``cancelled``."""

    def __init__(self, message: str, short: str = "") -> None:
        super().__init__(message)
        self.short = short


def read_message(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next message, or None where the stream ends. Error for what is no message of the protocol."""
    length = None
    while (line := stream.readline(LONGEST)) and line.strip():
        match = _LENGTH.fullmatch(line)
        length = int(match[1]) if match else length
    if not line:
        return None
    if length is None or length > LONGEST:
        raise Error("the client does not speak the Debug Adapter Protocol: expected a header with a message's "
                    f"Content-Length, at most {LONGEST} bytes" + ("" if length is None else f"; found {length}"))
    content = stream.read(length)
    if len(content) < length:
        return None
    try:
        found = json.loads(content)
    except ValueError as error:
        raise Error(f"the client's message is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise Error(f"the client's message is not a JSON object: {content[:80]!r}")
    return found


class Writer:
    """Sends messages, from any thread; with a body even where it is empty, as some clients want it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._last = 0

    def event(self, name: str, body: Mapping[str, Any] | None = None) -> None:
        """Tell the client something."""
        self._send({"type": "event", "event": name, "body": body or {}})

    def response(self, request: Mapping[str, Any], body: Mapping[str, Any] | None) -> None:
        """Answer a request."""
        self._send(_answered(request, True) | {"body": body or {}})

    def failure(self, request: Mapping[str, Any], error: Error) -> None:
        """Answer a request with an error, which the client shows."""
        text = str(error)
        self._send(_answered(request, False) | {
            "message": error.short if isinstance(error, Refusal) else text,
            "body": {"error": {"id": 1, "format": "{text}", "variables": {"text": text}, "showUser": True}}})

    def _send(self, message: Mapping[str, Any]) -> None:
        """Write a message; nobody may be there any more to read it."""
        with self._lock:
            self._last += 1
            content = json.dumps({"seq": self._last, **message}).encode()
            try:
                self._stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
                self._stream.flush()
            except (OSError, ValueError):
                pass


def _answered(request: Mapping[str, Any], success: bool) -> dict[str, Any]:
    return {"type": "response", "request_seq": request.get("seq", 0), "command": request.get("command", ""),
            "success": success}


class Arguments:
    """What a request takes, checked where it is asked for: Error names what was expected and what was found."""

    def __init__(self, what: str, values: Any) -> None:
        self.what = what
        self.values: Mapping[str, Any] = values if isinstance(values, dict) else {}

    def text(self, name: str, default: Any = _MISSING) -> str:
        """A string."""
        found: str = self._checked(name, "a text", default)
        return found

    def number(self, name: str, default: Any = _MISSING) -> int:
        """A whole number."""
        found: int = self._checked(name, "a number", default)
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        found: bool = self._checked(name, "true or false", default)
        return found

    def part(self, name: str) -> Arguments:
        """An object; an empty one if it is left out."""
        return Arguments(f"{self.what}: {name}", self._checked(name, "an object", {}))

    def parts(self, name: str) -> list[Arguments]:
        """A list of objects; an empty one if it is left out."""
        return [Arguments(f"{self.what}: {name}", one) for one in self._checked(name, "a list", [])]

    def texts(self, name: str) -> list[str]:
        """A list of strings; an empty one if it is left out."""
        return [Arguments(self.what, {name: one}).text(name) for one in self._checked(name, "a list", [])]

    def _checked(self, name: str, kind: str, default: Any) -> Any:
        found = self.values.get(name)
        if found is None:
            if default is _MISSING:
                raise Error(f"{self.what}: '{name}' is missing: expected {kind}")
            return default
        if not isinstance(found, _KINDS[kind]) or (isinstance(found, bool) and kind == "a number"):
            raise Error(f"{self.what}: expected {kind} as '{name}'; found {json.dumps(found)[:80]}")
        return found
