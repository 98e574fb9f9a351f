# SPDX-License-Identifier: Apache-2.0
"""Files of an MJCF description that are not there: left out where the motion does not need them.

Textures and skins are only seen. Height fields and meshes are needed for contacts, and a mesh for inertia
where its body has no `<inertial>`. Geoms keep their places and names, as small spheres that touch nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import mujoco

from bam_core.errors import Malformed
from bam_core.mujoco.model_files import POINTER
from bam_core.text.description_findings import MissingAssets

_POINT = 1e-5  # m, radius of what stands for a geom
_KINDS = {"texture": "textures", "skin": "skins", "height field": "hfields", "mesh": "meshes"}
_ADVICE = {
    False: "put this file there, or give the body its <inertial>",
    True: "run 'git lfs pull' in its repository",
}


def leave_out_missing(path: Path, spec: mujoco.MjSpec) -> list[MissingAssets]:
    """Remove elements whose files are missing, or pointers of Git LFS, from a description, in place.

    Args:
        path: of the description.
        spec: as MuJoCo read it.

    Returns:
        A finding per kind of element.

    Raises:
        Malformed: a mesh that is not there would have to give the inertia of its body.
    """
    findings = []
    for kind, attribute in _KINDS.items():
        lacking = [element for element in getattr(spec, attribute) if _missing(path, spec, element)]
        if not lacking:
            continue
        files = dict.fromkeys(name for element in lacking for name in _missing(path, spec, element))
        names = {_name(element) for element in lacking}
        links: tuple[str, ...] = ()
        if kind == "texture":
            for material in spec.materials:
                material.textures = ["" if name in names else name for name in material.textures]
        elif kind == "height field":
            links = _as_points(spec, "hfieldname", names)
        elif kind == "mesh":
            _require_inertia(path, spec, {_name(mesh): mesh for mesh in lacking})
            links = _as_points(spec, "meshname", names)
        for element in lacking:
            spec.delete(element)
        is_pointer_only = any(_is_pointer(path, spec, element) for element in lacking)
        findings.append(
            MissingAssets(
                kind="asset_pointers" if is_pointer_only else "missing_assets",
                file=str(path),
                element=kind,
                files=tuple(files),
                links=links,
            )
        )
    return findings


def _files(element: Any) -> Iterator[str]:
    yield from filter(None, (element.file, *getattr(element, "cubefiles", ())))


def _missing(path: Path, spec: mujoco.MjSpec, element: Any) -> list[str]:
    """Return files of an element that are at none of the places where MuJoCo may look, or are pointers."""
    return [
        name
        for name in _files(element)
        if not any(place.is_file() and not is_pointer(place) for place in _places(path, spec, element, name))
    ]


def _places(path: Path, spec: mujoco.MjSpec, element: Any, name: str) -> Iterator[Path]:
    text = name.replace("\\", "/")
    for folder in dict.fromkeys(("", element.compiler.meshdir, element.compiler.texturedir)):
        yield path.absolute().parent / folder / text
        if spec.strippath:
            yield path.absolute().parent / folder / _base(text)


def is_pointer(place: Path) -> bool:
    """Return whether a file is one that Git LFS has not fetched."""
    with place.open("rb") as file:
        return file.read(len(POINTER)) == POINTER


def _is_pointer(path: Path, spec: mujoco.MjSpec, element: Any) -> bool:
    return any(
        place.is_file() and is_pointer(place)
        for name in _files(element)
        for place in _places(path, spec, element, name)
    )


def _name(element: Any) -> str:
    """Return the name by which others refer to an element: that of its file where it has none."""
    return str(element.name) or _base(element.file.replace("\\", "/")).rsplit(".", 1)[0]


def _base(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _as_points(spec: mujoco.MjSpec, attribute: str, names: set[str]) -> tuple[str, ...]:
    """Make small spheres without mass and contacts of geoms, and return the bodies that lose contacts."""
    links = []
    for body in spec.bodies:
        for geom in body.geoms:
            if getattr(geom, attribute) not in names:
                continue
            if geom.contype or geom.conaffinity:
                links.append(body.name or "a body without a name")
            geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
            setattr(geom, attribute, "")
            geom.size = [_POINT, 0.0, 0.0]
            geom.mass = geom.density = 0.0
            geom.contype = geom.conaffinity = 0
    return tuple(dict.fromkeys(links))


def _require_inertia(path: Path, spec: mujoco.MjSpec, lacking: Mapping[str, Any]) -> None:
    """Refuse meshes, by name, that would have to give the inertia of a body; raises Malformed."""
    low, high = spec.compiler.inertiagrouprange
    is_forced = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    for body in spec.bodies:
        if (body.explicitinertial and not is_forced) or body == spec.worldbody:
            continue
        for geom in body.geoms:
            has_mass = low <= geom.group <= high and geom.mass != 0.0 and geom.density != 0.0
            if geom.meshname not in lacking or not has_mass:
                continue
            mesh = lacking[geom.meshname]
            pointer = _is_pointer(path, spec, mesh)
            raise Malformed(
                path,
                f"{mesh.file} {MissingAssets.WHY[pointer]}, and body '{body.name}' has no <inertial>",
                expected="its mesh or its inertia",
                advice=_ADVICE[pointer],
            )
