# SPDX-License-Identifier: Apache-2.0
"""A download ends in time and size, and only where nobody can have changed it."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bam_core.errors import Malformed, Unavailable, Unsupported
from bam_core.exchange.add_servo import add_servo
from bam_core.exchange.download import DownloadLimits, download
from bam_core.servo.added import added_folder
from test.core.exchange.bundle_cases import bundle
from test.core.refusals import refused

CONTENT = bytes(range(256)) * 4
GENEROUS = 30.0  # s


class _Pages(BaseHTTPRequestHandler):
    """Content, redirects, and a server that never ends."""

    served = CONTENT

    def do_GET(self) -> None:
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        if self.path == "/none":
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        if self.path == "/slow":
            while not self.server.ends.wait(0.05):  # type: ignore[attr-defined]
                self.wfile.write(b".")
            return
        self.wfile.write(self.served)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    server.ends = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.ends.set()  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()
    thread.join()


def test_content_is_read_also_behind_a_redirect(server: str) -> None:
    for path in ("/file", f"/to/{server}/file"):
        assert download(server + path, is_verified=True) == CONTENT


def test_http_needs_a_hash(server: str) -> None:
    with refused(Unsupported):
        download(f"{server}/file", is_verified=False)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "data:,x", "gopher://x"])
def test_other_schemes_are_refused(url: str) -> None:
    with refused(Unsupported):
        download(url, is_verified=True)


def test_a_redirect_leads_to_no_other_scheme(server: str) -> None:
    with refused(Unsupported, thing="ftp://127.0.0.1/x"):
        download(f"{server}/to/ftp://127.0.0.1/x", is_verified=True)
    with refused(Unavailable):  # of urllib's own
        download(f"{server}/to/file:///etc/hostname", is_verified=True)


def test_what_is_not_there_is_one_line(server: str) -> None:
    with refused(Unavailable):
        download(f"{server}/none", is_verified=True)
    with refused(Unavailable):
        download(server.replace("http:", "https:"), is_verified=False)  # speaks no TLS


def test_size_is_limited(server: str) -> None:
    limits = DownloadLimits(size=len(CONTENT))
    assert download(f"{server}/file", is_verified=True, limits=limits) == CONTENT
    with refused(Malformed):
        download(f"{server}/file", is_verified=True, limits=DownloadLimits(size=len(CONTENT) - 1))


def test_a_server_that_sends_a_byte_now_and_then_is_left_in_time(server: str) -> None:
    begin = time.monotonic()
    with refused(Unavailable):
        download(f"{server}/slow", is_verified=True, limits=DownloadLimits(seconds=0.5))
    assert time.monotonic() - begin < GENEROUS


def test_a_servo_is_added_from_a_url(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    content = bundle(tmp_path).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(_Pages, "served", content)
    with refused(Malformed):
        add_servo(f"{server}/my_servo.zip#sha256={'0' * 64}")
    with refused(Unsupported):
        add_servo(f"{server}/my_servo.zip")
    assert not added_folder().exists()
    assert add_servo(f"{server}/my_servo.zip", sha256=digest).is_new
