# SPDX-License-Identifier: Apache-2.0
"""``bam servos add``: a servo that somebody has published, verified and added under its name."""

from __future__ import annotations

import argparse

EXAMPLE = "bam servos add https://example.org/my_servo.zip#sha256=HASH"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "source",
        metavar="URL_OR_FILE",
        help="bundle of the servo: an archive or its folder, or the URL of an archive (https, file)",
    )
    parser.add_argument(
        "--sha256",
        default="",
        metavar="HASH",
        help="of the archive, where its author publishes it; also as #sha256=HASH at the end of a URL. "
        "Without it, hashes in the bundle find damage, not a bundle that somebody has replaced",
    )


def run(arguments: argparse.Namespace) -> int:
    """Verify and add."""
    from bam_core.exchange.add_servo import add_servo

    added = add_servo(arguments.source, sha256=arguments.sha256)
    manifest = added.bundle.manifest
    print(f"{'added' if added.is_new else 'is there already'}: {manifest.servo} ({added.path})")
    print(f"licence of its recordings: {manifest.licence}; they are at: {manifest.data or 'not published'}")
    print(f"use its name as that of any servo: bam servos {manifest.servo}")
    return 0
