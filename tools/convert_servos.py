# SPDX-License-Identifier: Apache-2.0
"""Convert servos as others published them to the integrator of this package; write the library's files.

BAM's authors fitted their parameters with an integrator and a step of 5 ms whose errors the parameters carry:
simulated by anything else, such a servo moves otherwise. Here every published servo follows the four scripts
with the loads and gains of its authors' recordings, simulated with their integrator and step, and motor and
friction are fitted so that this package's own integrator gives the same motions. What remains is measured on
loads and gains in between, which took no part in the fit, and noted in the provenance.

No constant parameters make one integrator from the other. With v̇ = f(goal, position, velocity), a step of
`semi_implicit` of length h moves as v̇(t) = f(goal(t + h), position(t + h/2), velocity(t - h/2)) to first
order in h. An early position damps: gravity and the controller by h/2 times their stiffness. A late velocity
takes inertia off: h/2 times the back-EMF's damping while torque is on, nothing while it is off. An early goal
leads, which no servo can do in real time. In BAM's program a step's goal is that of its start, here the
firmware takes a new one in every period.

    .venv/bin/python tools/convert_servos.py           shows what a conversion gives
    .venv/bin/python tools/convert_servos.py --write   and writes it into bam_core/servos
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.friction import FRICTION_PARAMETERS, friction_model
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import MOTOR_PARAMETERS
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, SEMI_IMPLICIT_DT, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.samples import Samples
from bam_core.simulation.synthetic import SynthesisSettings, commanded
from bam_core.text.table import format_table

LIBRARY = Path(__file__).resolve().parents[1] / "bam_core" / "servos"

_EVERY = 10e-3  # s; how often positions are compared, where steps of both integrators end
_SUBSTEPS = 4  # of the integrator per period of the firmware
_SOFT = 1e-3  # rad; smaller differences count by their square, larger ones by their size, as an MAE does
_DIFFERENCE = 1e-4  # of a scaled parameter, for derivatives
_EVALUATIONS = 60
_PULL = 2e-5  # rad on the mean, for which a parameter may not move by its own size: what nothing tells stays


@dataclass(frozen=True, kw_only=True)
class Session:
    """Runs of the four scripts with every load and gain.

    Attributes:
        loads: (kg, m).
        gains: kp, firmware units.
    """

    loads: Sequence[tuple[float, float]]
    gains: Sequence[float]

    def runs(self, servo: ServoModel, period: float) -> list[Recording]:
        """Return goals of the servo, one every so many s."""
        return [
            commanded(
                servo,
                PendulumBench(mass=mass, length=length),
                script,
                kp,
                SynthesisSettings(sample_period=period),
            )
            for mass, length in self.loads
            for kp in self.gains
            for script in SCRIPTS
        ]


# Loads and gains of table I of BAM and, for the check, some in between.
_MX = Session(
    loads=[(mass, length) for mass in (0.5, 1.0, 1.5) for length in (0.1, 0.15, 0.2)], gains=(4, 8, 16, 32)
)
_MX_CHECK = Session(loads=[(0.75, 0.125), (1.25, 0.125), (0.75, 0.175), (1.25, 0.175)], gains=(6, 12, 24))
_EROB = Session(loads=[(mass, 0.5) for mass in (3.1, 8.2, 12.7, 14.6, 19.6)], gains=(10, 25, 50, 100))
_EROB_CHECK = Session(loads=[(mass, 0.5) for mass in (5.0, 10.0, 17.0)], gains=(15, 35, 70))
# The load of the XL330's recordings, a lighter one and a shorter one; of the XL-320's nothing is known, so
# loads that take as much of its stall torque.
_XL330 = Session(loads=[(0.49, 0.1), (0.25, 0.1), (0.49, 0.06)], gains=(100, 200, 400, 800))
_XL330_CHECK = Session(loads=[(0.37, 0.1), (0.37, 0.08)], gains=(150, 300, 600))
_XL320 = Session(loads=[(0.05, 0.1), (0.1, 0.1), (0.15, 0.1)], gains=(8, 16, 32, 64))
# Loads and gains of recordings of the 12 V version, in proportion to the stall torque.
_STS = Session(
    loads=[(mass, length) for mass in (0.3, 0.6, 0.9) for length in (0.1, 0.15)], gains=(8, 16, 32)
)
_STS_CHECK = Session(loads=[(0.45, 0.125), (0.75, 0.125)], gains=(12, 24))
_XL320_CHECK = Session(loads=[(0.075, 0.1), (0.125, 0.1)], gains=(12, 24, 48))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is converted, and where it goes.

    Attributes:
        files: library servos that get the parameters: those with the same motor and gearbox.
        session: fitted to.
        check: of what remains.
    """

    files: tuple[str, ...]
    session: Session
    check: Session


