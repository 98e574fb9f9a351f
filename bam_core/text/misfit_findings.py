# SPDX-License-Identifier: Apache-2.0
"""Findings about errors that a fitted model leaves, and the physics that would explain them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Literal

from bam_core.text.finding import Finding, mrad, percent

UNKNOWN = "unknown"
"""Kind of a misfit that no cause explains."""

FAILED = "failed_search"
"""Kind of a misfit without a usable fit: it is no better than a prediction without a model."""

LEAST_SHARE = 0.2
"""Share of the misfit that a cause must explain to be named."""

CAUSES = {
    "dead_band": "a dead band of the controller",
    "goal_slew": "a speed limit of the goal inside the servo",
    "command_delay": "a delay from command to effect",
    "gain_curve": "a controller gain that depends on the error",
    "torque_saturation": "torque saturation at high current",
    "sensor_delay": "a delay of the position that the controller uses",
    "bridge_coasting": "coasting of the bridge between pulses",
    "current_law": "a demand that is a current, so that no back-EMF acts",
    "winding_heating": "torque loss while the winding warms",
    "limit_shortfall": "a duty or current limit below the nominal one",
    "flexible_joint": "flexibility between encoder and arm",
    "backlash": "backlash between encoder and arm",
    "load_gyration": "the rotational inertia of the load itself",
    "zero_offset": "an offset of the position's zero",
    "load_header": "another mass or length than the header's",
    "gain_header": "another position gain than the header's",
    "direction_asymmetry": "friction that depends on the direction of motion",
    "torque_ripple": "torque ripple over the output angle (cogging, gear mesh)",
    "friction_over_angle": "friction that depends on the output angle",
    "presliding": "presliding displacement after a reversal (LuGre)",
    "friction_drift": "friction that drifts during a run",
    "friction_temperature": "friction that decreases with temperature",
    "friction_over_velocity": "another dependence of friction on velocity",
    "load_inertia": "friction due to the torque that accelerates the load",
    "friction_over_load": "another dependence of friction on load",
}
"""Kind of a cause -> what the model lacks."""

_FORMS = {
    "dead_band subtracted": "{:.3g} mrad, subtracted from the error",
    "dead_band no_output": "{:.3g} mrad, without output inside",
    "goal_slew": "{:g} rad/s",
    "command_delay": "{:g} ms",
    "gain_curve proportional": "in proportion to the error",
    "gain_curve below": "below {:g} mrad",
    "flexible_joint": "{:.2g} rad/(N·m)",
    "backlash": "{:g} mrad",
    "load_header": "{}",
    "gain_header": "{}",
    "direction_asymmetry torque": "the same torque at all loads",
    "direction_asymmetry friction": "in proportion to friction",
    "direction_asymmetry velocity": "also over velocity",
    "torque_ripple": "{:g} per turn",
    "friction_over_angle": "{:g} per turn",
    "presliding": "{:g} mrad",
    "friction_drift linear": "linear",
    "friction_drift": "within {:g} s",
    "friction_over_velocity square": "with its square",
    "friction_over_velocity": "fading over {:g} rad/s",
    "friction_over_load motor": "motor torque",
    "friction_over_load load": "load",
    "friction_over_load motor_square": "motor torque squared",
    "friction_over_load load_square": "load squared",
    "friction_over_load motor_lifting": "motor torque when lifting",
    "friction_over_load load_lifting": "load when lifting",
}
"""Kind and shape -> a form of the cause."""

_SCALES = {"dead_band": 1e3, "command_delay": 1e3, "gain_curve": 1e3, "backlash": 1e3, "presliding": 1e3}
"""Kind -> factor from SI units to those of its words."""

_REMEDIES = {
    "dead_band": ("Give the servo a firmware with dead_band (see firmwares.yaml).",),
    "current_law": ("Give the servo a firmware with law: current (see firmwares.yaml).",),
    "gain_curve": ("Give the servo a firmware with dead_band or error_offset (see firmwares.yaml).",),
    "load_header": ("Check mass, arm_mass and length, or inertia, in the headers of these logs.",),
    "gain_header": ("Check kp in the headers of these logs, or fit firmware_gain.",),
    "friction_drift": ("Let the servo warm up before a session.", "No effect of this suite describes it."),
    "friction_over_velocity": ("Fit the models with a Stribeck term (M2, M4 to M6).",),
    "friction_over_load": ("Fit the models with load terms (M3 to M6).",),
}
"""Kind of a cause without an effect -> what to do."""

_NONE = ("No effect of this suite describes it.", "A further recording will not help.")

_BASELINES = {"at_goal": "an arm that is always at its goal", "at_rest": "an arm that does not move"}
"""Kind of a prediction without a model -> what it is."""

_SOURCES = {
    "repeated_runs": "scatter of repeated runs",
    "simulation_steps": "time step of the simulation",
    "measurement": "encoder and timing of the samples",
}
"""Kind of a floor -> what it is made of."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """One form of a cause.

    Attributes:
        shape: short name, where a cause has forms of several.
        value: its size in SI units, or the header of the logs that it is about; None where it has none.
    """

    shape: str = ""
    value: float | str | None = None


@dataclass(frozen=True, kw_only=True)
class MisfitFinding(Finding):
    """One explanation of the error of a fit.

    Attributes:
        share: of the misfit that it explains in held-out data; 0 where nothing is named.
        effects: of `servo.effects.EFFECTS` that describe it.
    """

    share: float = 0.0
    effects: tuple[str, ...] = ()

    @property
    @abstractmethod
    def evidence(self) -> tuple[str, ...]:
        """Sentences with its figures."""

    @property
    @abstractmethod
    def suggestion(self) -> tuple[str, ...]:
        """Sentences about what to do."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Evidence, then suggestion."""
        return (*self.evidence, *self.suggestion)

    def summary(self) -> dict[str, Any]:
        """Return its entry in ``summary.json``."""
        return super().summary() | {
            "evidence": " ".join(self.evidence),
            "suggestion": " ".join(self.suggestion),
        }


