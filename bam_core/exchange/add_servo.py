# SPDX-License-Identifier: Apache-2.0
"""Adds the servo of a bundle to the user's own ones, from where its name is known to everything here."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag, urlsplit
from urllib.request import url2pathname

from bam_core.errors import Conflict, Malformed, NotWritable, Unsupported, WrongValue
from bam_core.exchange.bundle import (
    MANIFEST,
    Bundle,
    parse_bundle,
    read_bundle,
    read_file,
    require_understood,
)
from bam_core.exchange.download import DEFAULT_LIMITS, DownloadLimits, download
from bam_core.files.atomic_file import scratch
from bam_core.servo.added import added_path
from bam_core.servo.model import servo_names

_HASH = "sha256="
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class AddedServo:
    """A servo that has been added.

    Attributes:
        path: of its file.
        bundle: from which it is.
        is_new: False where the same bundle had been added before.
    """

    path: Path
    bundle: Bundle
    is_new: bool


def add_servo(source: str, *, sha256: str = "", limits: DownloadLimits = DEFAULT_LIMITS) -> AddedServo:
    """Verify a bundle and add its servo, whole or not at all.

    Args:
        source: path of a bundle, or URL of an archive: https, file, or http with a hash. ``#sha256=…`` at its
            end is the hash of the archive.
        sha256: the same hash; empty: the hashes inside the bundle alone are compared.
        limits: of a download.

    Raises:
        BamError: the bundle cannot be had, is damaged, is not the one of the hash, or is not understood; or
            there is another servo of its name.
    """
    bundle, place = _bundle(source, sha256, limits)
    name = bundle.manifest.servo
    if name in servo_names():
        raise Conflict(
            f"servo '{name}'", "is in the library", expected="a new name", advice="ask its author for another"
        )
    path = added_path(name)
    if path.parent.exists():
        return AddedServo(path=_require_same(path, bundle), bundle=bundle, is_new=False)
    try:
        with scratch(path.parent) as folder:
            require_understood(bundle, bundle.write(folder), place)
            folder.rename(path.parent)
    except OSError as error:
        raise NotWritable(path.parent, error) from None
    return AddedServo(path=path, bundle=bundle, is_new=True)


def _bundle(source: str, sha256: str, limits: DownloadLimits) -> tuple[Bundle, Path]:
    """Return the bundle, and where it is, for messages."""
    url, fragment = urldefrag(source)
    parts = urlsplit(url)
    is_url = "://" in source or parts.scheme == "file"
    if parts.scheme == "file" and parts.netloc not in ("", "localhost"):
        raise Unsupported(url, "is on another computer", expected="file:///PATH or https", advice="copy it")
    digest = _digest(sha256, fragment if is_url else "")
    if is_url and parts.scheme != "file":
        content = download(url, is_verified=bool(digest), limits=limits)
        place = Path(Path(parts.path).name or parts.netloc)
    else:
        place = Path(url2pathname(parts.path)) if is_url else Path(source)
        if place.is_dir():
            if digest:
                raise Conflict(
                    str(place), "is a folder, which has no hash", expected="an archive with --sha256"
                )
            return read_bundle(place), place
        content = read_file(place)
    if digest and (here := hashlib.sha256(content).hexdigest()) != digest:
        raise Malformed(
            place, f"has SHA-256 {here}", expected=digest, advice="do not use it; ask its author for the hash"
        )
    return parse_bundle(content, place), place


def _digest(option: str, fragment: str) -> str:
    """Return the hash that the archive shall have; empty: none was given."""
    given = [option, fragment.removeprefix(_HASH) if fragment.startswith(_HASH) else fragment]
    digests = {digest.lower() for digest in given if digest}
    for digest in digests:
        if not _DIGEST.fullmatch(digest):
            raise WrongValue("SHA-256", digest, "64 hexadecimal digits, as sha256sum prints them")
    if len(digests) > 1:
        raise Conflict("--sha256", "differs from the hash in the URL", expected="one hash")
    return digests.pop() if digests else ""


def _require_same(path: Path, bundle: Bundle) -> Path:
    """Return the path of an added servo that is of the same bundle."""
    manifest = path.parent / MANIFEST
    if manifest.is_file() and manifest.read_bytes() == bundle.contents[MANIFEST]:
        return path
    raise Conflict(
        f"servo '{bundle.manifest.servo}'",
        "has been added from another bundle",
        advice=f"to replace it, remove the folder {path.parent} first",
    )