PLANS: Mapping[str, Plan] = {
    "mx64": Plan(files=("mx64", "mx64_2"), session=_MX, check=_MX_CHECK),
    "mx106": Plan(files=("mx106", "mx106_2"), session=_MX, check=_MX_CHECK),
    "xl320": Plan(files=("xl320",), session=_XL320, check=_XL320_CHECK),
    "xl330_bam": Plan(files=("xl330_bam",), session=_XL330, check=_XL330_CHECK),
    "erob80_50": Plan(files=("erob80_50",), session=_EROB, check=_EROB_CHECK),
    "sts3215_7v4": Plan(files=("sts3215_7v4",), session=_STS, check=_STS_CHECK),
    "erob80_100": Plan(files=("erob80_100",), session=_EROB, check=_EROB_CHECK),
}
"""Published servo -> plan."""


class Motions:
    """The differences between motions of a servo with two sets of parameters, each with its own integrator.

    Args:
        published: with its integrator and step.
        session: its goals.
    """

    def __init__(self, published: ServoModel, session: Session) -> None:
        period = published.firmware.period
        self._ours: Samples = Rollout(
            session.runs(published, period),
            published.firmware,
            RolloutSettings(substeps=_SUBSTEPS, quadratic_rule=published.friction.quadratic_rule),
        ).samples(round(_EVERY / period))
        theirs = Rollout.for_servo(session.runs(published, SEMI_IMPLICIT_DT), published)
        vector = parameter_vector(published)
        self._wanted = theirs.samples(round(_EVERY / SEMI_IMPLICIT_DT)).positions(vector)[0]

    def differences(self, vectors: Array) -> Array:
        """Return (candidates, samples) rad for parameters (candidates, PARAMETERS)."""
        return self._ours.positions(vectors) - self._wanted

    def mean(self, vector: Array) -> Mapping[str, float]:
        """Return the mean absolute difference of every script, rad, and of all under "mean"."""
        differences = [float(np.abs(run).mean()) for run in self._ours.split(self.differences(vector)[0])]
        of_script = {name: float(np.mean(differences[i :: len(SCRIPTS)])) for i, name in enumerate(SCRIPTS)}
        return {**of_script, "mean": float(np.mean(differences))}


def convert(published: ServoModel, motions: Motions) -> ServoModel:
    """Return a servo that moves with "midpoint" as the published one does with its own integrator."""
    start = parameter_vector(published)
    free = [PARAMETERS.index(name) for name in _free_names(published)]
    scale = np.maximum(start[free], _least_scale(published)[free])
    begin = start[free] / scale

    def vectors(scaled: Array) -> Array:
        rows = np.tile(start, (len(scaled), 1))
        rows[:, free] = scaled * scale
        return rows

    samples = len(motions.differences(start)[0])
    pull = _PULL * samples * np.eye(len(free))

    def residuals(scaled: Array) -> Array:
        return np.concatenate([motions.differences(vectors(scaled[None]))[0], pull @ (scaled - begin)])

    def slopes(scaled: Array) -> Array:
        moved = motions.differences(vectors(np.vstack([scaled, scaled + _DIFFERENCE * np.eye(len(scaled))])))
        return np.vstack([(moved[1:] - moved[0]).T / _DIFFERENCE, pull])

    low = np.where(start[free] > 0.0, 0.05 * begin, 0.0)
    inside = np.clip(begin, low + 1e-6, 9.0)
    best = least_squares(
        residuals,
        inside,
        slopes,
        bounds=(low, 10.0),
        loss="soft_l1",
        f_scale=_SOFT,
        max_nfev=_EVALUATIONS,
    ).x
    parameters = dict(zip(PARAMETERS, vectors(best[None])[0].tolist(), strict=True))
    law = friction_model(published.friction_model)
    friction = law.friction(
        {name: _rounded(parameters[name]) for name in law.parameters},
        quadratic_rule=published.friction.quadratic_rule,
    )
    motor = DcMotor(
        torque_constant=_rounded(parameters["torque_constant"]),
        resistance=_rounded(parameters["resistance"]),
        armature=_rounded(parameters["armature"]),
    )
    return replace(published, motor=motor, friction=friction, integrator="midpoint")


