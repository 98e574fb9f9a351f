# SPDX-License-Identifier: Apache-2.0
"""Dynaban redone with few robots and kicks; deliberate errors turn its claims to NO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.servo.friction import Friction
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from papers.claim import UNCERTAIN, Claim
from papers.dynaban import voltage_fit as identification
from papers.dynaban.claims import OTHER_SIGN, kick_claims, own_parameters_claims
from papers.dynaban.kicks import REACH, SUPPLY, Experiment, Figures, Kick, Reality, figures
from papers.dynaban.motor_model import DynabanModel
from papers.dynaban.performance import Performance
from papers.dynaban.plots import LAW_4, POSITION
from papers.dynaban.published_models import FIRMWARE, PROGRAM
from papers.dynaban.recordings import DEVICE, Settings, read_runs, redo_recordings, score, split_runs
from papers.dynaban.redo import Effort, perform_kicks, redo
from papers.dynaban.repeatability import SHARES, Split, find_splits, split_claim, splits_exhibit
from papers.dynaban.stand import DURATION, FOOT, JOINTS, TRUNK, stand_kick, stand_spec
from papers.dynaban.sticking import sticking_words, undecided_joints
from papers.dynaban.verdicts import gain_limits, within
from papers.dynaban.voltage_fit import Model, replay_log
from papers.dynaban.voltage_logs import VoltageLog
from papers.redone import Redone, Task

FOUND = DynabanModel(
    torque_constant=1.62,
    resistance=3.1,
    viscous=0.02,
    static=0.16,
    coulomb=0.1,
    stribeck_velocity=1.0,
    armature=0.0105,
)
"""About what the simulated bench finds of an MX-64."""

Patch = Callable[[pytest.MonkeyPatch], None]

SMALL = Experiment(robots=1, repeats=2, seed=2016)
SOLE = 0.07, 0.04  # m; half length and half width
SAMPLES = 999


def figures_of_a_run(delay: np.ndarray) -> Figures:
    """All figures the same."""
    first = delay[:, 0]
    return Figures(
        delay=delay,
        deformation=delay,
        error=delay,
        reached=np.ones_like(delay),
        foot_delay=first,
        foot_deformation=first,
        trunk_delay=first,
        trunk_deformation=first,
        repeats=2,
    )


def test_spread_is_that_of_one_robots_repetitions() -> None:
    delay = np.array([[1.0], [3.0], [11.0], [13.0]])
    assert figures_of_a_run(delay).spread(delay) == pytest.approx([1.0])


@pytest.mark.filterwarnings("ignore:Inertia matrix")
def test_robots_err_the_same_way_and_repetitions_less() -> None:
    kicks = Experiment(robots=3, repeats=2).kicks()
    nominal = load_servo("mx64")
    resistance = np.array([[servo.motor.resistance for servo in kick.stage.servos] for kick in kicks])
    ratio = resistance / nominal.motor.resistance
    assert np.all(np.abs(ratio / 1.1 - 1.0) <= 0.1)
    assert ratio.mean() == pytest.approx(1.1, abs=0.03)
    assert np.array_equal(ratio[0], ratio[1])
    assert not np.array_equal(ratio[0], ratio[2])
    friction = np.array([kick.stage.servos[0].friction.stribeck_coulomb for kick in kicks])
    assert np.all(friction > 1.2 * nominal.friction.stribeck_coulomb)
    assert friction[0] != friction[1]
    # Without servos, gears with play have no inertia of their own.
    masses = [kick.stage.spec().compile().body_mass.sum() for kick in kicks]
    known = kicks[0].stage.known_model().body_mass.sum()
    assert masses[0] == masses[1] != masses[2]
    assert np.all(np.abs(np.array(masses) / known - 1.0) < 0.05)


def test_the_robot_stands_on_its_left_sole_whatever_it_kicks() -> None:
    model = stand_spec().compile()
    data = mujoco.MjData(model)
    order = [int(model.joint(name).qposadr[0]) for name in JOINTS]
    lowest = np.inf
    for position in stand_kick()(np.linspace(0.0, DURATION, 60))[0]:
        data.qpos[order] = position
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        x, y, _ = data.subtree_com[0]
        assert abs(x - 0.02) < SOLE[0]
        assert abs(y) < SOLE[1]
        lowest = min(lowest, data.site(FOOT).xpos[2])
    assert lowest > 0.0
    data.qpos[order] = stand_kick()(np.zeros(1))[0][0]
    mujoco.mj_kinematics(model, data)
    assert data.site(TRUNK).xmat.reshape(3, 3) == pytest.approx(np.eye(3), abs=1e-12)


@pytest.mark.filterwarnings("ignore:Inertia matrix")
def test_play_lies_between_motor_and_encoder() -> None:
    play = 0.01
    model = stand_spec(play=play).compile()
    assert model.joint("left_knee play").range == pytest.approx([-0.5 * play, 0.5 * play])
    assert model.njnt == 2 * len(JOINTS)


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """A folder with runs of a servo of law (4) in the format of Dynaban's recorder."""
    folder = tmp_path / DEVICE
    folder.mkdir()
    for stem, inertia in (("no_load", 0.0), ("heavy_load", 0.004)):
        bench = PendulumBench(mass=0.0, length=0.12, flywheel=inertia)
        kinds = {
            0: [np.full(SAMPLES, volts) for volts in (7.0, 8.0, 9.0, 10.0)],
            1: [8.0 * np.sin(np.linspace(0.0, turns, SAMPLES)) for turns in (6.0, 12.0, 18.0, 24.0)],
        }
        lines = []
        for kind, commands in kinds.items():
            lines.append(f"StartOfNewTest {kind}")
            for volts in commands:
                lines += _run_lines(bench, volts, begins_in_motion=kind == 0)
        (folder / f"{stem}.txt").write_text("\n".join(lines) + "\n")
    return folder


