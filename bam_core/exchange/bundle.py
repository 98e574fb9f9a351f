# SPDX-License-Identifier: Apache-2.0
"""A servo to pass on, with what its users need to trust it: a folder, or a ZIP archive of the same files.

``bundle.yaml`` names the licence of the recordings, where they are, and the SHA-256 of every other file:
``NAME.yaml``, the servo with its provenance; ``predictions/NAME.json``, from which it is drawn;
``bench_effects/NAME.yaml``, where its bench had any.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bam_core.errors import (
    BamError,
    Malformed,
    Missing,
    MissingSoftware,
    NotWritable,
    Unreadable,
    Unsupported,
    WrongValue,
)
from bam_core.files.atomic_file import require_file, write_bytes
from bam_core.files.typed import TypedReader, require_section
from bam_core.files.yaml_file import LARGEST_FILE, parse_yaml
from bam_core.identification.uncertainty.prediction_file import load_prediction, prediction_path
from bam_core.servo.bench_effects_file import bench_effects_path, load_bench_effects
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.provenance import Provenance
from bam_core.servo.yaml_text import yaml_text

FORMAT = 1
"""Of bundles; a new number where an older version would misunderstand one."""

MANIFEST = "bundle.yaml"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_REMEDY = "ask its author for a new one"
_MOST_FILES = 4
_LARGEST = _MOST_FILES * LARGEST_FILE  # bytes
_OLDEST = (1980, 1, 1, 0, 0, 0)  # of ZIP: the same files make the same archive at any time
_READER = TypedReader(advice=_REMEDY)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What ``bundle.yaml`` holds.

    Attributes:
        format: of the bundle, `FORMAT`.
        servo: its name.
        licence: of the recordings, an SPDX expression such as "CC-BY-4.0".
        data: where the recordings are, a URL or a DOI; empty: they are not published.
        files: name of every other file -> its SHA-256.
    """

    format: int
    servo: str
    licence: str
    data: str = ""
    files: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A bundle whose hashes are right and whose files this version understands.

    Attributes:
        manifest: its content.
        contents: name -> bytes of every file, ``bundle.yaml`` among them.
    """

    manifest: Manifest
    contents: Mapping[str, bytes]

    def write(self, folder: Path) -> Path:
        """Write the files into a new folder and return the path of the servo's.

        Raises:
            OSError: a file cannot be written.
        """
        for name, content in self.contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder / f"{self.manifest.servo}.yaml"


def bundle_servo(servo: Path, output: Path, *, licence: str, data: str = "") -> Bundle:
    """Write the bundle of a servo file that `bam identify` wrote.

    Args:
        servo: its path; what is in ``predictions/`` and ``bench_effects/`` beside it goes along.
        output: archive to write, ``.zip``.
        licence: of the recordings, an SPDX expression.
        data: where they are; empty: not published.

    Raises:
        BamError: a file is missing or wrong, the servo does not name its recordings, or the archive cannot be
            written.
    """
    if output.suffix != ".zip":
        raise WrongValue("--output", str(output), "the name of an archive, such as my_servo.zip")
    require_file(output)
    if output.exists():
        raise NotWritable(output, "exists", expected="a new file", advice="choose another name, or remove it")
    model = load_servo(servo)
    _require_name(model.name)
    _require_provenance(model.provenance, servo)
    if load_prediction(servo) is None:
        raise Missing(
            str(prediction_path(servo)),
            "the draws that 'bam identify' writes beside a servo",
            advice="identify the servo again, or copy predictions/ beside it",
        )
    contents = {f"{model.name}.yaml": servo, f"predictions/{model.name}.json": prediction_path(servo)}
    if bench_effects_path(servo).exists():
        load_bench_effects(servo)
        contents[f"bench_effects/{model.name}.yaml"] = bench_effects_path(servo)
    read = {name: read_file(path) for name, path in contents.items()}
    manifest = {
        "format": FORMAT,
        "servo": model.name,
        "licence": _canonical(licence, "--licence"),
        "data": data,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in read.items()},
    }
    read[MANIFEST] = yaml_text(manifest, {}).encode()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as entries:
        for name, content in read.items():
            entries.writestr(zipfile.ZipInfo(name, _OLDEST), content, zipfile.ZIP_DEFLATED)
    bundle = parse_bundle(archive.getvalue(), output)
    write_bytes(output, archive.getvalue())
    return bundle


_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, IndexError)
"""What `zipfile` raises for archives that are none; the last one for an entry without a name."""


def read_bundle(path: Path) -> Bundle:
    """Read and verify a bundle.

    Args:
        path: of the archive or the folder.

    Raises:
        BamError: it cannot be read, is no bundle, its hashes are wrong, or a file of it is not understood.
    """
    if not path.is_dir():
        return parse_bundle(read_file(path), path)
    manifest = _manifest(read_file(path / MANIFEST), path / MANIFEST)
    files = {name: path / name for name in (MANIFEST, *manifest.files)}
    for file in files.values():
        if file.is_symlink() or file.parent.is_symlink():
            raise Malformed(file, "is a link", expected="a file in the bundle", advice=_REMEDY)
    return _verified(path, manifest, {name: read_file(file) for name, file in files.items()})


def parse_bundle(archive: bytes, path: Path) -> Bundle:
    """Verify the archive of a bundle, as `read_bundle` does.

    Args:
        archive: its bytes.
        path: where they come from, for messages.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as entries:
            infos = [info for info in entries.infolist() if not info.is_dir()]
            sizes = {info.filename: info.file_size for info in infos}
            if (
                len(sizes) != len(infos)
                or len(infos) > _MOST_FILES
                or max(sizes.values(), default=0) > LARGEST_FILE
            ):
                raise Malformed(
                    path,
                    "is no bundle",
                    expected=f"at most {_MOST_FILES} files of {LARGEST_FILE} bytes, each once",
                    advice=_REMEDY,
                )
            contents = {name: _entry(entries, name) for name in sizes}
    except _DAMAGES as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        raise Malformed(
            path, f"is no bundle ({problem})", expected="an archive of 'bam servos bundle'", advice=_REMEDY
        ) from None
    if MANIFEST not in contents:
        raise Malformed(path, f"has no {MANIFEST}", expected="a bundle of a servo", advice=_REMEDY)
    return _verified(path, _manifest(contents[MANIFEST], path / MANIFEST), contents)