@dataclass(frozen=True, kw_only=True)
class MissingPhysics(MisfitFinding):
    """Physics, or a header's correction, that the model lacks.

    Attributes:
        forms: that explain most.
        changes: by how much headers are off, a share for each form; empty where it is no header.
        share_error: standard error of the share.
        torque: that it adds, N·m root mean square.
        residual_torque: that it is a part of, N·m root mean square.
        is_modelled: the friction model has such a term, and this is beyond it.
    """

    forms: tuple[Form, ...] = ()
    changes: tuple[float, ...] = ()
    share_error: float
    torque: float
    residual_torque: float
    is_modelled: bool = False

    @property
    def evidence(self) -> tuple[str, ...]:
        """What is lacking, its form, how much it explains."""
        forms = ", ".join(filter(None, (self._form_words(form) for form in self.forms)))
        changes = ", ".join(f"{100.0 * change:+.0f} %" for change in self.changes)
        form = ": ".join(filter(None, (forms, changes)))
        return (
            f"The model lacks {CAUSES[self.kind]}.",
            *((f"Best form: {form}.",) if form else ()),
            f"It explains {percent(min(self.share, 1.0))} ± {percent(self.share_error)} of the residual "
            "torque in held-out data.",
            f"Its torque is {self.torque:.2g} N·m RMS, "
            f"the residual torque {self.residual_torque:.2g} N·m RMS.",
        )

    @property
    def suggestion(self) -> tuple[str, ...]:
        """The effect that describes it, else the remedy, else that there is none."""
        if self.effects:
            return (f"Fit the effect {' or '.join(self.effects)}.",)
        return _NONE if self.is_modelled else _REMEDIES.get(self.kind, _NONE)

    def _form_words(self, form: Form) -> str:
        words = _FORMS.get(f"{self.kind} {form.shape}".strip(), "")
        value = form.value
        return words.format(value * _SCALES.get(self.kind, 1.0) if isinstance(value, float) else value)


