# SPDX-License-Identifier: Apache-2.0
"""``bam diagram``: drive/backdrive diagrams."""

from __future__ import annotations

import argparse
from pathlib import Path

from bam_core.cli.quantities import quantity_in
from bam_core.errors import OutOfRange
from bam_core.files.atomic_file import require_file
from bam_core.text.quantity import TORQUE

EXAMPLE = "bam diagram out/xl330/m1.yaml out/xl330/m6.yaml --output diagram.png"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "servos",
        nargs="+",
        metavar="FILE",
        help="servo YAML files or names from 'bam servos', one panel each",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="picture to write (.png, .svg, .pdf)")
    parser.add_argument(
        "--max-torque",
        type=quantity_in(TORQUE),
        metavar="NM",
        help="end of the axes in N·m (default: the highest stall torque of a servo's models, so that "
        "they compare)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Draw the picture and print where it is."""
    from bam_core.plots.diagram import plot_diagram
    from bam_core.plots.save import save_figure
    from bam_core.recordings.discovery import unique_names
    from bam_core.servo.model import load_servo

    if arguments.max_torque is not None and not 1e-6 <= arguments.max_torque <= 1e6:
        raise OutOfRange("--max-torque", arguments.max_torque, "N·m, 1e-6 to 1e6")
    require_file(arguments.output)
    names = unique_names([Path(path) for path in arguments.servos])
    servos = [(name, load_servo(path)) for name, path in zip(names, arguments.servos, strict=True)]
    save_figure(plot_diagram(servos, max_torque=arguments.max_torque), arguments.output)
    print(f"wrote {arguments.output}")
    return 0
