# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of a wheel, CycloneDX 1.6 in JSON: `python tools/sbom.py dist/NAME.whl` writes it.

It has what the wheel requires, and what these packages require, in the versions that are installed here:
those of `requirements/lock.txt`. The same wheel and the same versions give the same file.
"""

from __future__ import annotations

import hashlib
import sys
import uuid
import zipfile
from collections.abc import Iterable
from datetime import datetime, timezone
from email.message import Message
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

from cyclonedx.contrib.hash.factories import HashTypeFactory
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SUFFIX = ".cdx.json"
_UNNAMED = "see the package"  # licence of a package whose metadata names none


def bill_of_materials(wheel: Path) -> str:
    """Return the bill of a wheel as JSON.

    Raises:
        PackageNotFoundError: what it requires is not installed here.
    """
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (info for info in archive.infolist() if info.filename.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(entry).decode())
    own = _component(metadata, ComponentType.LIBRARY)
    own.hashes.add(HashTypeFactory().from_hashlib_alg("sha256", digest))
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"sha256:{digest}"))
    bom.metadata.timestamp = datetime(*entry.date_time, tzinfo=timezone.utc)
    bom.metadata.component = own
    components = {str(canonicalize_name(own.name)): own}
    required: dict[str, list[str]] = {}
    left = [(own, metadata.get_all("Requires-Dist") or [])]
    while left:
        component, lines = left.pop()
        names = required[component.name] = _required(lines)
        for name in names:
            if name not in components:
                package = distribution(name)
                components[name] = _component(package.metadata, ComponentType.LIBRARY)
                bom.components.add(components[name])
                left.append((components[name], package.requires or []))
    for component in components.values():
        bom.register_dependency(component, [components[name] for name in required[component.name]])
    return str(make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)) + "\n"


def _required(lines: Iterable[str]) -> list[str]:
    """Return the names that requirements mean on this Python, without those of extras."""
    requirements = map(Requirement, lines)
    wanted = (one for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""}))
    return sorted({str(canonicalize_name(one.name)) for one in wanted})


def _component(metadata: Message, kind: ComponentType) -> Component:
    name, version = metadata["Name"], metadata["Version"]
    url = PackageURL("pypi", name=str(canonicalize_name(name)), version=version)
    text = metadata.get("License-Expression") or (metadata.get("License") or "").strip().split("\n")[0]
    classifiers = metadata.get_all("Classifier") or []
    named = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License :: OSI")]
    licence = LicenseFactory().make_from_string(text or (named or [_UNNAMED])[0])
    return Component(name=name, version=version, type=kind, purl=url, bom_ref=str(url), licenses=[licence])


def main(wheels: list[str]) -> int:
    """Write the bill of each wheel beside it."""
    for wheel in map(Path, wheels):
        target = wheel.with_name(wheel.name + SUFFIX)
        target.write_text(bill_of_materials(wheel), encoding="utf-8")
        print(f"wrote {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