def _entry(entries: zipfile.ZipFile, name: str) -> bytes:
    """Return an entry; `ZipFile.read` would inflate all that is there, whatever size the archive states."""
    with entries.open(name) as file:
        return file.read(LARGEST_FILE + 1)


def _manifest(content: bytes, path: Path) -> Manifest:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise Malformed(path, "is not text", advice=_REMEDY) from None
    section = require_section(
        parse_yaml(text, path), path, expected="fields such as servo and files", advice=_REMEDY
    )
    if section.get("format") != FORMAT:
        raise Unsupported(
            f"{path}, format",
            f"is {section.get('format')!r}",
            expected=f"{FORMAT}, the one that this version reads",
            advice="update bam_bench, or " + _REMEDY,
        )
    manifest = _READER.read(section, Manifest, path)
    try:
        _require_name(manifest.servo)
        _canonical(manifest.licence, "licence")
    except BamError as error:
        raise error.within(path) from None
    name = manifest.servo
    required = {f"{name}.yaml", f"predictions/{name}.json"}
    if not required <= manifest.files.keys() <= {*required, f"bench_effects/{name}.yaml"}:
        raise Malformed(
            path,
            f"names {', '.join(sorted(manifest.files)) or 'no files'}",
            expected=f"{', '.join(sorted(required))}, and bench_effects/{name}.yaml at most",
            advice=_REMEDY,
        )
    return manifest


def _verified(path: Path, manifest: Manifest, contents: Mapping[str, bytes]) -> Bundle:
    if contents.keys() != {MANIFEST, *manifest.files}:
        raise Malformed(
            path,
            f"has the files {', '.join(sorted(contents))}",
            expected=f"those of its {MANIFEST}: {', '.join(sorted(manifest.files))}",
            advice=_REMEDY,
        )
    for name, digest in manifest.files.items():
        computed = hashlib.sha256(contents[name]).hexdigest()
        if computed != digest:
            raise Malformed(
                path / name, f"has SHA-256 {computed}", expected=f"{digest}, of {MANIFEST}", advice=_REMEDY
            )
    return Bundle(manifest=manifest, contents=contents)


def require_understood(bundle: Bundle, file: Path, path: Path) -> ServoModel:
    """Return the servo of a bundle, all of whose files this version reads.

    Args:
        bundle: it.
        file: of the servo, as `Bundle.write` has written it.
        path: of the bundle, for messages.

    Raises:
        Malformed: a file is not understood.
    """
    try:
        servo = load_servo(file)
        load_prediction(file)
        load_bench_effects(file)
        _require_provenance(servo.provenance, file)
    except BamError as error:
        problem = str(error).replace(f"{file.parent}{os.sep}", "")
        raise Malformed(path, f"is not understood ({problem})", advice=_REMEDY) from None
    if servo.name != bundle.manifest.servo:
        raise Malformed(
            path / file.name, f"is of servo {servo.name}", expected=bundle.manifest.servo, advice=_REMEDY
        )
    return servo


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise WrongValue(
            "servo", name, "up to 64 of a-z, 0-9, _ and -, the first no sign", advice="rename it"
        )


def _require_provenance(origin: Provenance, path: Path) -> None:
    for field in ("source", "software", "train_data"):
        if not getattr(origin, field):
            raise Missing(
                f"{path}: provenance.{field}",
                "what 'bam identify' writes: who identified it, with what, from which recordings",
                advice="identify the servo, and leave its file as it is",
            )


def _canonical(licence: str, thing: str) -> str:
    try:
        from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
    except ImportError:  # of Ubuntu 24.04, which has an older one
        raise MissingSoftware(
            "licences",
            "packaging",
            problem="packaging 24.2 or newer is not installed",
            advice="pip install 'packaging>=24.2'",
        ) from None
    try:
        return canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        raise WrongValue(
            thing,
            licence,
            "an SPDX expression such as CC-BY-4.0",
            advice="name the licence of the recordings (spdx.org/licenses), or LicenseRef-NAME",
        ) from None


def read_file(path: Path) -> bytes:
    """Return the content of a file of a bundle, or of its archive.

    Raises:
        BamError: it cannot be read, or is larger than any bundle.
    """
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Malformed(path, "is no regular file", expected="a bundle's file")
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise Unreadable(path, error) from None
    if len(content) > _LARGEST:
        raise Malformed(path, "is too large", expected=f"at most {_LARGEST} bytes", advice=_REMEDY)
    return content
