"""A client of the Debug Adapter Protocol, for tests: it speaks to the adapter through a subprocess's pipes or a socket.

Every message is checked against the protocol's JSON schema where debugpy, which has it, and jsonschema are installed.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from coopmat.debugger.dap.kernel import Opened
from coopmat.debugger.dap.session import Session
from coopmat.runtime.debugging import launch_of

Message = dict[str, Any]
PATIENCE = 20.0  # seconds for an answer


class Refused(Exception):
    """A request that was answered with an error; its text is what the client shows."""

    def __init__(self, response: Message) -> None:
        error = response["body"]["error"]
        super().__init__(error["format"].format(**error.get("variables", {})))
        self.short = response["message"]


class Client:
    """Sends requests, waits for answers, and keeps the events that come meanwhile."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader = reader
        self._writer = writer
        self._seq = 0
        self._inbox: SimpleQueue[Message | None] = SimpleQueue()
        self.events: list[Message] = []
        self.output: list[Message] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        last = 0
        while header := self._reader.readline():
            name, _, length = header.partition(b": ")
            assert name == b"Content-Length"
            assert self._reader.readline() == b"\r\n"
            message = json.loads(self._reader.read(int(length)))
            assert message["seq"] > last
            last = message["seq"]
            self._inbox.put(message)
        self._inbox.put(None)

    def _next(self) -> Message:
        try:
            message = self._inbox.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError(f"no message in {PATIENCE} s; the events were {self.events}") from None
        assert message is not None, f"the adapter has closed; the events were {self.events}"
        check(message)
        return message

    def _note(self, message: Message) -> None:
        assert message["type"] == "event", message
        (self.output if message["event"] == "output" else self.events).append(message)

    def send(self, command: str, arguments: Any = None) -> int:
        """Send a request; its number."""
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command,
                   **({"arguments": arguments} if arguments is not None else {})}
        self.write(json.dumps(message).encode())
        return self._seq

    def write(self, content: bytes) -> None:
        """Send a message's content."""
        self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        self._writer.flush()

    def receive(self, number: int) -> Message:
        """The body of the answer to a request. Refused for an error."""
        while (message := self._next())["type"] != "response":
            self._note(message)
        assert message["request_seq"] == number, message
        if not message["success"]:
            raise Refused(message)
        body: Message = message.get("body", {})
        return body

    def ask(self, command: str, arguments: Any = None, **named: Any) -> Message:
        """Send a request and wait for the answer."""
        return self.receive(self.send(command, named if named or arguments is None else arguments))

    def wait_for(self, event: str) -> Message:
        """The body of the next event of a name that has not been waited for."""
        while True:
            for index, message in enumerate(self.events):
                if message["event"] == event:
                    del self.events[:index + 1]
                    body: Message = message.get("body", {})
                    return body
            self._note(self._next())

    def wait_for_end(self) -> None:
        """The adapter closes its output."""
        while (message := self._inbox.get(timeout=PATIENCE)) is not None:
            self._note(message)

    # --- what most sessions do ----------------------------------------------------------

    def initialize(self, **named: Any) -> Message:
        """The first request."""
        return self.ask("initialize", {"adapterID": "coopmat", "clientID": "tests", **named})

    def launch(self, configuration: Mapping[str, Any], request: str = "launch") -> None:
        """Up to where breakpoints are set."""
        self.ask(request, dict(configuration))
        self.wait_for("initialized")

    def run(self) -> Message:
        """Begin, to the first stop."""
        self.ask("configurationDone")
        return self.wait_for("stopped")

    def go(self, command: str, thread: int | None = None) -> Message:
        """Go on to the next stop."""
        self.ask(command, threadId=thread if thread is not None else self.threads()[0]["id"])
        return self.wait_for("stopped")

    def threads(self) -> list[Message]:
        """All of them."""
        return list(self.ask("threads")["threads"])

    def breaks(self, path: Path | str, *points: int | Message) -> list[Message]:
        """Set the breakpoints of a file."""
        wanted = [{"line": point} if isinstance(point, int) else point for point in points]
        return list(self.ask("setBreakpoints", source={"path": str(path)}, breakpoints=wanted)["breakpoints"])

    def stack(self, thread: int) -> list[Message]:
        """The frames of a thread."""
        return list(self.ask("stackTrace", threadId=thread)["stackFrames"])

    def line(self, thread: int) -> int:
        """Where a thread is."""
        return int(self.stack(thread)[0]["line"])

    def scopes(self, thread: int, frame: int = 0) -> dict[str, list[Message]]:
        """The variables of a frame by scope."""
        found = self.ask("scopes", frameId=self.stack(thread)[frame]["id"])["scopes"]
        return {scope["name"]: self.variables(scope["variablesReference"]) for scope in found}

    def variables(self, reference: int, **named: Any) -> list[Message]:
        """The parts of something."""
        return list(self.ask("variables", variablesReference=reference, **named)["variables"])

    def evaluate(self, text: str, thread: int | None = None, **named: Any) -> str:
        """An expression's value."""
        frame = {"frameId": self.stack(thread)[0]["id"]} if thread is not None else {}
        return str(self.ask("evaluate", expression=text, **frame, **named)["result"])

    def printed(self, category: str) -> str:
        """What has been printed so far."""
        return "".join(one["body"]["output"] for one in self.output if one["body"]["category"] == category)

    def disconnect(self, **named: Any) -> None:
        """Leave."""
        self.ask("disconnect", **named)
        self.wait_for_end()


