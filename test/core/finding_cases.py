# SPDX-License-Identifier: Apache-2.0
"""Findings with example numbers, one at least of every class."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bam_core.text.bench_fit_findings import BenchFitted
from bam_core.text.choice_findings import AblationVerdict, ChoiceReason, ModelVerdict
from bam_core.text.conformance_findings import DEVIATION_WORDS, Difference
from bam_core.text.contribution_findings import LIMITS, ContributionVerdict, Criterion
from bam_core.text.data_findings import (
    DutyMismatch,
    GravityOffZero,
    ImplausibleGain,
    NoTemperature,
    NoVoltage,
    OffGoals,
    OffHoldingPosition,
)
from bam_core.text.description_findings import (
    ForeignActuators,
    GoalsBeyondRange,
    MissingAssets,
    OtherGravity,
    SeveralActuators,
    StartContacts,
    UnusableMeshes,
)
from bam_core.text.error_findings import ErrorsDiffer, OpenLoopErrors, Outliers, ShortErrors, TestError
from bam_core.text.exchange_findings import ExchangedNames, ExchangedReadings
from bam_core.text.finding import Finding
from bam_core.text.fit_findings import (
    AtBound,
    NotConverged,
    ParameterList,
    Undetermined,
    Unidentifiable,
    UnobservedBenchErrors,
    WidenRange,
)
from bam_core.text.gear_findings import IllPosedGear, IllPosedGears
from bam_core.text.goal_findings import CopiedReadings, RepeatedGoals
from bam_core.text.left_out import LeftOut, Reason
from bam_core.text.misfit_findings import (
    CAUSES,
    ErrorFloor,
    Form,
    LogsTooShort,
    MissingPhysics,
    SearchFailed,
    UnexplainedMisfit,
)
from bam_core.text.model_findings import BenchLeftOut, OtherServo, PriorOfOneUnit
from bam_core.text.output_findings import LeftOutPart, Replaced, Unfinished, WillReplace
from bam_core.text.randomisation_findings import CAUSES as NO_OP_CAUSES
from bam_core.text.randomisation_findings import NoOp
from bam_core.text.recording_findings import (
    Interrupted,
    LatePositions,
    OtherDamping,
    OtherLag,
    ReadingsLeftOut,
    Repeated,
    SampleGaps,
    StaleVelocity,
    SupplyContradicted,
    SupplyNotMeasured,
    UnknownKeys,
    UnmetRule,
    UnmodelledSettings,
)
from bam_core.text.report_findings import PARTS, MissingParts, NeededUndetermined, NoTrajectories
from bam_core.text.robot_evidence_findings import (
    BeyondRange,
    FreeBase,
    IdleMotors,
    JointsFinding,
    NoLoad,
    SlowRate,
    SteadySpeed,
    TableFound,
    TooHeavy,
)
from bam_core.text.robot_result_findings import (
    NarrowBands,
    NoBand,
    PriorOnly,
    RobotErrors,
    UndeterminedServos,
)
from bam_core.text.robot_run_findings import (
    ClippedGoals,
    CountedTurns,
    DerivativeGainUnknown,
    DerivedRanges,
    LateJoint,
    NoInterval,
    OtherRate,
    OtherZero,
    ReversedJoint,
    RunLeftOut,
    StampedRate,
    UnprovenSigns,
)
from bam_core.text.servo_findings import GuessedServos, UnfinishedServo
from bam_core.text.split_findings import FEW, FewLogs, FittedToTest, InBothSets, TrainedOn
from bam_core.text.supply_findings import UnusualSupply
from bam_core.text.uncertainty_findings import IntervalMethod, ParameterRemark, RunAdvice
from bam_core.text.verdict_findings import (
    DeviationsNeeded,
    ErrorShare,
    MotorOutsidePrior,
    UntestedJoints,
    WorseJoints,
)
from bam_core.text.whole_body_findings import (
    ConstantEffort,
    ContactMismatch,
    LostSamples,
    RankDeficit,
    UnevenSamples,
)


def logged(caplog: pytest.LogCaptureFixture) -> list[Finding]:
    """The findings that were logged as warnings."""
    arguments = (record.args for record in caplog.records if isinstance(record.args, tuple))
    return [part for some in arguments for part in some if isinstance(part, Finding)]


def missing(kind: str, *forms: Form, effects: tuple[str, ...] = ()) -> MissingPhysics:
    """Physics that a model lacks."""
    return MissingPhysics(
        kind=kind,
        share=0.42,
        effects=effects,
        forms=forms,
        changes=(0.15,) if kind.endswith("header") else (),
        share_error=0.03,
        torque=0.0123,
        residual_torque=0.0456,
    )


def unexplained(nearest: str = "torque_ripple", **changes: object) -> UnexplainedMisfit:
    """A misfit without a cause."""
    return UnexplainedMisfit(
        **{
            "candidates": 24,
            "nearest": nearest,
            "nearest_share": 0.03,
            "nearest_error": 0.01,
            "obstacle": "too_small",
            "noise_share": 0.6,
            "is_noise_bounded": False,
            "worst": (("sin_sin_kp16", 0.03), ("lift_and_drop_kp8", 0.021)),
            **changes,
        }  # type: ignore[arg-type]
    )


MODEL_VERDICTS = ("only", "chosen", "more_complex", "worse_trained", "worse")
ABLATIONS = ("needed", "dropped", "within_chance", "requested", "needed_in_training", "needed_together")


def model_verdict(kind: str, *, is_best: bool = False, is_statistical: bool = True) -> ModelVerdict:
    """What became of m1, where m6 is the best."""
    return ModelVerdict(
        kind=kind,
        chosen="m4",
        best="m6",
        is_best=is_best,
        compared="selection",
        error=0.00208,
        best_error=0.00098,
        excess=0.0011,
        tolerance=0.0003,
        is_statistical=is_statistical,
        training_error=0.0011,
        chosen_training_error=0.001,
    )


def choice_reason(kind: str, **changes: Any) -> ChoiceReason:
    """Why m4 was taken, where m6 is the best."""
    fields = {"chosen": "m4", "error": 0.001, "best": "m6", "best_error": 0.00098, "compared": "selection"}
    return ChoiceReason(**{"kind": kind, **fields, "training_error": 0.0008, "margin": 0.02, **changes})


OTHERS = ("torque_constant", "resistance", "viscous")
REMARKS = (
    "trades",
    "related",
    "disagreement",
    "insensitive",
    "missing_physics",
    "outside_interval",
    "late_stamps",
    "measured",
)
JOINTS = (
    "shoulder_pan",
    "shoulder_lift",
    "elbow_flex",
    "wrist_flex",
    "wrist_roll",
    "gripper",
    "head_yaw",
    "head_pitch",
    "hip",
)
ROBOT_ERRORS = ("no_test_runs", "worse_than_fitted", "worse_than_given", "errors_passed_on")
NAMES = ("sin_sin_kp16", "lift_and_drop_kp8", "up_and_down_kp32")
TEST_ERROR = TestError(
    model="m6", error=0.0012, logs=7, interval=(0.001, 0.0014), rule="kp=800", restart=None
)
RECORD = RunAdvice(kind="record", run="lift_and_drop with 1 kg at 0.15 m, kp 8", factor=4.0)

SOLES = ("right_sole", "left_sole")

FALSE = LeftOut(kind=Reason.SPIKE, channel="position", samples=1, first=100)

EXAMPLES: tuple[Finding, ...] = (
    TableFound(point="jaw", height=0.02, above=0.004, time=12.0),
    RunLeftOut(run="wave", readings=(("hip", (FALSE,)),), gaps=((1.0, 1.4),), lost=0.01),
    *(replace(FALSE, kind=kind) for kind in Reason),
    *(
        BenchFitted(
            servo="xl330",
            zero_offset=0.01,
            command_delay=0.008,
            recordings=recordings,
            error=0.03,
            fitted_error=fitted,
        )
        for recordings, fitted in ((1, 0.01), (12, 0.03))
    ),
    CountedTurns(run="wave", wraps=(("hip", 2),)),
    IntervalMethod(logs=12, level=0.95),
    IntervalMethod(logs=1, level=0.95, follows_valley=True, allows_for_bench=True, allows_for_model=True),
    *(
        NoTrajectories(kind=kind, file="trajectories.npz")
        for kind in ("missing_trajectories", "other_trajectories")
    ),
    OpenLoopErrors(restart=0.25),
    *(BenchLeftOut(kind=kind, servo="xl330") for kind in ("own_recordings", "other_bench")),
    OtherDamping(source=Path("a.json"), damping=1.0, firmware="erob80_c1", usual="erob80"),
    PriorOnly(),
    InBothSets(logs=("a.json", "b.json")),
    PriorOfOneUnit(file=Path("unit/m4.yaml")),
    FittedToTest(model="gear.yaml", seen=1, total=3),
    TrainedOn(model="m4", logs=("kp100_sin_sin",), total=3),
    IllPosedGears(kind="own_feedback", joints=("hip",), gain=1.2, servo="xl330", output_side=1.6),
    IllPosedGears(kind="joint_gain", joints=("hip", "knee"), gain=1.2),
    WillReplace(directory=Path("found"), models=("m1",), date="2026-01-02"),
    Replaced(directory=Path("found"), models=("m1",)),
    Replaced(directory=Path("found"), models=("m1",), date="2026-01-02", files=("m2.yaml",), plots=3),
    Unfinished(kind="interrupted", directory=Path("found"), resume=""),
    Unfinished(kind="interrupted", directory=Path("found"), error="disk full", resume="--storage URL"),
    Unfinished(
        kind="cancelled", directory=Path("found"), models=("m1", "m4"), not_done=("m6", "uncertainty")
    ),
    Unfinished(kind="interrupted", directory=Path("found"), not_converged=("m6",), without_errors=("m1",)),
    LeftOutPart(part="plots", error="no font"),
    ContactMismatch(kind="nothing_stands", span=(1.2, 1.5)),
    ContactMismatch(kind="standing_moves", contacts=SOLES, speed=0.12, span=(1.2, 1.5)),
    ContactMismatch(kind="swinging_rests", contacts=SOLES[:1], speed=0.01, height=0.002, span=(1.2, 1.5)),
    ContactMismatch(kind="other_stands", contacts=SOLES, unexplained=30.0, compared=2.0, span=(1.2, 1.5)),
    ContactMismatch(kind="other_motion", contacts=SOLES, unexplained=30.0, compared=9.0, span=(1.2, 1.5)),
    UnevenSamples(unevenness=0.12),
    LostSamples(lost=2, gaps=1),
    ConstantEffort(joint="elbow", effort=0.0),
    RankDeficit(contacts=SOLES, rank=19, joints=25, unidentifiable=("a", "b"), samples=9, is_left_out=True),
    RankDeficit(contacts=(), rank=1, joints=2, unidentifiable=("a", "b")),
    *(missing(kind) for kind in CAUSES),
    *(missing(kind, effects=("arm_compliance", "arm_backlash")) for kind in CAUSES),
    SearchFailed(baseline="at_goal", baseline_error=0.015),
    SearchFailed(baseline="at_rest", baseline_error=0.015),
    LogsTooShort(),
    *(unexplained(kind) for kind in CAUSES),
    unexplained(obstacle="by_chance", is_noise_bounded=True),
    unexplained(obstacle="inconsistent", is_noise_bounded=True),
    *(model_verdict(kind, is_best=is_best) for kind in MODEL_VERDICTS for is_best in (False, True)),
    *(choice_reason(kind) for kind in ("only", "clearly_best", "simplest")),
    choice_reason("simplest", training_error=None, compared="training", not_done=("m5", "m6")),
    *(AblationVerdict(kind=kind, compared="selection", chance=0.001) for kind in ABLATIONS),
    *(RunAdvice(kind=kind) for kind in ("no_run", "pendulum")),
    RECORD,
    *(ParameterRemark(kind=kind, parameters=OTHERS, advice=RECORD, is_late_stamped=True) for kind in REMARKS),
    TEST_ERROR,
    replace(TEST_ERROR, error=None, restart=0.25),
    replace(TEST_ERROR, seeds=(("m6", 0.0011), ("m4", 0.0013)), logs=3, restart=0.25),
    ShortErrors(errors=((0.25, 0.001), (1.0, 0.002))),
    *(NotConverged(models=("m1", "m4"), spent=spent) for spent in (True, False)),
    NotConverged(spent=True),
    AtBound(model="m1", parameter="stribeck_velocity", value=2.4, low=0.05, high=200.0, unit="rad/s"),
    *(ParameterList(kind=kind, parameters=OTHERS) for kind in ("at_bounds", "not_identifiable")),
    ErrorsDiffer(kind="worse_than_training", compared="selection", factor=2.5),
    ErrorsDiffer(
        kind="better_than_training", compared="test", factor=2.5, hardest=(("a", 0.78), ("b", 0.08))
    ),
    Outliers(logs=("odd",), factor=20.0, share=0.78, is_explained=False),
    Outliers(logs=tuple("abcde"), factor=20.0, share=0.0, is_explained=True),
    UnobservedBenchErrors(names=("mass", "arm_mass", "length", "zero", "delay")),
    Unidentifiable(
        model="m4",
        parameter="winding_heating",
        is_needed=True,
        remark=ParameterRemark(kind="trades", parameters=OTHERS, advice=RECORD),
    ),
    Undetermined(model="m4", parameters=tuple("abcd"), needed=("b",), run="sin_sin with 0.5 kg", helps=2),
    WidenRange(servo="my_servo.yaml"),
    UnmetRule(source=Path("bench.yaml"), where=(("mass", 0.4), ("script", "sin_sin"))),
    SupplyNotMeasured(
        names=NAMES, total=12, given=(10.0, 12.0), measured=(7.3, 7.4), median=7.3, is_set=True
    ),
    SupplyNotMeasured(names=NAMES, total=12, given=(10.0,), measured=(7.3,), median=None, is_set=False),
    ReadingsLeftOut(
        names=NAMES,
        total=12,
        channels=(("position", 3), ("voltage", 2)),
        details=((FALSE,),) * 3,
    ),
    LatePositions(names=NAMES, total=12, periods=(0.008, 0.012), median=0.01),
    LatePositions(names=NAMES, total=3, periods=(0.008,), median=0.008),
    LatePositions(names=("wave",), total=1, periods=(0.008,), median=0.008, joints=tuple("abcde")),
    SampleGaps(names=NAMES, total=12, gaps=((0.08, 0.1),) * 3),
    StaleVelocity(names=NAMES, total=12),
    OtherLag(names=NAMES, total=12, lags=(0.07, 0.08, -0.02), usual=(0.02, 0.03)),
    Repeated(kind="given_twice", source=Path("a.json")),
    Repeated(kind="same_data", source=Path("a.json"), duplicate_of=Path("b.json")),
    *(
        Interrupted(kind=kind, source=Path("cut"), duration=2.0, planned=6.0)
        for kind in ("set_aside", "ends_early", "no_index", "cut")
    ),
    Interrupted(kind="cut", source=Path("cut"), duration=2.0),
    UnmodelledSettings(source=Path("bag"), settings="slave mode"),
    SupplyContradicted(
        names=NAMES, total=12, source="bench.yaml", given=(12.0,), recorded=(14.7, 14.8), error=-0.18
    ),
    *(JointsFinding(kind=kind, joints=JOINTS, limit=0.02) for kind in ("undriven", "held", "resting")),
    SteadySpeed(servo="sts3215", speed=1.234),
    OtherRate(run="wave", rate=30.0, shown=15.0, error=0.08, other_error=0.01),
    ReversedJoint(joint="lift", error=0.1247, other_error=0.00037),
    OtherZero(joint="lift", zero=1.0, error=0.15, other_error=0.00037),
    UnprovenSigns(joints=("shoulder_pan", "wrist_roll")),
    UnknownKeys(source=Path("a.json"), keys=("foo", "max_velocity")),
    CopiedReadings(run="wave", joints=("gripper",)),
    RepeatedGoals(run="wave", joints=("pan", "lift")),
    OtherGravity(robot="arm", gravity=(0.0, 0.0, 0.0)),
    OtherGravity(kind="compensated", robot="", bodies=("boom", "")),
    ForeignActuators(robot="arm", actuators=("differential",), joints=("roll", "pitch")),
    BeyondRange(joint="pan", measured=(-0.9, 0.9), limits=(-0.3, 0.3)),
    TooHeavy(joint="lift", torque=250.0, stall_torque=3.0, servo="sts3215"),
    TableFound(point="gripper", height=-0.01, above=0.012, time=3.0),
    StampedRate(dataset="my_task", fps=30.0, stamped=15.0),
    SeveralActuators(joints=("shoulder", "elbow")),
    ImplausibleGain(logs=("one",), kp=800.0, error=0.0076, law="feetech-sts"),
    ClippedGoals(dataset="my_task", joints=(("lift", 0.123), ("pan", 0.0034))),
    DerivedRanges(dataset="my_task", ranges=(("pan", 2549), ("lift", 3835))),
    NoLoad(servo="sts3215", load=0.01, friction=0.1),
    SlowRate(models=("m4", "m6"), rate=29.97, runs=2, limit=45.0),
    IdleMotors(joints=JOINTS, servo="sts3215", friction=0.1),
    NoBand(model="m4", runs=tuple("abcde")),
    FreeBase(robot="robot.xml"),
    StartContacts(robot="arm", pairs=(("base", "turret"), ("base", "boom")), depth=0.03),
    StartContacts(robot="arm", pairs=(("base", "turret"),), depth=3e-17),
    *(
        UnusableMeshes(kind=kind, file="arm.urdf", meshes=("package://arm/a.stl", "b.stl"), links=("base",))
        for kind in ("missing", "lfs", "format")
    ),
    *(
        MissingAssets(kind=kind, file="arm.xml", element="mesh", files=("a.stl", "b.stl"), links=("base",))
        for kind in ("missing_assets", "asset_pointers")
    ),
    *(
        LateJoint(
            joint="elbow", runs=NAMES, lateness=0.03, error=0.02, other_error=0.004, is_corrected=is_corrected
        )
        for is_corrected in (True, False)
    ),
    ExchangedNames(joints=("lift", "elbow"), error=0.031, other_error=0.012),
    ExchangedReadings(runs=NAMES, joints=(("lift", "elbow"), ("elbow", "lift"))),
    ExchangedReadings(runs=("one",), joints=(("lift", "elbow"),)),
    UnfinishedServo(file="out/mx106_m1.yaml"),
    GuessedServos(servos=("xl430_w250", "xm430_w350")),
    GoalsBeyondRange(file="motion.csv", joint="yaw", goal=30.0, low=-2.0, high=2.0),
    DerivativeGainUnknown(dataset="my_task", usual=32.0),
    NoInterval(file="interval.json", runs=tuple("abcde")),
    *(RobotErrors(kind=kind, factor=4.0) for kind in ROBOT_ERRORS),
    UndeterminedServos(servos=("sts3215", "xl330")),
    NarrowBands(runs=NAMES, shares=(0.73, 0.68, 0.7), total=8),
    NarrowBands(runs=tuple("abcde"), shares=(0.7,), total=8),
    ErrorShare(error=0.0148, motion=0.39),
    MotorOutsidePrior(
        servo="sts3215",
        torque_constant=0.79,
        resistance=0.46,
        supply=7.4,
        speed_supply=9.4,
        torque_supply=12.7,
    ),
    UntestedJoints(joints=tuple(f"shoulder_joint_{number}" for number in range(9)), limit=0.02),
    WorseJoints(joints=(("elbow", 0.012, 0.018), ("shoulder_pan", 0.002, 0.0031), ("wrist", 0.1, 0.2))),
    DeviationsNeeded(file="deviations/m6.yaml", error=0.0148, error_without=0.031),
    DeviationsNeeded(file="deviations/m6.yaml", error=0.0148, error_without=0.0147),
    UnusualSupply(servo="sts3215", supply=7.4, nominal=12.0),
    NeededUndetermined(effects=("zero offset", "winding heating")),
    MissingParts(parts=tuple(PARTS)),
    NoVoltage(logs=("a",), supplies=(7.4,)),
    NoVoltage(logs=tuple("abcde"), is_all=True, supplies=(12.0, 14.8)),
    NoTemperature(logs=tuple("abcde"), assumed=25.0, effects=("winding_heating", "friction_temperature")),
    DutyMismatch(logs=tuple("abcde"), ratios=(0.5, 2.0), kp=400.0),
    *(FewLogs(kind=kind, training=1, test=0, needed=8) for kind in FEW),
    *(
        OtherServo(kind=kind, servo="mx106", firmware="mx106", others=("xl330", "xm430"))
        for kind in ("other_servo", "other_law")
    ),
    OffGoals(source=Path("a.json"), gap=-0.3),
    OffHoldingPosition(source=Path("a.json"), offset=0.12),
    GravityOffZero(source=Path("a.json"), angle=0.19, low=-0.1, high=0.1),
    IllPosedGear(servo="xl330", feedback=1.2345, input_side=0.1, output_side=1.4),
    *(
        Difference(
            case="friction m1: states",
            step=61,
            quantity="friction torque",
            expected=-0.58,
            got=-0.48,
            share=0.32,
            deviations=deviations,
            adds_energy=not deviations,
        )
        for deviations in ((), *((name,) for name in DEVIATION_WORDS))
    ),
    *(NoOp(term="friction", cause=cause, low=0.9, high=1.1) for cause in NO_OP_CAUSES),
    *(Criterion(kind=kind, value=value) for kind in LIMITS for value in (0.0123, None)),
    ContributionVerdict(kind="accepted", servo="my_servo", criteria=7, missed=()),
    ContributionVerdict(kind="refused", servo="my_servo", criteria=7, missed=tuple(LIMITS)),
    ErrorFloor(kind="repeated_runs", error=0.003, floor=0.001),
    ErrorFloor(kind="simulation_steps", error=0.003, floor=0.001),
    ErrorFloor(kind="measurement", error=0.003, floor=0.001, repeats=0.3, differing=("log_1", "log_2")),
)