def _run_lines(bench: PendulumBench, volts: np.ndarray, *, begins_in_motion: bool) -> list[str]:
    rest = VoltageLog(name="", bench=bench, voltage=volts, position=np.zeros(SAMPLES))
    speed = np.ptp(replay_log(FIRMWARE, rest)[-101:]) / 0.1 if begins_in_motion else 0.0
    position = replay_log(FIRMWARE, replace(rest, start_velocity=speed))
    rate = np.gradient(position, 1e-3)
    rows = zip(
        np.round(3000.0 * volts / SUPPLY).astype(int),
        np.round(position * 4096 / (2.0 * np.pi)).astype(int) % 4096,
        np.round(rate * 4096 / (2.0 * np.pi)).astype(int),
        strict=True,
    )
    return ["Time Command Position Speed", *(f"{10 * k + 9} {c} {p} {v}" for k, (c, p, v) in enumerate(rows))]


def test_recordings_begin_in_motion_and_every_second_is_held_out(recordings: Path) -> None:
    runs = read_runs(recordings)
    train, held_out = split_runs(runs)
    assert [run.name for run in train[:2]] == ["no_load_0 type0", "no_load_2 type0"]
    assert len(held_out) == len(train) == 8
    assert runs[0].start_velocity > 1.0
    assert runs[4].start_velocity == pytest.approx(0.0, abs=0.1)
    assert score(PROGRAM, held_out) > 20.0 * score(FIRMWARE, held_out)


@pytest.mark.long
def test_recordings_give_claims_on_real_data_and_their_pictures(recordings: Path, tmp_path: Path) -> None:
    settings = Settings(generations=3, models=("m2",))
    claims, exhibits = redo_recordings(Task(output=tmp_path), recordings, settings)
    assert {claim.kind for claim in claims} == {"real"}
    assert {claim.paper for claim in claims} == {56.0, 10.0, "none observed"}
    authors = next(claim for claim in claims if "firmware" in claim.claim)
    assert isinstance(authors.ours, float)
    assert authors.ours > 20.0
    for exhibit in exhibits:
        assert exhibit.redone
        assert all((tmp_path / picture).stat().st_size > 0 for picture in exhibit.pictures)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dynaban")


@pytest.fixture(scope="module")
def redone(output: Path) -> Redone:
    return redo(Task(output=output), Effort(experiment=SMALL, generations=80, every=8))


@pytest.mark.long
def test_every_claim_is_synthetic_without_recordings_and_checks_of_the_code_hold(redone: Redone) -> None:
    assert len(redone.checks) == 3
    assert [each.claim for each in redone.checks if not each.holds] == []
    assert {claim.kind for claim in redone.claims} == {"synthetic"}