@contextmanager
def adapter(folder: Path, *words: str) -> Iterator[Client]:
    """A client of ``coopmat debug --dap`` with these words. The adapter must have printed nothing else, and must end
    when the client has left."""
    process = subprocess.Popen([sys.executable, "-m", "coopmat", "debug", *words, "--dap"], cwd=folder,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        yield Client(process.stdout, process.stdin)
        process.stdin.close()
        process.wait(PATIENCE)
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.wait()


@contextmanager
def session_of(kernel: Any, global_size: Any, local_size: Any, *arguments: Any, device: str = "sim:generic",
               folder: Path | None = None) -> Iterator[Client]:
    """A client of a session in this process, which has sent the first request, and attaches to a launch."""
    opened = Opened(launch_of(kernel, device, global_size, local_size, arguments, {}), folder or Path.cwd())
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with theirs, theirs.makefile("rb") as reader, theirs.makefile("wb") as writer:
            Session(reader, writer, lambda _: opened).run()
            theirs.shutdown(socket.SHUT_RDWR)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    client = Client(ours.makefile("rb"), ours.makefile("wb"))
    try:
        client.initialize()
        yield client
    finally:
        with suppress(OSError):
            ours.shutdown(socket.SHUT_WR)
        thread.join(PATIENCE)
    assert not thread.is_alive()
    ours.close()


# ------------------------------------------------------------------------------- the schema


@cache
def validator() -> Callable[[str, Any], None] | None:
    """What checks a value against a definition of the protocol's schema; None where that is not installed."""
    found = importlib.util.find_spec("debugpy")
    if found is None or found.origin is None or importlib.util.find_spec("jsonschema") is None:
        return None
    from jsonschema import Draft4Validator

    places = list(Path(found.origin).parent.rglob("debugProtocol.json"))
    if not places:
        return None
    schema = json.loads(places[0].read_text())

    def validate(name: str, value: Any) -> None:
        if name in schema["definitions"]:
            Draft4Validator({**schema, "$ref": f"#/definitions/{name}"}).validate(value)

    return validate


def check(message: Message) -> None:
    """Error for a message that the schema does not allow."""
    validate = validator()
    if validate is None:
        return
    name = message["event"] if message["type"] == "event" else message["command"]
    if message["type"] == "response" and not message["success"]:
        validate("ErrorResponse", message)
    else:
        validate(f"{name[0].upper()}{name[1:]}{message['type'].capitalize()}", message)