def _rounded(value: float) -> float:
    """As many digits as the published ones have."""
    return float(f"{value:.6g}")


def _free_names(servo: ServoModel) -> Iterator[str]:
    """Name what is fitted: not the resistance of a servo whose current is regulated, which hardly counts."""
    yield from ("torque_constant", "armature")
    if not servo.firmware.regulates_current:
        yield "resistance"
    yield from FRICTION_PARAMETERS


def _least_scale(servo: ServoModel) -> Array:
    """Return (PARAMETERS,) what counts as a large change of a parameter that was published as nearly zero."""
    torque = servo.stall_torque()
    scale = {"viscous": 0.005 * torque, "coulomb": 0.005 * torque, "stribeck_coulomb": 0.005 * torque}
    scale |= dict.fromkeys(
        ("load_motor", "load_external", "load_motor_stribeck", "load_external_stribeck"), 0.05
    )
    scale |= dict.fromkeys(("quadratic_motor", "quadratic_external"), 0.02 / torque)
    return np.array([scale.get(name, 0.0) for name in PARAMETERS])


def write(name: str, published: str, servo: ServoModel, differences: Mapping[str, float]) -> None:
    """Write parameters into a library file, whose comments stay."""
    path = LIBRARY / f"{name}.yaml"
    text = path.read_text(encoding="utf-8")
    for parameter in (*MOTOR_PARAMETERS, *friction_model(servo.friction_model).parameters):
        value = servo.parameters[parameter]
        text, count = re.subn(rf"(?m)^(  {parameter}: )[^\s\[]+(?=  #)", rf"\g<1>{value:.6g}", text)
        assert count == 1, (path, parameter, count)
    text = re.sub(r"(?m)^integrator: \w+", f"integrator: {servo.integrator}", text)
    source = (
        f"converted by tools/convert_servos.py from {published} (BAM, Duclusaud, Passault, Padois, Ly, "
        f"arXiv:2410.08650; fitted by its authors with their integrator) to this one, which moves it "
        f"{1e3 * differences['mean']:.1f} mrad (mean) beside theirs on loads and gains that took no part"
    )
    text = re.sub(r"(?m)^  source: .*$", f"  source: {source}", text)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Convert, show and, where asked to, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("servos", nargs="*", default=[*PLANS], metavar="NAME", help=", ".join(PLANS))
    parser.add_argument("--write", action="store_true", help="write the library's files")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.servos:
        plan, source = PLANS[name], f"published/{name}"
        published = load_servo(source)
        fitted, checked = Motions(published, plan.session), Motions(published, plan.check)
        converted = convert(published, fitted)
        for label, motions in (("fitted to", fitted), ("check", checked)):
            for state, servo in (("before", published), ("after", converted)):
                differences = motions.mean(parameter_vector(servo))
                rows.append((name, label, state, *(f"{1e3 * value:.2f}" for value in differences.values())))
                print(*rows[-1], flush=True)
        if not arguments.write:
            print(converted.to_yaml())
        else:
            for file in plan.files:
                write(file, source, converted, differences)
    print(format_table(("servo", "runs", "conversion", *SCRIPTS, "all [mrad]"), rows))


if __name__ == "__main__":
    main()
