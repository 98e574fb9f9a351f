# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its DevTools protocol: what a page says, draws, fetches and looks like."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from test.missing import skip_or_fail

DEADLINE = 300.0  # s, generous, for the browser to start and for every page; it takes a second or two
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Page:
    """One tab.

    Attributes:
        complaints: errors and warnings of scripts, styles and security policy.
        requests: every address that the page asked for.
    """

    call: Callable[..., Any]
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def look(self, width: int, height: int, *, dark: bool, phone: bool = False) -> None:
        """Show what follows at this size and in this colour scheme, without motion; phones are touched."""
        scale = 2 if phone else 1
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=phone,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.call(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ],
        )

    def open(self, file: Path) -> None:
        """Load a file and wait until two frames are drawn."""
        self.call("Page.navigate", url=file.absolute().as_uri())
        self.until("document.readyState === 'complete'")
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
        )

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + DEADLINE
        while not self.evaluate(expression):
            assert time.monotonic() < deadline, f"never became true: {expression}"

    def screenshot(self, file: Path) -> None:
        """Write the whole page, however long, as PNG."""
        file.parent.mkdir(parents=True, exist_ok=True)
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """Start a browser with one empty tab; skips the test, or fails it, where there is none.

    Args:
        profile: empty directory for its files.
    """
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        skip_or_fail("no Chromium to open the page in; apt install chromium")
    try:
        from websockets.sync.client import connect
    except ImportError:
        skip_or_fail("no websockets 11 or newer to speak with Chromium; pip install websockets")
    command = [
        program,
        "--headless=new",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        "--no-first-run",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        "about:blank",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port, path = _address(process, profile / "DevToolsActivePort")
        with connect(f"ws://127.0.0.1:{port}{path}", max_size=None, compression=None) as socket:
            yield _tab(socket)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], file: Path) -> tuple[str, str]:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        assert process.poll() is None, f"{process.args[0]} ended with status {process.returncode}"
        lines = file.read_text().splitlines() if file.exists() else []
        if len(lines) == 2:
            return lines[0], lines[1]
        time.sleep(0.02)
    raise AssertionError(f"{process.args[0]} did not say where it listens within {DEADLINE:g} s")


def _tab(socket: Any) -> Page:
    session: dict[str, str] = {}
    count = 0

    def call(method: str, **parameters: Any) -> Any:
        nonlocal count
        count += 1
        socket.send(json.dumps({"id": count, "method": method, "params": parameters, **session}))
        while True:
            message = json.loads(socket.recv(timeout=DEADLINE))
            if message.get("id") == count:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            _note(page, message.get("method", ""), message.get("params", {}))

    page = Page(call)
    target = call("Target.createTarget", url="about:blank")["targetId"]
    session["sessionId"] = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        call(f"{domain}.enable")
    return page


def _note(page: Page, event: str, about: dict[str, Any]) -> None:
    if event == "Network.requestWillBeSent":
        page.requests.append(about["request"]["url"])
    elif event == "Runtime.exceptionThrown":
        details = about["exceptionDetails"]
        page.complaints.append(details.get("exception", {}).get("description", details["text"]))
    elif event == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
        page.complaints.append(str([each.get("value") for each in about["args"]]))
    elif event == "Log.entryAdded":
        page.complaints.append(about["entry"]["text"])
