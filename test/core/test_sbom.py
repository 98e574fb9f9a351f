# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of a wheel names all that it requires, and is the same for the same wheel."""

from __future__ import annotations

import hashlib
import json
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import sbom  # isort: skip

METADATA = """Metadata-Version: 2.4
Name: some_wheel
Version: 1.2.3
License-Expression: Apache-2.0
Requires-Dist: Jinja2>=3.1
Requires-Dist: {more}
"""


def wheel(directory: Path, more: str = 'numpy; extra == "arrays"') -> Path:
    """Write a wheel that is nothing but its metadata."""
    path = directory / "some_wheel-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        entry = zipfile.ZipInfo("some_wheel-1.2.3.dist-info/METADATA", (2026, 11, 1, 12, 0, 0))
        archive.writestr(entry, METADATA.format(more=more))
    return path


def test_a_bill_has_what_is_required_directly_and_not_but_no_extras(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    bill = json.loads(sbom.bill_of_materials(path))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    own = bill["metadata"]["component"]
    assert (own["name"], own["version"], own["licenses"][0]["license"]["id"]) == (
        "some_wheel",
        "1.2.3",
        "Apache-2.0",
    )
    assert own["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}]
    jinja, markup = (f"pkg:pypi/{name}@{version(name)}" for name in ("jinja2", "markupsafe"))
    assert {part["purl"] for part in bill["components"]} == {jinja, markup}
    assert all(part["licenses"] for part in bill["components"])
    assert {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]} == {
        "pkg:pypi/some-wheel@1.2.3": [jinja],
        jinja: [markup],
        markup: [],
    }


def test_the_same_wheel_has_the_same_bill_and_another_one_another(tmp_path: Path) -> None:
    first = sbom.bill_of_materials(wheel(tmp_path))
    assert sbom.bill_of_materials(wheel(tmp_path)) == first
    other = json.loads(sbom.bill_of_materials(wheel(tmp_path, "tqdm")))
    assert other["serialNumber"] != json.loads(first)["serialNumber"]
    assert json.loads(first)["metadata"]["timestamp"] == "2026-11-01T12:00:00+00:00"


def test_the_bill_is_written_beside_the_wheel_and_a_package_that_is_missing_is_named(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    assert sbom.main([str(path)]) == 0
    assert (tmp_path / (path.name + sbom.SUFFIX)).read_text(encoding="utf-8") == sbom.bill_of_materials(path)
    with pytest.raises(PackageNotFoundError, match=r"such.package.of.mine"):
        sbom.bill_of_materials(wheel(tmp_path, "no_such_package_of_mine"))
