"""How clients come to the adapter: pipes, a port, a kernel that waits; another client; Visual Studio Code's side."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from coopmat.command_line.debug import ATTRIBUTES
from coopmat.command_line.main import main
from tests.kit.command_line import coopmat
from tests.kit.dap import PATIENCE, Client, adapter
from tests.kit.paths import ROOT

SOURCE = "kernel void one(global int *p) {\n    int i = get_global_id(0);\n    p[i] += i;\n}\n"
LAUNCH = {"program": "one.cl", "global": [4], "local": 4, "args": ["zeros:int32:4"]}
EXTENSION = ROOT / "editors" / "vscode"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.cl").write_text(SOURCE)
    return tmp_path


def _hears_ctrl_c() -> None:
    """Also where the tests run in the background of a shell, which has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def waiting(folder: Path, *command: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process that waits for clients, and its port."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen([sys.executable, *command], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, preexec_fn=_hears_ctrl_c) as process:
        try:
            assert process.stderr is not None
            match = re.fullmatch(r"waiting for a debugger at 127\.0\.0\.1:(\d+)\n", process.stderr.readline())
            assert match is not None
            yield process, int(match[1])
        finally:
            process.kill()


@contextmanager
def connected(port: int) -> Iterator[Client]:
    with socket.create_connection(("127.0.0.1", port)) as stream:
        yield Client(stream.makefile("rb"), stream.makefile("wb"))


def test_a_port_serves_one_client_after_another(folder: Path) -> None:
    with waiting(folder, "-m", "coopmat", "debug", "--dap", "--port", "0") as (process, port):
        with socket.create_connection(("127.0.0.1", port)) as stream:
            stream.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert stream.recv(9) == b""
        assert process.stderr is not None
        assert "does not speak the Debug Adapter Protocol" in process.stderr.readline()
        for line in (2, 3):
            with connected(port) as client:
                client.initialize()
                client.launch(LAUNCH)
                client.breaks(folder / "one.cl", line)
                assert client.line(client.run()["threadId"]) == line
                client.disconnect()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


WAITS = """\
import numpy as np, sys
import coopmat as cm
from pathlib import Path
p = np.zeros(4, np.int32)
print(cm.build(Path("one.cl")).kernel("one").debug(4, 4, p, port=0), p.tolist())
"""


@pytest.mark.parametrize("is_ended", [False, True])
def test_a_kernel_waits_for_a_client_that_attaches(folder: Path, is_ended: bool) -> None:
    """When it leaves, the kernel goes on, unless the client ends it."""
    with waiting(folder, "-c", WAITS) as (process, port):
        with connected(port) as client:
            client.initialize()
            client.launch({}, "attach")
            client.breaks(folder / "one.cl", 3)
            assert client.evaluate("i", client.run()["threadId"]) == "0"
            client.disconnect(terminateDebuggee=is_ended)
        assert process.communicate(timeout=PATIENCE)[0] == f"0 {[0, 0, 0, 0] if is_ended else [0, 1, 2, 3]}\n"


@pytest.mark.parametrize(("words", "message"), [
    ("one.cl --port 3", "--port is for editors: it needs --dap"), ("--dap --script x", "--dap takes no --script"),
    ("- --dap", "--dap takes no source from standard input"),
    ("--dap --port 65536", "a port is a number from 0 to 65535; found 65536"),
    ("", "Missing argument FILE. (see `coopmat debug --help`)"),
    ("one.cl", "Missing option --global. (see `coopmat debug --help`)"),
    ("--dap --port TAKEN", "cannot listen at 127.0.0.1:TAKEN: "),
])
def test_options_that_do_not_go_together(words: str, message: str, monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        monkeypatch.setattr(sys, "argv", ["coopmat", "debug", *words.replace("TAKEN", port).split()])
        with pytest.raises(SystemExit) as caught:
            main()
    assert caught.value.code == 1
    assert message.replace("TAKEN", port) in capsys.readouterr().err


@pytest.mark.parametrize(("content", "message"), [
    (b"hello\r\n\r\n", "expected a header with a message's Content-Length"),
    (b"Content-Length: 999999999999\r\n\r\n", "found 999999999999"), (b"Content-Length: 2\r\n\r\n{]", "is not JSON"),
    (b"Content-Length: 2\r\n\r\n[]", "is not a JSON object"),
])
def test_what_is_not_the_protocol_ends_the_adapter(content: bytes, message: str) -> None:
    result = subprocess.run([sys.executable, "-m", "coopmat", "debug", "--dap"], input=content, capture_output=True,
                            timeout=PATIENCE, check=False)
    assert (result.returncode, result.stdout) == (1, b"")
    assert message in result.stderr.decode()
    assert b"Traceback" not in result.stderr


def test_a_client_that_is_gone_ends_the_adapter() -> None:
    result = coopmat("debug", "--dap")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.oracle("dap-python")
def test_another_client(folder: Path) -> None:
    """dap-python reads every answer into the protocol's types."""
    import dap
    from dap import events, responses
    from pydantic import ValidationError

    client = dap.Client("coopmat", client_id="dap-python")
    with subprocess.Popen([sys.executable, "-m", "coopmat", "debug", "--dap"], cwd=folder, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def wait_for(kind: type) -> object:
            process.stdin.write(client.send())  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            while True:
                header = process.stdout.readline() + process.stdout.readline()  # type: ignore[union-attr]
                content = process.stdout.read(int(header.split()[1]))  # type: ignore[union-attr]
                try:
                    found = [one for one in client.receive(header + content) if isinstance(one, kind)]
                except ValidationError as error:  # it wants a whole response in the body of these
                    if error.title not in ("LaunchDone", "ConfigurationDone", "Disconnected"):
                        raise
                    found = [error] if kind is object else []
                if found:
                    return found[0]

        wait_for(responses.Initialized if hasattr(responses, "Initialized") else dap.responses.Capabilities)
        client.send_request("launch", {**LAUNCH, "stopOnEntry": True})
        wait_for(events.InitializedEvent)
        client.set_breakpoints({"path": str(folder / "one.cl")}, breakpoints=[{"line": 3}])
        found = wait_for(responses.SetBreakpointsResponse)
        assert [(point.verified, point.line) for point in found.breakpoints] == [(True, 3)]  # type: ignore[attr-defined]
        client.configuration_done()
        stop = wait_for(events.StoppedEvent)
        client.stack_trace(stop.threadId)  # type: ignore[attr-defined]
        frames = wait_for(responses.StackTraceResponse).stackFrames  # type: ignore[attr-defined]
        assert [(frame.name, frame.line) for frame in frames] == [("one", 2)]
        client.evaluate("p[0] + 7", frame_id=frames[0].id)
        assert wait_for(responses.EvaluateResponse).result == "7"  # type: ignore[attr-defined]
        client.disconnect()
        wait_for(object)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


# ------------------------------------------------------------------------------- Visual Studio Code

def test_the_extension_knows_what_a_launch_takes() -> None:
    (debugger,) = json.loads((EXTENSION / "package.json").read_text())["contributes"]["debuggers"]
    assert debugger["configurationAttributes"]["launch"]["properties"] == {
        name: {"type": kind, "description": text} for name, (kind, text) in ATTRIBUTES.items()}


EDITOR = """\
const made = [];
const vscode = {
  debug: { registerDebugAdapterDescriptorFactory: (type, factory) => (made.push(type), factory) },
  workspace: { getConfiguration: (section) => ({ get: (name) => `${section}.${name}` }) },
  DebugAdapterServer: class { constructor(...all) { this.server = all; } },
  DebugAdapterExecutable: class { constructor(...all) { this.executable = all; } },
};
require("module")._load = ((load) => (name, ...rest) => name === "vscode" ? vscode : load(name, ...rest))(
  require("module")._load);
const context = { subscriptions: [] };
require(process.argv[1]).activate(context);
const [factory] = context.subscriptions;
const workspaceFolder = { uri: { fsPath: "/work" } };
for (const configuration of [{ request: "launch" }, { request: "attach", port: 5678 }]) {
  made.push(factory.createDebugAdapterDescriptor({ configuration, workspaceFolder }));
}
console.log(JSON.stringify(made));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_the_extension_starts_the_adapter_or_connects() -> None:
    result = subprocess.run(["node", "-e", EDITOR, str(EXTENSION / "extension.js")], capture_output=True, text=True,
                            check=True, timeout=PATIENCE)
    assert json.loads(result.stdout) == [
        "coopmat", {"executable": ["coopmat.command", ["debug", "--dap"], {"cwd": "/work"}]},
        {"server": [5678, "127.0.0.1"]}]


def test_a_file_of_another_name_with_spaces(folder: Path) -> None:
    (folder / "a b").mkdir()
    (folder / "one.cl").rename(folder / "a b" / "zwei größe.cl")
    np.save(folder / "a b" / "p.npy", np.zeros(4, np.int32))
    with adapter(folder) as client:
        client.initialize()
        client.launch({"program": "zwei größe.cl", "cwd": "a b", "global": 4, "args": ["p.npy"], "out": ["0=p.npy"]})
        (point,) = client.breaks(folder / "a b" / "zwei größe.cl", 3)
        assert point["verified"]
        thread = client.run()["threadId"]
        client.ask("continue", threadId=thread)
        client.wait_for("terminated")
        client.disconnect()
    assert np.load(folder / "a b" / "p.npy").tolist() == [0, 1, 2, 3]
