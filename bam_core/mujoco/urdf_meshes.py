# SPDX-License-Identifier: Apache-2.0
"""Meshes of a URDF: found in packages, or left out where MuJoCo cannot read them.

Meshes that are only seen are no matter. Those of collisions are needed for contacts, and for inertia only
where a link has no `<inertial>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from bam_core.errors import Malformed
from bam_core.mujoco.model_files import POINTER
from bam_core.mujoco.packages import SEARCHED, package_file
from bam_core.mujoco.urdf_inertia import without_void_inertia
from bam_core.text.description_findings import UnusableMeshes

_URI = re.compile(r"^(package|model|file)://(.*)$")
_READABLE = (".stl", ".obj", ".msh")
_TRIANGLE, _HEADER = 50, 84  # bytes of a binary STL
_ADVICE = {
    "missing": f"give its package ({SEARCHED})",
    "lfs": "run 'git lfs pull' in its repository",
    "format": "convert it to a binary .stl",
}


def with_meshes(path: Path, text: str) -> tuple[str, list[UnusableMeshes]]:
    """Return a URDF whose collision meshes MuJoCo can read, and what had to be left out.

    Names of `package://`, `model://` and `file://` become paths. Collisions whose mesh is missing, a pointer
    of Git LFS, or in a format that MuJoCo does not read are removed.

    Args:
        path: of the URDF.
        text: its content.

    Raises:
        Malformed: such a link has no `<inertial>`, so that its mesh would have to give its inertia.
    """
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):
        return text, []  # MuJoCo reports it
    compiler = root.find("mujoco/compiler")
    options = {} if compiler is None else compiler.attrib
    folder = options.get("meshdir", options.get("assetdir", ""))
    strips = options.get("strippath") == "true"
    children = {joint.get("link", "") for joint in root.iterfind("joint/child")}
    changed = without_void_inertia(root)
    unusable: dict[str, list[tuple[str, str]]] = {}
    shows = options.get("discardvisual") == "false"
    for link, collision, mesh in _meshes(root, ("collision", "visual") if shows else ("collision",)):
        name = mesh.get("filename", "")
        place = _place(name, path, folder, strips=strips)
        problem = _problem(place)
        if not problem:
            is_elsewhere = not _is_direct(name, path, folder, strips=strips)
            if is_elsewhere or strips:
                mesh.set("filename", str(place))
            changed = changed or is_elsewhere
            continue
        if link.find("inertial") is None and link.get("name") in children:
            raise Malformed(
                path,
                f"{name} {UnusableMeshes.WHY[problem]}, and link '{link.get('name')}' has no <inertial>",
                expected="its mesh or its inertia",
                advice=_ADVICE[problem],
            )
        link.remove(collision)
        unusable.setdefault(problem, []).append((name, link.get("name", "")))
        changed = True
    if not changed:
        return text, []
    if strips and compiler is not None:  # MuJoCo would take the folders off
        compiler.set("strippath", "false")
    findings = [
        UnusableMeshes(
            kind=kind,
            file=str(path),
            meshes=tuple(dict.fromkeys(name for name, _ in meshes)),
            links=tuple(dict.fromkeys(link for _, link in meshes)),
        )
        for kind, meshes in unusable.items()
    ]
    return ElementTree.tostring(root, encoding="unicode"), findings


def _meshes(
    root: ElementTree.Element, kinds: Sequence[str]
) -> Iterator[tuple[ElementTree.Element, ElementTree.Element, ElementTree.Element]]:
    """Give link, collision or visual, and mesh."""
    for link in root.iterfind("link"):
        for shape in [shape for kind in kinds for shape in link.iterfind(kind)]:
            mesh = shape.find("geometry/mesh")
            if mesh is not None:
                yield link, shape, mesh


def _place(name: str, path: Path, folder: str, *, strips: bool) -> Path | None:
    """Return where a mesh lies; None: nowhere."""
    match = _URI.match(name.replace("\\", "/"))
    if match is not None and match[1] == "file":
        place = Path("/" + match[2].lstrip("/"))
        return place if place.is_file() else None
    if match is not None:
        package, _, rest = match[2].lstrip("/").partition("/")
        if ".." in (package, *rest.split("/")):
            return None
        if (inside := package_file(package, rest, path)) is not None:
            return inside
        name = match[2].lstrip("/")
    # MuJoCo took folders off unless told otherwise, up to version 3: some URDFs count on it.
    names = [name.rsplit("/", 1)[-1]] if strips else [name, name.rsplit("/", 1)[-1]]
    places = (path.absolute().parent / folder / name for name in names)
    return next((place for place in places if place.is_file()), None)


def _is_direct(name: str, path: Path, folder: str, *, strips: bool) -> bool:
    """Return whether MuJoCo itself finds a mesh."""
    if _URI.match(name):
        return False
    return (path.absolute().parent / folder / (name.rsplit("/", 1)[-1] if strips else name)).is_file()


def _problem(place: Path | None) -> str:
    """Return why MuJoCo cannot read a mesh, as a kind of `UnusableMeshes`; empty: it may."""
    if place is None:
        return "missing"
    size = place.stat().st_size
    with place.open("rb") as file:
        beginning = file.read(_HEADER)
    if beginning.startswith(POINTER):
        return "lfs"
    if place.suffix.lower() not in _READABLE:
        return "format"
    if place.suffix.lower() == ".stl":
        count = int.from_bytes(beginning[80:_HEADER], "little")
        is_text = beginning.lstrip().startswith(b"solid") and size != _HEADER + _TRIANGLE * count
        return "format" if is_text else ""
    return ""