@dataclass(frozen=True, kw_only=True)
class SearchFailed(MisfitFinding):
    """A fit that is no better than a prediction without a model.

    Attributes:
        baseline: which one, of "at_goal" and "at_rest".
        baseline_error: mean absolute position error of it, rad.
    """

    kind: str = field(default=FAILED, init=False)
    baseline: Literal["at_goal", "at_rest"]
    baseline_error: float

    @property
    def evidence(self) -> tuple[str, ...]:
        """What it was compared with, and what follows."""
        return (
            f"The search has failed: its fit is no better than {_BASELINES[self.baseline]} "
            f"({mrad(self.baseline_error)}).",
            "Its parameters mean nothing, so missing physics was not looked for.",
        )

    @property
    def suggestion(self) -> tuple[str, ...]:
        """More trials, then the inputs."""
        return (
            "Give more --trials.",
            "The default is enough for most servos.",
            "If that does not help, check the servo file, and kp, supply and loads of the logs.",
        )


@dataclass(frozen=True, kw_only=True)
class LogsTooShort(MisfitFinding):
    """A misfit in logs that are too short to find its cause."""

    kind: str = field(default=UNKNOWN, init=False)

    @property
    def evidence(self) -> tuple[str, ...]:
        """What is known."""
        return ("The model lacks something, and all logs are too short to find the cause.",)

    @property
    def suggestion(self) -> tuple[str, ...]:
        """Longer logs."""
        return ("Record runs of a few seconds.",)


@dataclass(frozen=True, kw_only=True)
class UnexplainedMisfit(MisfitFinding):
    """A misfit of which no cause explains enough.

    Attributes:
        candidates: number of causes that were tried.
        nearest: kind of the one that explains most.
        nearest_share: that it explains in held-out data.
        nearest_error: standard error of it, from one part of the data to another.
        obstacle: why it is not named: "too_small", "by_chance", or "inconsistent" over the data.
        noise_share: of the residual torque, that is noise of the measurement.
        is_noise_bounded: the noise may be more than that.
        worst: the logs with the largest errors: name and error, rad.
    """

    kind: str = field(default=UNKNOWN, init=False)
    candidates: int
    nearest: str
    nearest_share: float
    nearest_error: float
    obstacle: Literal["too_small", "by_chance", "inconsistent"]
    noise_share: float
    is_noise_bounded: bool
    worst: tuple[tuple[str, float], ...]

    @property
    def evidence(self) -> tuple[str, ...]:
        """The best candidate, and why it is not enough."""
        obstacle = {
            "too_small": f"{percent(LEAST_SHARE)} needed",
            "by_chance": f"± {percent(self.nearest_error)}: it may be chance",
            "inconsistent": "but no form of it holds over all data",
        }[self.obstacle]
        more = " or more" if self.is_noise_bounded else ""
        return (
            f"No known cause: the best of {self.candidates} candidates explains "
            f"{percent(self.nearest_share)} ({obstacle}).",
            f"It is {CAUSES[self.nearest]}.",
            f"{percent(self.noise_share)}{more} of the residual torque is measurement noise.",
        )

    @property
    def suggestion(self) -> tuple[str, ...]:
        """Which runs to look at."""
        runs = " and ".join(f"{name} ({mrad(error)})" for name, error in self.worst)
        return (
            f"Look at the runs with the largest errors: {runs}.",
            "Expect such errors in other runs, too.",
        )


@dataclass(frozen=True, kw_only=True)
class ErrorFloor(Finding):
    """A training error beside the error that measurement alone leaves.

    Attributes:
        kind: what the floor is made of: "repeated_runs", "simulation_steps" or "measurement".
        error: mean absolute position error of the training logs, rad.
        floor: below which no model can be by much, rad.
        repeats: of repeated runs about each other, rad, if they differ far more than the fit's error; None
            otherwise.
        differing: names of the two repeated runs that differ most; empty where repeats is None.
    """

    error: float
    floor: float
    repeats: float | None = None
    differing: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """What the floor is made of, in words."""
        return _SOURCES[self.kind]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both errors, and repeated runs that do not fit."""
        first = f"Training error {mrad(self.error)}, floor {mrad(self.floor)} ({self.source})."
        if self.repeats is None:
            return (first,)
        return (
            first,
            f"Repeated runs differ by {mrad(self.repeats)}, far more than the error of the fit.",
            f"One may be damaged: compare {' and '.join(self.differing)}.",
        )


def no_misfit_words() -> str:
    """Return the sentence of a fit at its floor."""
    return "No misfit found."
