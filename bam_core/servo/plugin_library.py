# SPDX-License-Identifier: Apache-2.0
"""The servo library as C++, so that MJCF can name a servo: made when the engine plugin is built.

`python -m bam_core.servo.plugin_library FILE SOURCES...` writes the file; the sources are the plugin's own.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bam_core.files.atomic_file import write_text
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.plugin_attributes import plugin_attributes


def build_digest(sources: Iterable[Path]) -> str:
    """Return the digest that a plugin built from this servo library and these sources of its own carries."""
    texts = [library_source().encode(), *(path.read_bytes() for path in sorted(sources))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


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
    """Write the file that is named first, with the digest of all that the plugin is built from."""
    path, *sources = map(Path, sys.argv[1:] if argv is None else argv)
    digest = f'__attribute__((used)) const char kBuiltFrom[] = "{build_digest(sources)}";\n'
    write_text(path, library_source() + digest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
