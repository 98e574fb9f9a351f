# SPDX-License-Identifier: Apache-2.0
"""Bundles of servos: one that is accepted is whole, or one line.

The first byte says whether the fuzzer writes the archive, or the manifest of one whose hashes are right.
"""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from bam_core.exchange.bundle import MANIFEST, parse_bundle, read_bundle, require_understood
from test.fuzz.target import FILES, Target, attempt, file, folder

_HASH = re.compile(rb"[0-9a-f]{64}")


def check(data: bytes) -> None:
    kind, content = data[:1], data[1:]
    if kind <= b"\x60":
        path = file("bundle.zip", content)
        bundle = attempt(lambda: read_bundle(path))
    elif kind <= b"\xb0":
        path = file("manifest.zip", _archive({**_contents(), MANIFEST: content}))
        bundle = attempt(lambda: parse_bundle(path.read_bytes(), path))
    else:
        path = file("servo.zip", _archive(_with_hash(content)))
        bundle = attempt(lambda: parse_bundle(path.read_bytes(), path))
    if bundle is None:
        return
    for name, digest in bundle.manifest.files.items():
        assert hashlib.sha256(bundle.contents[name]).hexdigest() == digest
    place = Path(tempfile.mkdtemp(dir=folder()))
    attempt(lambda: require_understood(bundle, bundle.write(place), path))


def _archive(contents: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as entries:
        for name, content in contents.items():
            entries.writestr(zipfile.ZipInfo(name), content)
    return target.getvalue()


def _with_hash(servo: bytes) -> dict[str, bytes]:
    """Return a bundle whose servo file is this, with its hash in the manifest."""
    contents = dict(_contents())
    name = next(name for name in contents if "/" not in name and name != MANIFEST)
    old, new = (hashlib.sha256(content).hexdigest().encode() for content in (contents[name], servo))
    contents[MANIFEST] = contents[MANIFEST].replace(old, new)
    contents[name] = servo
    return contents


@cache
def _contents() -> dict[str, bytes]:
    from test.core.exchange.bundle_cases import bundle

    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(bundle(Path(place))) as entries:
        return {name: entries.read(name) for name in entries.namelist()}


@cache
def seeds() -> tuple[bytes, ...]:
    """Return a whole bundle, its manifest, and its servo."""
    contents = _contents()
    servo = next(content for name, content in contents.items() if "/" not in name and name != MANIFEST)
    manifest = contents[MANIFEST]
    return (
        b"\0" + _archive(contents),
        b"\0" + _archive({**contents, "../outside": b""}),
        b"\x80" + manifest,
        b"\x80" + _HASH.sub(b"0" * 64, manifest, count=1),
        b"\xf0" + servo,
        b"\xf0" + servo[: len(servo) // 2],
    )


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=("bam_core.exchange.bundle", "bam_core.files.yaml_file", "bam_core.servo.servo_file", "zipfile"),
    longest=9000,
    runs=FILES,
)