@pytest.mark.long
@pytest.mark.parametrize("paper", [91.0, 23.0, 86.0, -8.0, 80.0, 0.0, 0.95, 0.74, "3, comparable (1)"])
def test_the_figures_of_the_paper_are_among_the_claims(redone: Redone, paper: float | str) -> None:
    assert paper in [claim.paper for claim in redone.claims]


@pytest.mark.long
def test_every_figure_is_drawn_and_what_needs_recordings_says_so(redone: Redone, output: Path) -> None:
    shown = {exhibit.name: exhibit for exhibit in redone.exhibits}
    for number in range(1, 6):
        exhibit = shown[f"fig. {number}"]
        assert exhibit.redone
        assert all((output / picture).stat().st_size > 0 for picture in exhibit.pictures)
    assert not shown["section 4, 226 measures"].redone
    assert "github.com/RhobanProject/Dynaban" in shown["section 4, 226 measures"].remark


def kicked(experiment: Experiment) -> dict[str, Claim]:
    """The claims about the kick, by name."""
    _, found = perform_kicks(Task(output=Path()), experiment, FOUND, (POSITION, LAW_4))
    return {claim.claim.split(" (foot")[0]: claim for claim in kick_claims(found[POSITION], found[LAW_4], {})}


@pytest.fixture(scope="module")
def right() -> dict[str, Claim]:
    """The claims without an error."""
    return kicked(SMALL)


def load_of_friction_reversed(servo: ServoModel) -> ServoModel:
    """|K_m·τ_m + K_e·τ_e|, which is |K_m - K_e|·|τ_m| where joints hardly accelerate: there τ_m = -τ_e."""
    law = servo.friction
    return replace(
        servo,
        friction=replace(
            law,
            load_motor=abs(law.load_motor - law.load_external),
            load_external=0.0,
            load_motor_stribeck=abs(law.load_motor_stribeck - law.load_external_stribeck),
            load_external_stribeck=0.0,
            quadratic_motor=0.0,
            quadratic_external=0.0,
        ),
    )


NO_FRICTION = replace(load_servo("mx64"), friction_model="m1", friction=Friction())


@pytest.mark.long
@pytest.mark.parametrize(
    ("wrong", "least"),
    [
        (replace(SMALL, reality=Reality(load_sign=-1.0)), 2),
        (replace(SMALL, servo=load_of_friction_reversed(load_servo("mx64"))), 1),
        (replace(SMALL, servo=NO_FRICTION), 2),
        (replace(SMALL, reality=Reality(transport=2.0 * Reality().transport)), 1),
    ],
    ids=["gravity turned over", "friction's load", "servos without friction", "transport delays doubled"],
)
def test_an_error_in_the_simulation_turns_claims_to_no(
    right: dict[str, Claim], wrong: Experiment, least: int
) -> None:
    found = kicked(wrong)
    turned = [name for name, claim in right.items() if claim.counts and not found[name].holds]
    assert len(turned) >= least, turned


MAGNITUDE = "1, error of hand tuning / CMA-ES: an order of magnitude (mean RMS over 1 s, held-out runs)"


def recorded(recordings: Path, output: Path) -> dict[str, Claim]:
    """The claims about recordings, by name."""
    settings = Settings(generations=15, models=())
    claims, _ = redo_recordings(Task(output=output), recordings, settings)
    return {claim.claim: claim for claim in claims}


def voltage_reversed(patch: pytest.MonkeyPatch) -> None:
    runs = read_runs
    patch.setattr(
        f"{RECORDINGS}.read_runs",
        lambda folder: [replace(run, voltage=-run.voltage) for run in runs(folder)],
    )


def voltage_late(patch: pytest.MonkeyPatch) -> None:
    """By 20 ms, two periods of the host's loop."""
    runs = read_runs

    def wrong(folder: Path) -> list[VoltageLog]:
        return [
            replace(run, voltage=np.concatenate((np.zeros(20), run.voltage[:-20]))) for run in runs(folder)
        ]

    patch.setattr(f"{RECORDINGS}.read_runs", wrong)


