# SPDX-License-Identifier: Apache-2.0
"""Findings about a whole robot's joint log: contacts that cannot be right, and samples that are not used."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, count, percent


@dataclass(frozen=True, kw_only=True)
class ContactMismatch(Finding):
    """A contact flag that motion or torques contradict.

    Attributes:
        kind: "nothing_stands"; "standing_moves" (two standing feet move against each other); "swinging_rests"
            (a swinging foot lies still on the ground); "other_stands" (torques are those of standing on
            another foot); "other_motion" (efforts are not those of this motion).
        contacts: the contradicted one first, then the one that it is compared with.
        speed: against the standing foot, m/s; None where it does not count.
        height: above the ground, m; likewise.
        unexplained: norm of the torques that only friction would explain, N·m; likewise.
        compared: the same norm with the other foot, or that of the measured torques, N·m; likewise.
        span: first and last time in the log, s; None of a single sample.
    """

    contacts: tuple[str, ...] = ()
    speed: float | None = None
    height: float | None = None
    unexplained: float | None = None
    compared: float | None = None
    span: tuple[float, float] | None = None

    @property
    def statement(self) -> str:
        """What is contradicted, without a figure: the same for all samples alike."""
        first = self.contacts[0] if self.contacts else ""
        last = self.contacts[-1] if self.contacts else ""
        return {
            "nothing_stands": "No contact stands, so the base is unknown.",
            "standing_moves": f"'{first}' and '{last}' stand by their flags, but have a relative speed.",
            "swinging_rests": f"'{first}' swings by its flag, but rests on the ground.",
            "other_stands": f"'{first}' stands by its flag, but torques are those of standing on '{last}'.",
            "other_motion": f"Efforts are not those of this motion on {' and '.join(self.contacts)}.",
        }[self.kind]

    @property
    def cure(self) -> str:
        """What to do."""
        if self.kind == "other_motion":
            return "Check unit and sign of efforts and positions, the flags and the model."
        return "Check the flags."

    @property
    def sentences(self) -> tuple[str, ...]:
        """When, what is contradicted, the figures, and what to do."""
        when = () if self.span is None else (f"Contacts from {self.span[0]:.3f} to {self.span[1]:.3f} s:",)
        return (" ".join((*when, self.statement)), *self._figures(), self.cure)

    def _figures(self) -> tuple[str, ...]:
        speed, height = self.speed or 0.0, 1e3 * (self.height or 0.0)
        unexplained, compared = self.unexplained or 0.0, self.compared or 0.0
        return {
            "nothing_stands": (),
            "standing_moves": (f"It is {speed:.2f} m/s.",),
            "swinging_rests": (f"It is {height:.1f} mm above the ground, at {speed:.3f} m/s.",),
            "other_stands": (
                f"Unexplained torque: {unexplained:.1f} N·m, {compared:.1f} N·m with the other foot.",
            ),
            "other_motion": (
                f"Friction of {unexplained:.1f} N·m would be needed, and {compared:.1f} N·m are measured.",
            ),
        }[self.kind]


@dataclass(frozen=True, kw_only=True)
class UnevenSamples(Finding):
    """Samples whose distances in time differ; `unevenness` is their deviation over the period, RMS."""

    kind: str = field(default="uneven_samples", init=False)
    unevenness: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """By how much, and what follows."""
        return (
            f"Joint log: sample times deviate by {percent(self.unevenness)} of the period (RMS).",
            "They are treated as equally spaced.",
            "If the times are right, the friction is wrong.",
        )


@dataclass(frozen=True, kw_only=True)
class LostSamples(Finding):
    """Samples that are missing in a log.

    Attributes:
        lost: number of samples.
        gaps: number of gaps.
    """

    kind: str = field(default="lost_samples", init=False)
    lost: int
    gaps: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many, and what is not used."""
        return (
            f"Joint log: {count(self.lost, 'sample')} missing in {count(self.gaps, 'gap')}.",
            "Samples within a filter's window of a gap are not used.",
        )


@dataclass(frozen=True, kw_only=True)
class ConstantEffort(Finding):
    """An effort that never changes.

    Attributes:
        joint: name.
        effort: N·m.
    """

    kind: str = field(default="constant_effort", init=False)
    joint: str
    effort: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Of which joint, and what to check."""
        return (
            f"Joint log: the effort of '{self.joint}' is {self.effort:g} N·m throughout.",
            "Check that it is measured.",
        )


@dataclass(frozen=True, kw_only=True)
class RankDeficit(Finding):
    """Contacts with which accelerations do not determine all friction torques.

    Attributes:
        contacts: that stand; none of a fixed base.
        rank: of the inverse modified mass matrix.
        joints: number of friction torques.
        unidentifiable: joints whose torque is not determined.
        samples: number of samples with these contacts.
        is_left_out: these samples are not used; otherwise the torques of these joints are no number.
    """

    kind: str = field(default="rank_deficit", init=False)
    contacts: tuple[str, ...]
    rank: int
    joints: int
    unidentifiable: tuple[str, ...]
    samples: int = 1
    is_left_out: bool = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rank, the joints, and what is not used."""
        feet = " and ".join(self.contacts) or "a fixed base"
        names = self.unidentifiable if len(self.unidentifiable) <= 12 else self.unidentifiable[:12]
        more = f" and {len(self.unidentifiable) - 12} more" if len(self.unidentifiable) > 12 else ""
        return (
            f"On {feet}, accelerations determine {self.rank} of {self.joints} friction torques.",
            f"Not identifiable: {', '.join(names)}{more}.",
            *((f"{count(self.samples, 'sample')} not used.",) if self.is_left_out else ()),
        )
