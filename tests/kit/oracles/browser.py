"""A headless Chromium, driven over pipes by its devtools protocol: a real pointer, a real keyboard, real pictures."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 60.0  # seconds for each step
KEYS = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Escape": 27, "Tab": 9}


def executable() -> str | None:
    """The browser's path, or None if there is none here."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page: ``with Page(folder) as page: page.open(file)``. The folder holds the browser's profile."""

    def __init__(self, folder: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                   f"--user-data-dir={folder}", "about:blank"]
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'  # the protocol's pipes have these numbers
        self._process = subprocess.Popen(["bash", "-c", command, "bash", str(executable()), *options],
                                         pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._count = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def __enter__(self) -> Page:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    # ------------------------------------------------------------------ protocol

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one command."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + TIMEOUT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        first, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(first)

    # ------------------------------------------------------------------ what a reader does

    def open(self, file: Path, *, width: int = 900, height: int = 800, dark: bool = False) -> None:
        """Show a file, and wait until it is there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=file.as_uri())
        deadline = time.monotonic() + TIMEOUT
        while self.evaluate("location.protocol + document.readyState") != "file:complete":
            assert time.monotonic() < deadline, "the page does not load"
            time.sleep(0.02)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page's script."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def point(self, selector: str) -> None:
        """Move the pointer onto the middle of an element."""
        x, y = self.evaluate(f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
                             ".getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])

    def screenshot(self) -> bytes:
        """The page as a PNG picture."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
