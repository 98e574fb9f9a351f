# SPDX-License-Identifier: Apache-2.0
"""The figures and tables of Egle's thesis: what is redone of each."""

from __future__ import annotations

from papers.egle.rolls import steps_words
from papers.egle.tables import PRINTED_TARGET, TARGETS
from papers.redone import DEVICES, Exhibit

_WALK = (
    "a humanoid with TORO's joints, ranges, gears, mass and height; lengths and masses of its links are a"
    " person's, as the thesis gives none"
)
_TORO = "needs recordings of TORO (DLR), which are not public"
_SQUATS = (
    "no recordings of TORO are public. In its place another humanoid's recorded squats: MX servos without"
    " torque sensors, so that torques follow from goals, positions and the published law of the motor; both"
    " feet stand, so that of the legs only the sum over both is determined, and arms each on its own"
)
_WHERE = f"squats of a humanoid with MX-106 and MX-64 are public ({DEVICES['sigmaban']}); see --data"
_KNEE = "friction of knee and ankle pitch in the experiment"
_SIDES = "friction of ankle roll and hip pitch, right and left, in the experiment"


def exhibits(experiment: tuple[tuple[str, ...], ...] | None) -> tuple[Exhibit, ...]:
    """Return them in order.

    Args:
        experiment: what is unphysical in the friction of a real humanoid's squats, as rows of text; None
            where there are no recordings of it.
    """
    simulated = (
        Exhibit(
            name="fig. 4.1",
            subject="TORO's dimensions and joints",
            redone=False,
            remark="a drawing without numbers that could be compared",
        ),
        Exhibit(
            name="table 4.1",
            subject="joints, motors, gears, limits",
            redone=False,
            remark="input, not a result: the simulated humanoid is made from it",
        ),
        Exhibit(
            name="fig. 6.1",
            subject="friction in the right knee, found on one foot and on two",
            remark=f"true accelerations, as in the thesis; {_WALK}",
            pictures=("supports.png",),
        ),
        Exhibit(
            name="fig. 6.2",
            subject="difference schemes over time",
            remark="at 1 kHz without noise; the forward Euler method of the thesis is a Runge-Kutta one here",
            pictures=("differences.png",),
        ),
        Exhibit(
            name="fig. 6.3",
            subject="difference schemes over velocity",
            remark="in the figure of 6.2. Possible erratum: the thesis calls backward differences very"
            " accurate where the leg swings, without a figure. Here their RMS error there is about 5 % of"
            " F_c, that of central differences about 1 %. Where the leg stands, backward differences err"
            " more, as the thesis says",
        ),
        Exhibit(
            name="fig. 6.4",
            subject="right knee in OpenHRP, leg stands and swings",
            remark="our simulator with encoder steps in place of OpenHRP, whose contacts disturb the signals",
            pictures=("stance.png",),
            captions=("right knee, leg stands and swings; the panels of figs. 6.5a and 6.5b too",),
        ),
        Exhibit(
            name="fig. 6.5",
            subject="right knee, leg swings; (a) friction there, (b) in all legs",
            remark="as fig. 6.4, (b) with torque noise of 0.1 N·m as well; all legs with clean signals",
            pictures=("legs.png",),
            captions=("all legs, swinging, clean signals",),
        ),
        Exhibit(
            name="table 6.1",
            subject="parameters found walking straight ahead",
            remark="clean, which checks the code alone, and with encoder steps and torque noise; OpenHRP's"
            " disturbances are of another kind, so that sizes of errors compare only roughly;"
            f" {steps_words()}. Erratum: the target of F_c and τ_os of hip pitch and hip yaw, printed as"
            f" {PRINTED_TARGET:g} N·m here and in table 6.2, is {TARGETS['right_hip_pitch'].coulomb:g} N·m by"
            " the errors that are printed beside it",
        ),
        Exhibit(
            name="table 6.2",
            subject="parameters found walking straight and sideways",
            remark="as table 6.1; steps of 0.3 m ahead and 0.25 m sideways",
            pictures=("parameters.png", "parameters_with_noise.png"),
            captions=("errors of the parameters, clean signals", "errors of the parameters, from sensors"),
        ),
        Exhibit(
            name="fig. 7.1",
            subject="spectra of estimated accelerations",
            remark="one swing of our walk",
            missing=f"those of the experiment; {_TORO}",
            pictures=("spectra.png",),
        ),
        Exhibit(
            name="fig. 7.2",
            subject="filters on friction that is known",
            remark="clean signals and friction in the knee, as there; the windows of (a) and (b) are not"
            " given, here 51 and 101 samples",
            pictures=("filters.png",),
        ),
        Exhibit(
            name="fig. 7.3",
            subject="estimated and measured acceleration, (a) simulated, (b) experiment",
            remark="(a) unfiltered and with L = 151",
            missing=f"(b); {_TORO}",
            pictures=("accelerations.png",),
        ),
        Exhibit(
            name="fig. 7.4",
            subject="velocity and difference of accelerations, (a) simulated, (b) experiment",
            remark="(a) unfiltered and with L = 151",
            missing=f"(b); {_TORO}",
            pictures=("power.png",),
        ),
        Exhibit(
            name="fig. 7.5",
            subject="friction found with all inertia scaled",
            remark="factors 0.8 to 1.2; the thesis does not give its own",
            pictures=("inertia.png",),
            captions=("friction found with all inertia, with masses, with moments of inertia scaled",),
        ),
        Exhibit(
            name="fig. 7.6",
            subject="friction found with moments of inertia scaled",
            remark="in the figure of 7.5",
        ),
        Exhibit(
            name="section 7.3",
            subject="inertia and friction found together, which the thesis asks for",
            remark="factors of masses and moments of inertia of three links of each leg, in a model that is"
            " wrong by up to 40 %. The thesis asks for it and finds no factors, so that these are checks",
            pictures=("inertia_identified.png",),
        ),
    )
    if experiment is None:
        return (
            *simulated,
            Exhibit(name="fig. 7.7", subject=_KNEE, redone=False, remark=f"{_TORO}; {_WHERE}"),
            Exhibit(name="fig. 7.8", subject=_SIDES, redone=False, remark=f"{_TORO}; {_WHERE}"),
        )
    return (
        *simulated,
        Exhibit(
            name="fig. 7.7",
            subject=_KNEE,
            remark=_SQUATS,
            missing=f"a walk, and one leg alone; {_TORO}",
            pictures=("squat_legs.png",),
        ),
        Exhibit(
            name="fig. 7.8",
            subject=_SIDES,
            remark="hip pitch as the sum of both sides with fig. 7.7; right and left are told apart for the"
            " arms only, which no contact closes to a loop",
            missing=f"ankle roll, which hardly moves in a squat, and hip pitch right and left; {_TORO}",
            pictures=("squat_arms.png",),
        ),
        Exhibit(
            name="section 7.2, real squats",
            subject="friction beside BAM's bench, and what is unphysical in it",
            remark="the thesis' periods in which friction drives, branches of rising and falling speed and"
            " constant torques, which are neither claims nor checks: whatever is wrong with torques or model"
            " would bear them out. The thesis says nothing of this robot, so that all comparisons with the"
            " bench are checks",
            pictures=("squat_comparison.png",),
            captions=("mean friction by joint and gain, beside the bench's",),
            table=experiment,
        ),
    )
