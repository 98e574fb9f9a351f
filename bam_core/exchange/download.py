# SPDX-License-Identifier: Apache-2.0
"""Reads a file of the network: over https, within a time and a size."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from http.client import HTTPException
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from bam_core.errors import BamError, Malformed, Unavailable, Unsupported


@dataclass(frozen=True, kw_only=True)
class DownloadLimits:
    """What a download may take.

    Attributes:
        seconds: from the call to the last byte.
        size: bytes.
    """

    seconds: float = 60.0
    size: int = 8_000_000


DEFAULT_LIMITS = DownloadLimits()


def download(url: str, *, is_verified: bool, limits: DownloadLimits = DEFAULT_LIMITS) -> bytes:
    """Return the content behind a URL.

    Args:
        url: of scheme https; http only where the content is verified.
        is_verified: whether the caller compares the content with a hash that it has from elsewhere.
        limits: in time and size.

    Raises:
        Unsupported: the URL, or one that it redirects to, has another scheme.
        Unavailable: the server does not answer, not with this file, or not within the time.
        Malformed: the file is too large.
    """
    _require_scheme(url, is_verified)
    # Timeouts of sockets begin anew with every byte, and names are resolved without one: so a thread, which
    # is left behind where it does not end.
    outcome: SimpleQueue[bytes | Exception] = SimpleQueue()
    threading.Thread(target=_put, args=(outcome, url, is_verified, limits), daemon=True).start()
    try:
        result = outcome.get(timeout=limits.seconds)
    except Empty:
        raise Unavailable(
            url,
            f"has not been read within {limits.seconds:g} s",
            advice="download it with another program, and give the file",
        ) from None
    if isinstance(result, Exception):
        raise result
    return result


class _Redirects(HTTPRedirectHandler):
    """Follows redirects only to where a download may begin."""

    def __init__(self, is_verified: bool) -> None:
        self._is_verified = is_verified

    def redirect_request(self, *arguments: Any) -> Request | None:
        """Return the request of the new URL, which is the last argument."""
        _require_scheme(arguments[-1], self._is_verified)
        return super().redirect_request(*arguments)


def _put(
    outcome: SimpleQueue[bytes | Exception], url: str, is_verified: bool, limits: DownloadLimits
) -> None:
    try:
        outcome.put(_read(url, is_verified, limits))
    except Exception as error:
        outcome.put(error)


def _read(url: str, is_verified: bool, limits: DownloadLimits) -> bytes:
    opener = build_opener(_Redirects(is_verified))
    try:
        with opener.open(Request(url, headers={"User-Agent": "bam_bench"}), timeout=limits.seconds) as answer:
            content: bytes = answer.read(limits.size + 1)
    except BamError:
        raise
    except (OSError, HTTPException, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise Unavailable(url, f"cannot be read ({reason})", advice="check the URL and the network") from None
    if len(content) > limits.size:
        raise Malformed(url, "is too large", expected=f"at most {limits.size} bytes", advice="check the URL")
    return content


def _require_scheme(url: str, is_verified: bool) -> None:
    scheme = urlsplit(url).scheme
    if scheme == "https" or (scheme == "http" and is_verified):
        return
    if scheme == "http":
        raise Unsupported(
            url,
            "http lets others change the file on its way",
            expected="https, or the file's hash",
            advice="give the hash with --sha256",
        )
    raise Unsupported(url, f"has scheme {scheme!r}", expected="https or a file", advice="download it first")
