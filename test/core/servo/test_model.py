# SPDX-License-Identifier: Apache-2.0
"""A servo's YAML file gives back what was saved, and says what is wrong with it otherwise."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import (
    BamError,
    Conflict,
    Malformed,
    Missing,
    OutOfRange,
    UnknownName,
    Unreadable,
    Unsupported,
    WrongType,
    WrongValue,
)
from bam_core.exchange import bam_parameters, servo_mjcf
from bam_core.feedforward.law import FeedForwardLaw
from bam_core.gears import Asymmetry
from bam_core.mujoco.native import NativeServo
from bam_core.plots.diagram import plot_diagram
from bam_core.servo.effects import EFFECTS, BenchEffects, ServoEffects, resolve_effects
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.friction import FRICTION_MODELS, QUADRATIC_RULES
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import (
    Provenance,
    ServoModel,
    fitted_parameters,
    load_servo,
    published_names,
    servo_names,
)
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import (
    BENCH_EFFECTS,
    GEAR_FRICTION,
    MOTOR_EFFECTS,
    MOTOR_PARAMETERS,
    PARAMETER_UNITS,
)
from bam_core.servo.plausible import PLAUSIBLE
from bam_core.servo.search_ranges import SearchRanges
from bam_core.simulation.rollout import parameter_vector
from test.core.refusals import refused

not_negative = st.floats(0.0, 1e6)
share = st.floats(0.0, 1.0)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
names = st.text("n1-_. ü左", max_size=40).map("n{}".format)
digests = st.dictionaries(words, st.text("0123456789abcdef", min_size=64, max_size=64), max_size=3)
texts = st.dictionaries(words, words, max_size=3)
counts = st.none() | st.integers(0, 2**32 - 1)
parameters = st.sampled_from(sorted({*PARAMETER_UNITS} - {*BENCH_EFFECTS}))
searched = st.sampled_from(sorted({*PARAMETER_UNITS} - {"encoder_quantisation"}))  # which is 0 or 1


def plausible(name: str) -> st.SearchStrategy[float]:
    return st.floats(*PLAUSIBLE[name])


@st.composite
def servos(draw: st.DrawFn) -> ServoModel:
    model = FRICTION_MODELS[draw(st.sampled_from(sorted(FRICTION_MODELS)))]
    values = {name: draw(plausible(name)) for name in model.parameters}
    sides = draw(st.tuples(st.floats(-1.0, 3.0), st.floats(-1.0, 3.0)).filter(lambda pair: sum(pair) >= 0.0))
    may_have_gear = model.name in GEAR_FRICTION
    return ServoModel(
        name=draw(names),
        title=draw(words),
        manufacturer=draw(words),
        protocol=draw(st.sampled_from([0, 1, 2])),
        firmware=draw(st.sampled_from(list(FIRMWARES.values()))),
        nominal_voltage=draw(plausible("nominal_voltage")),
        motor=DcMotor(
            torque_constant=draw(plausible("torque_constant")),
            resistance=draw(plausible("resistance")),
            armature=draw(plausible("armature")),
            torque_saturation=draw(plausible("torque_saturation")),
            winding_heating=draw(plausible("winding_heating")),
        ),
        friction_model=model.name,
        friction=model.friction(values, quadratic_rule=draw(st.sampled_from(QUADRATIC_RULES))),
        gear=Asymmetry(input_side=sides[0], output_side=sides[1])
        if may_have_gear and draw(st.booleans())
        else None,
        integrator=draw(st.sampled_from(INTEGRATORS)),
        servo_effects=ServoEffects(
            friction_temperature=draw(plausible("friction_temperature")),
            bridge_coasting=draw(share),
            firmware_gain=draw(st.floats(-0.9, 1.0)),
            limit_shortfall=draw(st.floats(0.0, 0.9)),
            sensor_delay=draw(plausible("sensor_delay")),
            goal_slew_time=draw(plausible("goal_slew_time")),
            encoder_quantisation=draw(st.sampled_from([0.0, 1.0])),
            load_inertia=draw(share),
        ),
        uncertainty=draw(st.dictionaries(parameters, not_negative, max_size=3)),
        search=SearchRanges(
            effects=tuple(draw(st.sets(st.sampled_from(sorted(EFFECTS))))),
            ranges=draw(
                st.dictionaries(searched, st.tuples(st.floats(0.01, 0.4), st.floats(0.5, 0.9)), max_size=3)
            ),
        ),
        provenance=Provenance(
            method=draw(st.just("") | words),
            seed=draw(counts),
            trials=draw(counts),
            trials_used=draw(counts),
            packages=draw(texts),
            tolerances=draw(st.dictionaries(words, not_negative, max_size=3)),
            corrections=draw(texts),
            source=draw(st.just("") | words),
            software=draw(words),
            date=draw(words),
            train_mae=draw(st.none() | plausible("train_mae")),
            selection_mae=draw(st.none() | plausible("selection_mae")),
            test_mae=draw(st.none() | plausible("test_mae")),
            train_data=draw(digests),
            test_data=draw(digests),
        ),
    )


@given(servo=servos())
@settings(max_examples=40, deadline=None)
def test_a_saved_servo_loads_back_equal(servo: ServoModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("servo") / "servo.yaml"
    servo.save(path)
    assert load_servo(path) == servo


def test_a_file_of_before_searches_were_named_loads(tmp_path: Path) -> None:
    lines = load_servo("xl330").to_yaml().splitlines()
    older = [line for line in lines if not line.startswith(("  method:", "  seed:"))]
    assert len(older) == len(lines) - 2
    (tmp_path / "older.yaml").write_text("\n".join(older))
    found = load_servo(tmp_path / "older.yaml").provenance
    assert (found.method, found.seed, found.trials, found.tolerances) == ("", None, None, {})


@pytest.mark.parametrize(
    "line",
    ["seed: zero", "trials: 1.5", "tolerances: {mass: small}", "packages: {numpy: 2}", "corrections: [a]"],
)
def test_provenance_of_a_wrong_type_is_refused_by_its_name(line: str, tmp_path: Path) -> None:
    text = load_servo("mx106").to_yaml()
    (tmp_path / "wrong.yaml").write_text(text.replace("provenance:\n", f"provenance:\n  {line}\n"))
    with refused(WrongType) as caught:
        load_servo(tmp_path / "wrong.yaml")
    assert f"provenance.{line.partition(':')[0]}" in str(caught.value)


@pytest.mark.parametrize("name", servo_names())
def test_library_servos_are_sound_starting_points_for_identification(name: str) -> None:
    servo = load_servo(name)
    assert servo.name == name.removesuffix("_bam")
    for parameter in MOTOR_PARAMETERS:
        low, high = servo.search.ranges[parameter]
        assert low < servo.parameters[parameter] < high
    assert servo.provenance.source


def test_the_library_holds_both_generations_of_mx_and_the_small_servos() -> None:
    assert set(servo_names()) >= {"mx64", "mx106", "mx64_2", "mx106_2", "xl320", "xl330"}


def test_the_xl330_is_there_as_identified_and_as_published() -> None:
    ours, published = load_servo("xl330"), load_servo("published/xl330_bam")
    assert (ours.integrator, len(ours.provenance.train_data)) == ("midpoint", 12)
    assert set(ours.parameters) == set(ours.uncertainty)
    assert ours.motor.torque_saturation > 0.0
    assert published.integrator == "semi_implicit"
    assert "published" in published.provenance.source
    assert ours.search == published.search


CONVERTED = [name for name in published_names() if name.removeprefix("published/") in servo_names()]


def test_every_published_servo_has_its_authors_integrator() -> None:
    assert len(CONVERTED) == 7
    assert {load_servo(name).integrator for name in published_names()} == {"semi_implicit"}


@pytest.mark.parametrize("name", CONVERTED)
def test_a_published_servo_has_its_authors_integrator_and_the_library_s_that_of_this_package(
    name: str,
) -> None:
    published, ours = load_servo(name), load_servo(name.removeprefix("published/"))
    assert (published.integrator, ours.integrator) == ("semi_implicit", "midpoint")
    assert f"from {name}" in ours.provenance.source
    found = {name: getattr(published, name) for name in ("motor", "friction", "integrator", "provenance")}
    assert replace(ours, **found) == published


def test_every_servo_of_the_library_belongs_to_the_integrator_of_this_package() -> None:
    assert {load_servo(name).integrator for name in servo_names()} == {"midpoint"}


@pytest.mark.parametrize("name", ["mx64", "mx106"])
def test_both_generations_of_mx_have_one_motor_and_one_friction(name: str) -> None:
    old, new = load_servo(name), load_servo(f"{name}_2")
    assert (old.motor, old.friction) == (new.motor, new.friction)


def test_every_parameter_in_the_file_carries_its_unit(tmp_path: Path) -> None:
    load_servo("published/mx106").save(tmp_path / "mx106.yaml")
    text = (tmp_path / "mx106.yaml").read_text()
    assert "torque_constant: 2.20983  # N·m/A" in text
    assert "viscous: 0.0507157  # N·m·s/rad" in text


def test_effects_in_use_are_parameters_with_their_unit(tmp_path: Path) -> None:
    servo = load_servo("xl330")
    bench = ("zero_offset", "command_delay", "arm_compliance", "arm_backlash")
    assert servo.search.effects == resolve_effects([*MOTOR_EFFECTS, *bench])
    motor = replace(servo.motor, torque_saturation=0.4)
    servo = replace(servo, motor=motor, search=replace(servo.search, effects=()))
    assert not set(EFFECTS) & set(servo.parameters)
    search = replace(servo.search, effects=("zero_offset", "torque_saturation"))
    servo = replace(servo, search=search)
    assert list(servo.parameters)[-1] == "torque_saturation"
    found = fitted_parameters(servo, BenchEffects(zero_offset=-0.02, command_delay=0.01))
    assert found == {**servo.parameters, "zero_offset": -0.02}
    servo.save(tmp_path / "xl330.yaml")
    text = (tmp_path / "xl330.yaml").read_text()
    assert "  torque_saturation: 0.4  # 1/A" in text
    assert "effects: [torque_saturation, zero_offset]" in text


def edited(tmp_path: Path, old: str, new: str) -> Path:
    text = load_servo("published/mx106").to_yaml()
    assert old in text
    path = tmp_path / "edited.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "kind", "told"),
    [
        ("nominal_voltage:", "nominal_volts:", UnknownName, {"name": "nominal_volts"}),
        ("  resistance: ", "  resistence: ", UnknownName, {"name": "motor.resistence"}),
        ("  viscous: ", "  viscus: ", UnknownName, {"name": "viscus"}),
        ("firmware: mx-protocol1", "firmware: mx-protocol3", UnknownName, {"kind": "firmware"}),
        ("  load_motor: 0.198006", "", Missing, {"thing": "friction.load_motor"}),
        ("  stribeck_velocity: 1.74633", "", Missing, {"thing": "friction.stribeck_velocity"}),
        ("  viscous: 0.0507157", "  viscous: -0.05", OutOfRange, {"thing": "friction viscous"}),
        ("  viscous: 0.0507157", "  viscous: .nan", OutOfRange, {"thing": "friction viscous"}),
        ("  viscous: 0.0507157", "  viscous: .inf", OutOfRange, {"thing": "friction viscous"}),
        ("  viscous: 0.0507157", "  viscous:", WrongType, {"thing": "friction.viscous"}),
        ("  viscous: 0.0507157", "  load: 0.1\n  viscous: 0.05", UnknownName, {"name": "load"}),
        ("integrator:", "effects: [backlsh]\nintegrator:", UnknownName, {"kind": "effect"}),
        ("integrator:", "effects: zero_offset\nintegrator:", WrongType, {"value": "zero_offset"}),
        ("integrator:", "effects: [[1]]\nintegrator:", WrongType, {"value": [1]}),
        (
            "integrator:",
            "servo_effects:\n  sensor_lag: 0.1\nintegrator:",
            UnknownName,
            {"name": "servo_effects.sensor_lag"},
        ),
        (
            "integrator:",
            "servo_effects:\n  bridge_coasting: 2\nintegrator:",
            OutOfRange,
            {"thing": "servo_effects bridge_coasting", "value": 2.0},
        ),
        ("friction_model: m6", "friction_model: m7", UnknownName, {"kind": "friction model", "name": "m7"}),
        ("friction_model: m6", "friction_model: m1", UnknownName, {"kind": "parameter of friction model m1"}),
        ("integrator: semi_implicit", "integrator: semi-implicit", UnknownName, {"kind": "integrator"}),
        ("quadratic_rule: opposing", "quadratic_rule: oposing", UnknownName, {"name": "oposing"}),
        ("nominal_voltage: 15.0", "nominal_voltage: fifteen", WrongType, {"value": "fifteen"}),
        ("resistance: 2.03366", "resistance: -2", OutOfRange, {"thing": "motor resistance", "value": -2.0}),
        ("resistance: 2.03366", "resistance: 1e-3", WrongType, {"value": "1e-3"}),
        ("resistance: 2.03366", "resistance: .nan", OutOfRange, {"thing": "motor resistance"}),
        ("protocol: 1 ", "protocol: 3 ", OutOfRange, {"thing": "servo 'mx106', protocol", "value": 3}),
        ("  armature: 0.0260162", "", Missing, {"thing": "motor.armature"}),
        ("[1.0, 3.5]", "[3.5, 1.0]", OutOfRange, {"thing": "search torque_constant", "value": (3.5, 1.0)}),
        ("[1.0, 3.5]", "[1.0, .inf]", OutOfRange, {"thing": "search torque_constant"}),
        ("[1.0, 3.5]", "[.nan, 3.5]", OutOfRange, {"thing": "search torque_constant"}),
        ("[1.0, 3.5]", "[0, 3.5]", OutOfRange, {"thing": "motor torque_constant", "value": 0.0}),
        ("[1.0, 3.5]", "3.5", WrongType, {"thing": "search.torque_constant", "value": 3.5}),
        ("name: mx106", "name: [", Malformed, {}),
    ],
)
def test_a_mistake_in_the_file_is_named_in_one_line(
    tmp_path: Path, old: str, new: str, kind: type[BamError], told: dict[str, object]
) -> None:
    path = edited(tmp_path, old, new)
    with pytest.raises(kind) as caught:
        load_servo(path)
    assert {name: getattr(caught.value, name) for name in told} == told
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["../../evil", "/tmp/evil", "a/b", "..\\evil", ".hidden", "", "a\tb", "a\x1b[2J", "\u202ea", "n" * 101],
)
def test_a_name_of_which_no_file_may_be_made_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "servo.yaml"
    path.write_text(load_servo("mx106").to_yaml().replace("name: mx106", f"name: {json.dumps(name)}", 1))
    with refused(WrongValue, value=name) as caught:
        load_servo(path)
    assert str(caught.value).startswith(f"{path}: name of a servo: is ")


def test_a_name_may_be_of_any_language(tmp_path: Path) -> None:
    path = tmp_path / "servo.yaml"
    replace(load_servo("mx106"), name="Rücken-Servo 2.0 (左)").save(path)
    assert load_servo(path).name == "Rücken-Servo 2.0 (左)"


def test_a_number_that_yaml_takes_for_text_is_answered_with_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(WrongType, match=r"1\.0e-5"):
        load_servo(edited(tmp_path, "resistance: 2.03366", "resistance: 1e-3"))


@pytest.mark.parametrize(
    ("old", "new", "thing", "value"),
    [
        ("torque_constant: 2.20983", "torque_constant: 1.0e+200", "motor.torque_constant", 1e200),
        ("resistance: 2.03366", "resistance: 1.0e-320", "motor.resistance", 1e-320),
        ("nominal_voltage: 15.0", "nominal_voltage: 1.0e+9", "nominal_voltage", 1e9),
        ("coulomb: ", "coulomb: 1.0e+300  # ", "friction.coulomb", 1e300),
        ("armature: [0.002, 0.06]", "armature: [0.0001, 1.0e+30]", "search.armature", 1e30),
        (
            "integrator:",
            "servo_effects: {friction_temperature: -50.0}\nintegrator:",
            "servo_effects.friction_temperature",
            -50.0,
        ),
    ],
)
def test_a_value_that_no_servo_has_is_refused(
    tmp_path: Path, old: str, new: str, thing: str, value: float
) -> None:
    path = edited(tmp_path, old, new)
    with refused(OutOfRange, thing=thing, value=value) as caught:
        load_servo(path)
    assert str(caught.value).startswith(f"{path}: {thing}: is {value:g} (expected ")


def test_a_tiny_coefficient_of_friction_is_one_that_a_fit_may_find(tmp_path: Path) -> None:
    path = edited(tmp_path, "coulomb: ", "coulomb: 1.0e-300  # ")
    assert load_servo(path).friction.coulomb == 1e-300


def test_a_number_in_quotes_is_answered_with_how_to_write_it(tmp_path: Path) -> None:
    with refused(WrongType, thing="motor.resistance", value="2.5") as caught:
        load_servo(edited(tmp_path, "resistance: 2.03366", 'resistance: "2.5"'))
    assert str(caught.value).endswith("; write 2.5 without quotes, which make it text")


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("torque_constant", (0.0, 2.0)),
        ("resistance", (0.0, 2.0)),
        ("stribeck_velocity", (0.0, 2.0)),
        ("stribeck_exponent", (0.0, 2.0)),
        ("firmware_gain", (-1.0, 0.3)),
        ("limit_shortfall", (0.0, 1.0)),
        ("supply_ripple", (0.0, 1.5)),
        ("command_delay", (-0.1, 0.02)),
    ],
)
def test_a_search_may_not_end_at_a_value_that_the_parameter_cannot_have(name, bounds) -> None:
    with pytest.raises(OutOfRange, match=rf"^search {name}: .*{name}: is") as caught:
        SearchRanges(ranges={name: bounds})
    assert caught.value.value in bounds


def test_a_search_may_end_at_zero_where_zero_switches_a_term_off() -> None:
    ranges = {"viscous": (0.0, 1.0), "load": (0.0, 1.0), "armature": (0.0, 0.1), "arm_backlash": (0.0, 0.1)}
    assert SearchRanges(ranges=ranges).ranges == ranges


def test_an_unknown_parameter_of_a_search_is_named() -> None:
    with pytest.raises(UnknownName) as caught:
        SearchRanges(ranges={"viscus": (0.0, 1.0)})
    assert (caught.value.kind, caught.value.name) == ("parameter", "viscus")


def test_an_unknown_servo_name_suggests_the_closest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'xl330'") as caught:
        load_servo("xl-330")
    assert caught.value.valid == servo_names()


@pytest.mark.parametrize("path", ["m4.json", "logs/kp100_sin_sin.json"])
def test_json_in_place_of_a_servo_file_points_to_the_import(path: str) -> None:
    with pytest.raises(Malformed, match="'bam import'") as caught:
        load_servo(path)
    assert caught.value.path == path


def test_a_missing_file_is_named() -> None:
    with pytest.raises(Unreadable) as caught:
        load_servo("nowhere/servo.yaml")
    assert caught.value.path == "nowhere/servo.yaml"


def test_a_term_that_the_friction_model_lacks_is_refused() -> None:
    servo = load_servo("mx106")
    with pytest.raises(Conflict) as caught:
        replace(servo, friction_model="m5")
    assert caught.value.thing.startswith("servo 'mx106', friction quadratic_")


def test_a_failed_save_leaves_the_old_file_untouched(tmp_path: Path) -> None:
    target = tmp_path / "servo.yaml"
    target.mkdir()
    with pytest.raises(BamError, match="cannot be written"):
        load_servo("mx106").save(target)
    assert list(tmp_path.iterdir()) == [target]


def test_a_servo_whose_limit_falls_short_stalls_at_less() -> None:
    servo = load_servo("mx106")
    short = replace(servo, servo_effects=ServoEffects(limit_shortfall=0.25))
    assert short.stall_torque() == pytest.approx(0.75 * servo.stall_torque())


def test_servo_effects_are_written_with_their_units(tmp_path: Path) -> None:
    servo = replace(load_servo("mx106"), servo_effects=ServoEffects(sensor_delay=0.002, bridge_coasting=1.0))
    servo.save(tmp_path / "mx106.yaml")
    text = (tmp_path / "mx106.yaml").read_text()
    assert "servo_effects:  # " in text
    assert "  sensor_delay: 0.002  # s" in text
    assert "firmware_gain" not in text


@pytest.mark.parametrize("section", ["bench_effects", "quirks", "rig"])
def test_a_section_that_is_no_servo_s_is_refused(tmp_path: Path, section: str) -> None:
    file = tmp_path / "mx106.yaml"
    file.write_text(f"{load_servo('mx106').to_yaml()}{section}:\n  zero_offset: 0.1\n")
    with refused(UnknownName, kind="field", name=section):
        load_servo(file)


GEARED = load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=1.05))


def test_a_gear_takes_the_place_of_what_depends_on_the_load_and_leaves_the_rest() -> None:
    known = load_servo("mx106")
    assert GEARED.friction_model == "m2"
    assert GEARED.friction.coulomb == known.friction.coulomb
    assert GEARED.friction.stribeck_velocity == known.friction.stribeck_velocity
    assert (GEARED.friction.load_motor, GEARED.friction.quadratic_motor) == (0.0, 0.0)
    assert (GEARED.parameters["input_side"], GEARED.parameters["output_side"]) == (0.1, 1.05)
    assert not {"input_side", "output_side"} & set(known.parameters)


def test_a_file_with_a_gear_says_what_it_is(tmp_path: Path) -> None:
    GEARED.save(tmp_path / "gear.yaml")
    text = (tmp_path / "gear.yaml").read_text()
    assert "gear:  # γ_u and γ_v" in text
    assert "  output_side: 1.05  # dimensionless\n" in text
    assert load_servo(tmp_path / "gear.yaml") == GEARED
    assert "gear:" not in load_servo("mx106").to_yaml()


@pytest.mark.parametrize(
    ("line", "kind", "told"),
    [
        ("  input_side: -1.4", OutOfRange, {"value": pytest.approx(-0.35)}),
        ("  input_side: .nan", OutOfRange, {"thing": "gear.input_side (γ_u)"}),
        ("  input_side: .inf", OutOfRange, {"thing": "gear.input_side (γ_u)", "value": math.inf}),
        ("  input_side: 1e-3", WrongType, {"thing": "gear.input_side", "value": "1e-3"}),
        ("", Missing, {"thing": "gear.input_side"}),
        ("  input_sid: 0.1", UnknownName, {"name": "gear.input_sid"}),
    ],
)
def test_a_wrong_gear_is_told_by_file_and_key(
    line: str, kind: type[BamError], told: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "gear.yaml"
    path.write_text(GEARED.to_yaml().replace("  input_side: 0.1  # dimensionless", line))
    with pytest.raises(kind) as caught:
        load_servo(path)
    assert {name: getattr(caught.value, name) for name in told} == told
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_friction_that_depends_on_the_load_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gear.yaml"
    gear = "gear:\n  input_side: 0.1\n  output_side: 0.3\n"
    path.write_text(load_servo("mx106").to_yaml() + gear)
    with pytest.raises(Conflict, match="m1 or m2") as caught:
        load_servo(path)
    assert caught.value.thing == "servo 'mx106', friction_model"


def test_what_knows_budgets_only_refuses_a_servo_with_a_gear() -> None:
    for use in (
        parameter_vector,
        servo_mjcf,
        bam_parameters,
        lambda servo: NativeServo(servo=servo).config(),
        FeedForwardLaw.from_servo,
        lambda servo: plot_diagram([("gear", servo)]),
    ):
        with pytest.raises(Unsupported) as caught:
            use(GEARED)
        assert caught.value.thing == "servo 'mx106', gear"


def test_a_gear_knows_no_direction_of_friction():
    plain = load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=0.2))
    with pytest.raises(Conflict) as caught:
        replace(plain, servo_effects=ServoEffects(friction_direction=0.1))
    assert caught.value.thing == "servo 'mx106', friction_direction"