def friction_off(patch: pytest.MonkeyPatch) -> None:
    """In all simulations, of the set that is tuned by hand and of those that are fitted."""
    row = identification._row

    def without(model: Model) -> np.ndarray:
        made = row(model)
        made[3:6] = 0.0  # viscous, Coulomb, Stribeck; law (4) has no more
        return made

    patch.setattr(identification, "_row", without)


RECORDINGS = "papers.dynaban.recordings"


@pytest.mark.long
@pytest.mark.parametrize("bug", [voltage_reversed, voltage_late])
def test_an_error_in_the_law_turns_the_claim_about_recordings_that_counts_to_no(
    recordings: Path, bug: Patch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On recordings of a servo of law (4), in the format of the authors' recorder."""
    assert recorded(recordings, tmp_path)[MAGNITUDE].counts
    bug(monkeypatch)
    assert not recorded(recordings, tmp_path)[MAGNITUDE].holds


@pytest.mark.long
def test_friction_off_turns_the_claim_about_the_authors_recordings_that_counts_to_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The factor falls from 6.4 (5.7 to 7.1) to 3.4 (3.0 to 4.0) with so short a search, which reaches
    across the limit of 3.2: k_e and r of a law without friction take up much of it. That of the authors' own
    fit, which no search can adapt, falls below 1; its claim is marked as chosen after.
    """
    folder = Path(__file__).parents[3].parent / "shared" / "data" / DEVICE
    if not folder.is_dir():
        pytest.skip(f"no recordings of Dynaban in {folder}")
    right = recorded(folder, tmp_path)
    own = next(each for each in right if "the authors' own fit (firmware)" in each)
    assert right[MAGNITUDE].counts
    assert right[own].holds
    friction_off(monkeypatch)
    wrong = recorded(folder, tmp_path)
    assert not wrong[MAGNITUDE].holds
    assert not wrong[own].holds


def test_thresholds_are_shares_of_the_papers_figure() -> None:
    assert within(70.0, 91.0)
    assert not within(60.0, 91.0)
    assert not within(8.0, -8.0)


def test_a_joint_that_stiction_holds_has_no_delay() -> None:
    count = 200
    time = 1e-2 * np.arange(count)
    goal = np.column_stack((np.sin(3.0 * time), 1e-3 * np.sin(3.0 * time)))
    run = Performance(
        time=time,
        goal=goal,
        position=np.column_stack((np.sin(3.0 * (time - 0.05)), np.zeros(count))),
        duty=np.zeros((count, 2)),
        goal_place=np.column_stack([goal[:, 0]] * 3),
        place=np.column_stack([goal[:, 0]] * 3),
        goal_tilt=np.column_stack([goal[:, 0]] * 3),
        tilt=np.column_stack([goal[:, 0]] * 3),
        model_share=0.0,
    )
    found = figures([run], 1)
    assert found.delay[0] == pytest.approx([0.05, 0.0], abs=2e-3)
    assert found.deformation[0, 1] == found.error[0, 1] > 5e-4


def performed_figures(delay: np.ndarray, spread: float, robots: int = 2) -> Figures:
    """Two robots, two kicks each: delays by joint, s, and deformations that differ by `spread` from kick to
    kick on the supporting leg and by 0.01 on the other one."""
    rows = np.tile(delay, (2 * robots, 1)) + np.tile([[-1e-3], [1e-3]], (robots, 1))
    by_leg = np.array([spread] * 6 + [0.01] * 6)
    deformation = 0.1 + np.tile([-by_leg, by_leg], (robots, 1))
    first = rows[:, 0]
    return replace(
        figures_of_a_run(rows),
        deformation=deformation,
        foot_deformation=np.full_like(first, 0.01),
        trunk_deformation=np.full_like(first, 0.01),
    )


def split(supporting: float, kicking: float = 1.0) -> Split:
    """Spreads of a supporting leg that falls by a factor with feed-forward, and of a kicking leg."""
    delay = np.full(len(JOINTS), 0.09)
    after = performed_figures(delay, 0.01)
    before = performed_figures(delay, 0.01 * supporting)
    legs = 0.1 + (before.deformation - 0.1) * np.array([1.0] * 6 + [kicking] * 6)
    return Split.make(replace(before, deformation=legs), after)


@pytest.mark.parametrize(
    ("ours", "less", "outcome"),
    [
        (split(3.0), split(1.0), "holds"),
        (split(1.0), split(1.0), "contradicts"),  # though the kicking leg's spreads are comparable
        (split(1.0), split(3.0), "undecided"),  # the paper does not tell which of them its kicks were
        (split(1.0), split(8.0), "missed"),
        (split(1.8), split(1.0), "missed"),  # nearer to 3 than to 1
        (split(1.0), split(3.0, kicking=3.0), "missed"),  # one leg's ratios are nearer to 3 than to 1
    ],
)
def test_kicks_split_by_leg_or_contradict_whatever_stiction_left_before_them(
    ours: Split, less: Split, outcome: str
) -> None:
    found = split_claim({1.0: ours, 0.0: less})
    told = {name for name in ("holds", "contradicts", "undecided", "missed") if getattr(found, name)}
    assert told == {outcome}
    assert f"0 of it {less.supporting.mean:.2f} (" in found.reason or found.holds
    assert splits_exhibit({1.0: ours, 0.0: less}).table[2][0] == "0"


@pytest.mark.filterwarnings("ignore:Inertia matrix")
def test_the_same_robots_kick_again_with_less_left_by_stiction(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, float, float]] = []

    def performed(kicks: Sequence[Kick], reality: Reality, laws: object = None) -> list[Performance]:
        resistance = kicks[0].servos[0].motor.resistance
        seen.append((reality.start, reality.stiction, resistance))
        return []

    alike = performed_figures(np.full(len(JOINTS), 0.09), 0.01)
    for name, stub in (
        ("by_position", performed),
        ("by_feed_forward", performed),
        ("figures", lambda runs, repeats: alike),
    ):
        monkeypatch.setattr(f"papers.dynaban.repeatability.{name}", stub)
    found = find_splits(Task(output=Path()), SMALL, FOUND, (alike, alike))
    assert list(found) == [1.0, *SHARES]
    assert len(seen) == 2 * len(SHARES)
    assert len({resistance for *_, resistance in seen}) == 1
    assert seen[-1][:2] == (0.0, 0.0)
    assert seen[0][:2] == pytest.approx((0.3 * Reality().start, 0.3))


@pytest.mark.parametrize("paper", [1.05, 0.95 / 0.74, 1.46, 3.0, 91.0 / 23.0])
def test_a_gain_that_holds_is_never_nearer_to_none(paper: float) -> None:
    low, high = gain_limits(paper)
    assert low >= np.sqrt(paper)
    assert low < paper < high


def test_a_small_gain_is_contradicted_or_open_and_does_not_hold() -> None:
    delay = np.full(len(JOINTS), 0.02)
    before, after = performed_figures(delay, 0.01), performed_figures(delay, 0.01)
    before = replace(before, deformation=1.1 * before.deformation)  # the paper: 1.28; nearer to 1
    name = "6, mean deformation, PID only / feed-forward"
    gain = next(each for each in kick_claims(before, after, {}) if each.claim == name)
    assert gain.ours == pytest.approx(1.1)
    assert not gain.holds
    assert gain.contradicts


@pytest.mark.parametrize(
    ("common", "own", "holds", "contradicts"),
    [
        ((0.03, 0.03), 0.02, True, False),
        ((0.03, 0.06), 0.02, False, False),  # robots differ by as much
        ((0.03, 0.03), 0.06, False, True),
    ],
)
def test_own_parameters_have_to_gain_more_than_what_robots_differ_by(
    common: tuple[float, float], own: float, holds: bool, contradicts: bool
) -> None:
    rows = np.repeat(np.array(common), 2)[:, None] * np.ones(len(JOINTS))
    (found,) = own_parameters_claims(figures_of_a_run(rows), figures_of_a_run(np.full((2, len(JOINTS)), own)))
    assert (found.holds, found.contradicts) == (holds, contradicts)
    assert found.undecided is not (holds or contradicts)


def test_a_knee_that_is_late_says_that_the_papers_is_early() -> None:
    delay = np.full(len(JOINTS), 0.02)
    after = performed_figures(delay, 0.01)
    name = "6, delay of the right knee, feed-forward"
    knee = next(each for each in kick_claims(after, after, {}) if each.claim == name)
    assert knee.unit.startswith("ms, late")
    assert knee.unit.endswith(" 20 to 20")
    assert knee.reason.startswith(OTHER_SIGN)


@pytest.mark.parametrize(
    ("delay", "outcome"), [(-0.008, "holds"), (0.001, "holds"), (0.008, "missed"), (0.0108, "contradicts")]
)
def test_a_knee_that_is_late_by_more_than_a_period_contradicts(delay: float, outcome: str) -> None:
    after = performed_figures(np.full(len(JOINTS), delay), 0.01)
    name = "6, delay of the right knee, feed-forward"
    knee = next(each for each in kick_claims(after, after, {}) if each.claim == name)
    told = {each for each in ("holds", "contradicts", "undecided", "missed") if getattr(knee, each)}
    assert told == {outcome}


def of_two_robots(first: float, second: float) -> Figures:
    """Kicks of robots whose joints have these delays, s."""
    one, other = (performed_figures(np.full(len(JOINTS), delay), 0.01, robots=1) for delay in (first, second))
    stacked = {
        each.name: np.concatenate((getattr(one, each.name), getattr(other, each.name)))
        for each in fields(Figures)
        if each.name != "repeats"
    }
    return Figures(**stacked, repeats=2)


@pytest.mark.parametrize(
    ("name", "delays", "outcome"),
    [
        # Of two robots the interval reaches 6.4 times their distance to either side of the mean.
        ("6, delay of the right knee, feed-forward", (0.0119, 0.0121), "contradicts"),
        ("6, delay of the right knee, feed-forward", (0.0101, 0.0110), "missed"),  # 10 ms is within
        ("6, delay of the right knee, feed-forward", (0.0100, 0.0130), "undecided"),  # so is 2 ms
        ("6, delay of the right knee, feed-forward", (-0.0085, -0.0080), "holds"),
        ("6, mean delay, feed-forward", (0.0225, 0.0230), "holds"),
        ("6, mean delay, feed-forward", (0.0200, 0.0230), "undecided"),
        ("6, mean delay, feed-forward", (0.0140, 0.0142), "missed"),
    ],
)
def test_the_interval_over_robots_decides_about_a_figure_of_the_kick(
    name: str, delays: tuple[float, float], outcome: str
) -> None:
    kicks = of_two_robots(*delays)
    made = next(each for each in kick_claims(kicks, kicks, {}) if each.claim == name)
    told = {each for each in ("holds", "contradicts", "undecided", "missed") if getattr(made, each)}
    assert told == {outcome}
    assert (UNCERTAIN in made.reason) is made.undecided


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_a_robot_that_never_moves_bears_no_claim_out() -> None:
    """Where nothing is early or late, as nothing moves."""
    still = performed_figures(np.zeros(len(JOINTS)), 0.01)
    way = np.full(still.delay.shape, 0.2)
    still = replace(still, delay=np.zeros(way.shape), deformation=way, error=way, reached=np.zeros(way.shape))
    still = replace(still, foot_delay=np.zeros(len(way)), trunk_delay=np.zeros(len(way)))
    assert [each.claim for each in kick_claims(still, still, {}) if each.holds] == []
    assert not own_parameters_claims(still, still)[0].holds


def test_a_joint_whose_delay_ends_at_the_limit_is_not_decided_and_counts_in_no_mean() -> None:
    delay = np.full(len(JOINTS), 0.09)
    stuck = JOINTS.index("left_hip_roll")
    delay[stuck] = REACH
    before = performed_figures(delay, 0.03)
    after = performed_figures(np.full(len(JOINTS), 0.02), 0.01)
    assert undecided_joints(after, before) == (stuck,)
    mean = next(each for each in kick_claims(before, after, {}) if each.claim == "6, mean delay, PID only")
    assert mean.ours == pytest.approx(90.0)
    assert "left_hip_roll not decided" in mean.threshold_reason
    assert "4 of 4 kicks" not in mean.threshold_reason  # half of them are a millisecond within it
    assert not mean.chosen_after  # the rule is older than the robots


def test_the_hip_roll_sticks_over_as_much_as_its_way_and_without_friction_over_nothing() -> None:
    hip = JOINTS.index("left_hip_roll")
    error, way = (float(part.rsplit(" ", 1)[-1]) for part in sticking_words(hip, Experiment()).split("°")[:2])
    assert error > 0.9 * way
    assert "takes 0.0° of error" in sticking_words(hip, Experiment(servo=NO_FRICTION))
