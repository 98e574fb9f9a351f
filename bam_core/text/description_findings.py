# SPDX-License-Identifier: Apache-2.0
"""Findings about a robot's description: contacts and meshes that are left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from bam_core.text.finding import Finding, count, listed


@dataclass(frozen=True, kw_only=True)
class StartContacts(Finding):
    """Links whose contacts are not simulated, as they touch where the robot starts or was measured.

    Attributes:
        robot: its name.
        pairs: names of two links each; empty: geoms of the world.
        depth: by which they overlap at most, m.
    """

    kind: str = field(default="start_contacts", init=False)
    robot: str
    pairs: tuple[tuple[str, str], ...]
    depth: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, why, and how to simulate them."""
        named = [[link or "the world's geoms" for link in pair] for pair in self.pairs]
        pairs = listed([" and ".join(pair) for pair in named], most=8)
        return (
            f"{self.robot or 'robot'}: contacts of {pairs} are not simulated.",
            f"They {self._meeting} where the robot starts or was measured.",
            "To simulate them, set start_contacts (--start-contacts).",
        )

    @property
    def _meeting(self) -> str:
        """How they meet; below a micrometre it is rounding."""
        return "touch" if self.depth < 1e-6 else f"overlap by up to {1e3 * self.depth:.3g} mm"


@dataclass(frozen=True, kw_only=True)
class SeveralActuators(Finding):
    """Joints that several actuators of the description drive, in whose place comes one servo.

    Attributes:
        joints: their names.
    """

    kind: str = field(default="several_actuators", init=False)
    joints: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, what was done, and what to do where there are two motors."""
        return (
            f"{listed(self.joints, most=5)}: several equal actuators drive one joint.",
            "One servo takes their place.",
            "Where two servos drive it, use one of two motors: bam servos new --from NAME --motors 2.",
        )


@dataclass(frozen=True, kw_only=True)
class UnusableMeshes(Finding):
    """Collision meshes of a URDF that are left out.

    Attributes:
        kind: "missing", "lfs" (pointers of Git LFS) or "format" (that MuJoCo does not read).
        file: the URDF.
        meshes: their names there.
        links: that have them.
    """

    WHY: ClassVar = {
        "missing": "is not there",
        "lfs": "is only a pointer of Git LFS",
        "format": "is in a format that MuJoCo does not read (binary .stl, .obj, .msh)",
    }
    file: str
    meshes: tuple[str, ...]
    links: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, what follows, and what to do."""
        first, more = self.meshes[0], len(self.meshes) - 1
        beside = f", like {count(more, 'more mesh')}".replace("meshs", "meshes") if more else ""
        return (
            f"{self.file}: {first} {self.WHY[self.kind]}{beside}.",
            f"Contacts of {listed(self.links, most=5)} are not simulated.",
            {
                "missing": "Packages are found above and beside the file, and by AMENT_PREFIX_PATH,"
                " ROS_PACKAGE_PATH or BAM_MODEL_FOLDER.",
                "lfs": "Run 'git lfs pull' in the repository for them.",
                "format": "Convert them to binary .stl for contacts.",
            }[self.kind],
        )


@dataclass(frozen=True, kw_only=True)
class MissingAssets(Finding):
    """Elements of an MJCF description that are left out, as their files are not there.

    Attributes:
        kind: "missing_assets", or "asset_pointers" where some are pointers of Git LFS.
        file: the description.
        element: "texture", "skin", "height field" or "mesh".
        files: their names there.
        links: bodies that lose contacts.
    """

    WHY: ClassVar = {False: "is not there", True: "is only a pointer of Git LFS"}
    file: str
    element: str
    files: tuple[str, ...]
    links: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, what follows, and what to do."""
        is_pointer = self.kind == "asset_pointers"
        beside = f", like {count(len(self.files) - 1, 'more file')}" if len(self.files) > 1 else ""
        lines = [
            f"{self.file}: {self.element} {self.files[0]} {self.WHY[is_pointer]}{beside}.",
            "It is left out.",
        ]
        if self.links:
            lines.append(f"Contacts of {listed(self.links, most=5)} are not simulated.")
        if is_pointer:
            lines.append("Run 'git lfs pull' in the repository for them.")
        return tuple(lines)


@dataclass(frozen=True, kw_only=True)
class OtherGravity(Finding):
    """Gravity of a description that is not that of a robot which stands on the ground.

    Attributes:
        kind: "other_gravity", or "compensated" where bodies have `gravcomp`.
        robot: its name.
        gravity: m/s².
        bodies: that float; one without a name is empty.
    """

    kind: str = "other_gravity"
    robot: str
    gravity: tuple[float, ...] = ()
    bodies: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it is, what follows, and what to do."""
        if self.kind == "compensated":
            bodies = listed([body or "one without a name" for body in self.bodies], most=5)
            return (
                f"{self.robot or 'robot'}: gravity does not act on {bodies} (gravcomp).",
                "Servos carry no such load in simulations.",
                "Remove gravcomp where nothing else carries it.",
            )
        words = " ".join(f"{part:g}" for part in self.gravity)
        return (
            f"{self.robot or 'robot'}: gravity is {words} m/s² in the description.",
            "Loads of servos follow from it.",
            "Correct it where the robot stands upright on the ground.",
        )


@dataclass(frozen=True, kw_only=True)
class ForeignActuators(Finding):
    """Actuators that move joints with servos by a tendon.

    Attributes:
        robot: its name.
        actuators: their names.
        joints: that they move.
    """

    kind: str = field(default="foreign_actuators", init=False)
    robot: str
    actuators: tuple[str, ...]
    joints: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, what follows, and what to do."""
        return (
            f"{self.robot or 'robot'}: {listed(self.actuators)} also moves {listed(self.joints, most=5)}.",
            "It acts on a tendon, beside the servos, and no recording commands it.",
            "Remove it from the description where servos replace it.",
        )


@dataclass(frozen=True, kw_only=True)
class GoalsBeyondRange(Finding):
    """Goals of a motion that a joint cannot reach.

    Attributes:
        file: of the motion.
        joint: name.
        goal: that is furthest beyond the range, rad.
        low: end of the range, rad.
        high: other end of the range, rad.
    """

    kind: str = field(default="goals_beyond_range", init=False)
    file: str
    joint: str
    goal: float
    low: float
    high: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which goal, what the joint does, and what to look at."""
        return (
            f"{self.file}: goals of {self.joint} reach {self.goal:.3g} rad.",
            f"Its range is {self.low:.3g} to {self.high:.3g} rad, and its servo stops at the end.",
            "Give goals in rad.",
        )
