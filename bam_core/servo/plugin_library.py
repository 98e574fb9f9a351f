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
from bam_core.servo.law_values import law_values
from bam_core.servo.model import load_servo, servo_names


def write_library(path: Path, sources: Sequence[Path]) -> None:
    """Write what `servo_plugin.cc` includes: the library, and the digests of what the plugin is built from.

    Raises:
        BamError: the file cannot be written.
    """
    digests = f"{build_digest(sources)} {source_digest(sources)}"
    built_from = f'__attribute__((used)) const char kBuiltFrom[] = "{digests}";\n'
    write_text(path, library_source() + built_from)


def build_digest(sources: Iterable[Path]) -> str:
    """Return the digest that a plugin built from this servo library and these sources of its own carries."""
    return hashlib.sha256((library_source() + source_digest(sources)).encode()).hexdigest()


def source_digest(sources: Iterable[Path]) -> str:
    """Return the digest of these sources alone, which the library carries as well."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(sources))).hexdigest()


def library_source() -> str:
    """Return the definition of `kLibrary`, for `servo_plugin.cc`."""
    lines = ["// Made from bam_core/servos/*.yaml; not to be edited."]
    names = []
    for name in servo_names():
        servo = load_servo(name)
        servo.require_no_gear("MuJoCo's engine plugin")
        lines.append(f"inline Configuration {_identifier(name)}() {{")
        lines.append("  Configuration c;")
        lines += [f"  c.{field} = {value!r};" for field, value in law_values(servo).items()]
        lines += ["  return c;", "}"]
        names.append(f'    {{"{name}", {_identifier(name)}()}},')
    return "\n".join([*lines, "const LibraryServo kLibrary[] = {", *names, "};", ""])


def _identifier(name: str) -> str:
    return "Servo_" + "".join(letter if letter.isalnum() else "_" for letter in name)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file that is named first, with the digests of what the plugin is built from."""
    path, *sources = map(Path, sys.argv[1:] if argv is None else argv)
    write_library(path, sources)
    return 0


if __name__ == "__main__":
    sys.exit(main())
