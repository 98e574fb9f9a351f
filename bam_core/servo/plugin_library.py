# SPDX-License-Identifier: Apache-2.0
"""The servo library as C++, so that MJCF can name a servo: `python -m bam_core.servo.plugin_library F`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bam_core.atomic_file import write_text
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.plugin_attributes import plugin_attributes


def library_source() -> str:
    """Return the definition of `kLibrary`, for `servo_plugin.cc`."""
    lines = ["// Made from bam_core/servos/*.yaml; not to be edited."]
    names = []
    for name in servo_names():
        values = plugin_attributes(load_servo(name))
        lines.append(f"inline Constants {_identifier(name)}() {{")
        lines.append("  Constants c;")
        lines += [f"  c.{field} = {value!r};" for field, value in values.items()]
        lines += ["  return c;", "}"]
        names.append(f'    {{"{name}", {_identifier(name)}()}},')
    return "\n".join([*lines, "const LibraryServo kLibrary[] = {", *names, "};", ""])


def _identifier(name: str) -> str:
    return "Servo_" + "".join(letter if letter.isalnum() else "_" for letter in name)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file that is named."""
    (path,) = sys.argv[1:] if argv is None else argv
    write_text(Path(path), library_source())
    return 0


if __name__ == "__main__":
    sys.exit(main())
