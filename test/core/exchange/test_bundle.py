# SPDX-License-Identifier: Apache-2.0
"""A bundle is accepted as its author wrote it, and refused as a whole if anything of it was changed."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bam_core.errors import (
    BamError,
    Conflict,
    Malformed,
    Missing,
    NotWritable,
    Unreadable,
    Unsupported,
    WrongValue,
)
from bam_core.exchange.add_servo import add_servo
from bam_core.exchange.bundle import MANIFEST, bundle_servo, read_bundle
from bam_core.files.yaml_file import LARGEST_FILE
from bam_core.identification.uncertainty.prediction_file import load_prediction
from bam_core.servo.added import added_folder, added_names, added_path
from bam_core.servo.bench_effects_file import load_bench_effects
from bam_core.servo.model import Provenance, load_servo, servo_path
from test.core.exchange.bundle_cases import NAME, bundle, identified
from test.core.refusals import refused

Files = dict[str, bytes]


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return bundle(tmp_path)


def files(archive: Path) -> Files:
    with zipfile.ZipFile(archive) as entries:
        return {name: entries.read(name) for name in entries.namelist()}


def write(archive: Path, contents: Files) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as entries:
        for name, content in contents.items():
            entries.writestr(name, content)
    return archive


def nothing_is_added() -> bool:
    return not added_folder().exists() or not list(added_folder().iterdir())


def test_an_added_servo_is_that_of_the_author_with_draws_and_bench(archive: Path, tmp_path: Path) -> None:
    added = add_servo(str(archive))
    assert added.is_new
    assert added.path == added_path(NAME) == servo_path(NAME)
    assert added_names() == (NAME,)
    written = tmp_path / "m2.yaml"
    assert load_servo(NAME) == load_servo(written)
    prediction = load_prediction(added.path)
    assert prediction is not None
    assert prediction.ranges == load_prediction(written).ranges  # type: ignore[union-attr]
    assert load_bench_effects(NAME) == load_bench_effects(written)
    assert added.bundle.manifest.licence == "CC-BY-4.0"


def test_a_folder_of_the_same_files_is_the_same_bundle(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(archive) as entries:
        entries.extractall(folder)
    assert read_bundle(folder) == read_bundle(archive)
    assert add_servo(str(folder)).is_new
    assert not add_servo(str(archive)).is_new


def test_the_same_files_make_the_same_archive(archive: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    bundle_servo(tmp_path / "m2.yaml", again, licence="cc-by-4.0", data="https://example.org/runs")
    assert again.read_bytes() == archive.read_bytes()


def test_the_hash_of_the_archive_is_verified(archive: Path) -> None:
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    with refused(Malformed):
        add_servo(str(archive), sha256="0" * 64)
    with refused(WrongValue, thing="SHA-256"):
        add_servo(str(archive), sha256=digest[:-1])
    with refused(Conflict):
        add_servo(f"{archive.as_uri()}#sha256={digest}", sha256="0" * 64)
    assert nothing_is_added()
    assert add_servo(f"{archive.as_uri()}#sha256={digest.upper()}").is_new


def changed_servo(contents: Files) -> Files:
    name = f"{NAME}.yaml"
    return {**contents, name: contents[name].replace(b"resistance: 2.4", b"resistance: 2.5")}


def signed_anew(contents: Files, name: str, content: bytes) -> Files:
    """Change a file and its hash in the manifest."""
    old, new = (hashlib.sha256(data).hexdigest().encode() for data in (contents[name], content))
    return {**contents, name: content, MANIFEST: contents[MANIFEST].replace(old, new)}


def future_servo(contents: Files) -> Files:
    name = f"{NAME}.yaml"
    return signed_anew(contents, name, contents[name] + b"hysteresis: 1.0\n")


def servo_of_another_name(contents: Files) -> Files:
    name = f"{NAME}.yaml"
    return signed_anew(contents, name, contents[name].replace(b"name: my_servo", b"name: your_servo"))


def damaged_draws(contents: Files) -> Files:
    return signed_anew(contents, f"predictions/{NAME}.json", b"{}")


def manifest(old: str, new: str) -> Callable[[Files], Files]:
    def change(contents: Files) -> Files:
        assert old.encode() in contents[MANIFEST]
        return {**contents, MANIFEST: contents[MANIFEST].replace(old.encode(), new.encode())}

    return change


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (changed_servo, Malformed),
        (future_servo, Malformed),
        (servo_of_another_name, Malformed),
        (damaged_draws, Malformed),
        (lambda contents: {**contents, "../evil.py": b""}, Malformed),
        (lambda contents: {**contents, "setup.py": b""}, Malformed),
        (lambda contents: {name: contents[name] for name in contents if name != MANIFEST}, Malformed),
        (
            lambda contents: {name: contents[name] for name in contents if "predictions" not in name},
            Malformed,
        ),
        (lambda contents: {MANIFEST: b"\xff"}, Malformed),
        (lambda contents: {MANIFEST: b"- a list"}, Malformed),
        (lambda contents: {}, Malformed),
        (lambda contents: {**contents, f"{NAME}.yaml": b"0" * (LARGEST_FILE + 1)}, Malformed),
        (manifest("format: 1", "format: 2"), Unsupported),
        (manifest("servo: my_servo", "servo: ../my_servo"), WrongValue),
        (manifest("CC-BY-4.0", "do what you like"), WrongValue),
        (manifest("licence: CC-BY-4.0\n", ""), Missing),
        (manifest("predictions/my_servo.json", "../my_servo.json"), Malformed),
    ],
)
def test_a_changed_bundle_is_refused_and_nothing_is_added(
    archive: Path, change: Callable[[Files], Files], error: type[BamError]
) -> None:
    write(archive, change(files(archive)))
    with refused(error):
        add_servo(str(archive))
    assert nothing_is_added()


def test_an_entry_that_inflates_beyond_its_stated_size_is_refused(archive: Path) -> None:
    contents = files(archive)
    name = f"{NAME}.yaml"
    write(archive, {**contents, name: b"0" * 50_000_000})
    data = archive.read_bytes()
    archive.write_bytes(data.replace((50_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    with refused(Malformed):
        add_servo(str(archive))
    assert nothing_is_added()


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.zip").write_text("<html>")
    with refused(Malformed):
        add_servo(str(tmp_path / "page.zip"))
    with refused(Unreadable):
        add_servo(str(tmp_path / "none.zip"))
    with refused(Unreadable):  # a folder without a manifest
        add_servo(str(tmp_path))


def test_links_in_a_folder_are_refused(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(archive) as entries:
        entries.extractall(folder)
    real = folder / f"{NAME}.yaml"
    real.rename(tmp_path / "elsewhere.yaml")
    real.symlink_to(tmp_path / "elsewhere.yaml")
    with refused(Malformed, path=str(real)):
        add_servo(str(folder))


def test_no_servo_is_replaced(archive: Path, tmp_path: Path) -> None:
    add_servo(str(archive))
    before = added_path(NAME).read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    bundle_servo(identified(other, title="another"), other / "other.zip", licence="CC0-1.0")
    with refused(Conflict, thing=f"servo '{NAME}'"):
        add_servo(str(other / "other.zip"))
    assert added_path(NAME).read_bytes() == before
    library = tmp_path / "library"
    library.mkdir()
    bundle_servo(identified(library, name="mx106"), library / "mx106.zip", licence="CC0-1.0")
    with refused(Conflict, thing="servo 'mx106'"):
        add_servo(str(library / "mx106.zip"))


def test_a_folder_that_cannot_be_written_is_one_line(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with refused(NotWritable):
        add_servo(str(archive))


def test_only_a_complete_servo_becomes_a_bundle(tmp_path: Path) -> None:
    path = identified(tmp_path)
    output = tmp_path / "out.zip"
    with refused(WrongValue, thing="--licence"):
        bundle_servo(path, output, licence="mine")
    with refused(WrongValue, thing="--output"):
        bundle_servo(path, tmp_path / "out.tar", licence="CC-BY-4.0")
    (tmp_path / "predictions" / "m2.json").unlink()
    with refused(Missing):
        bundle_servo(path, output, licence="CC-BY-4.0")
    with refused(Missing):
        bundle_servo(identified(tmp_path, provenance=Provenance()), output, licence="CC-BY-4.0")
    assert not output.exists()
    output.write_text("something else")
    with refused(NotWritable):
        bundle_servo(identified(tmp_path), output, licence="CC-BY-4.0")
    assert output.read_text() == "something else"
