# SPDX-License-Identifier: Apache-2.0
"""``bam servos bundle``: a servo file with all that belongs to it, to pass on."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

EXAMPLE = "bam servos bundle out/m4.yaml --licence CC-BY-4.0 --output my_servo.zip"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "file", metavar="FILE", help="servo file that 'bam identify' wrote, with predictions/ beside it"
    )
    parser.add_argument(
        "--licence",
        required=True,
        metavar="SPDX",
        help="of the recordings: an SPDX expression, such as CC-BY-4.0, or LicenseRef-NAME",
    )
    parser.add_argument(
        "--data", default="", metavar="URL", help="where the recordings are (default: they are not published)"
    )
    parser.add_argument("--output", required=True, metavar="FILE.zip", help="archive to write")


def run(arguments: argparse.Namespace) -> int:
    """Write the archive."""
    from bam_core.exchange.bundle import bundle_servo

    output = Path(arguments.output)
    bundle = bundle_servo(Path(arguments.file), output, licence=arguments.licence, data=arguments.data)
    print(f"wrote {output}: {', '.join(bundle.contents)}")
    print(f"SHA-256, to publish beside it: {hashlib.sha256(output.read_bytes()).hexdigest()}")
    return 0
