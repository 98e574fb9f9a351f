# SPDX-License-Identifier: Apache-2.0
"""A servo's YAML file gives back what was saved, and says what is wrong with it otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BamError
from bam_core.exchange import bam_parameters, servo_mjcf
from bam_core.feedforward.law import FeedForwardLaw
from bam_core.gears import Asymmetry
from bam_core.plots.diagram import plot_diagram
from bam_core.servo.effects import (
    EFFECTS,
    LEAST_DELAY,
    MOST_DELAY,
    BenchEffects,
    ServoEffects,
    resolve_effects,
)
from bam_core.servo.firmware import FIRMWARES
from bam_core.servo.friction import FRICTION_MODELS, QUADRATIC_RULES
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import (
    GEAR_FRICTION,
    MOTOR_EFFECTS,
    MOTOR_PARAMETERS,
    PARAMETER_UNITS,
    Provenance,
    ServoModel,
    load_servo,
    servo_names,
)
from bam_core.servo.motor import DcMotor
from bam_core.servo.plugin_attributes import plugin_attributes
from bam_core.simulation.rollout import parameter_vector

positive = st.floats(1e-9, 1e6)
not_negative = st.floats(0.0, 1e6)
share = st.floats(0.0, 1.0)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
digests = st.dictionaries(words, st.text("0123456789abcdef", min_size=64, max_size=64), max_size=3)
parameters = st.sampled_from(sorted(PARAMETER_UNITS))
searched = st.sampled_from(sorted({*PARAMETER_UNITS} - {"encoder_quantisation"}))  # which is 0 or 1


@st.composite
def servos(draw: st.DrawFn) -> ServoModel:
    model = FRICTION_MODELS[draw(st.sampled_from(sorted(FRICTION_MODELS)))]
    values = {
        name: draw(positive if name.startswith("stribeck_") else not_negative) for name in model.parameters
    }
    sides = draw(st.tuples(st.floats(-1.0, 3.0), st.floats(-1.0, 3.0)).filter(lambda pair: sum(pair) >= 0.0))
    may_have_gear = model.name in GEAR_FRICTION
    return ServoModel(
        name=draw(words),
        title=draw(words),
        manufacturer=draw(words),
        protocol=draw(st.sampled_from([0, 1, 2])),
        firmware=draw(st.sampled_from(list(FIRMWARES.values()))),
        nominal_voltage=draw(positive),
        motor=DcMotor(
            torque_constant=draw(positive),
            resistance=draw(positive),
            armature=draw(not_negative),
            torque_saturation=draw(not_negative),
            winding_heating=draw(not_negative),
        ),
        friction_model=model.name,
        friction=model.friction(values, quadratic_rule=draw(st.sampled_from(QUADRATIC_RULES))),
        gear=Asymmetry(input_side=sides[0], output_side=sides[1])
        if may_have_gear and draw(st.booleans())
        else None,
        integrator=draw(st.sampled_from(INTEGRATORS)),
        effects=tuple(draw(st.sets(st.sampled_from(sorted(EFFECTS))))),
        servo_effects=ServoEffects(
            friction_temperature=draw(not_negative),
            bridge_coasting=draw(share),
            firmware_gain=draw(st.floats(-0.9, 1.0)),
            limit_shortfall=draw(st.floats(0.0, 0.9)),
            sensor_delay=draw(not_negative),
            encoder_quantisation=draw(st.sampled_from([0.0, 1.0])),
        ),
        bench_effects=BenchEffects(
            zero_offset=draw(st.floats(-1.0, 1.0)),
            command_delay=draw(st.floats(LEAST_DELAY, MOST_DELAY)),
            arm_mass=draw(not_negative),
            supply_ripple=draw(share),
        ),
        uncertainty=draw(st.dictionaries(parameters, not_negative, max_size=3)),
        search=draw(
            st.dictionaries(searched, st.tuples(st.floats(0.01, 0.4), st.floats(0.5, 0.9)), max_size=3)
        ),
        provenance=Provenance(
            source=draw(st.just("") | words),
            software=draw(words),
            date=draw(words),
            train_mae=draw(st.none() | not_negative),
            validation_mae=draw(st.none() | not_negative),
            train_data=draw(digests),
            validation_data=draw(digests),
        ),
    )


@given(servo=servos())
@settings(max_examples=40, deadline=None)
def test_a_saved_servo_loads_back_equal(servo: ServoModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("servo") / "servo.yaml"
    servo.save(path)
    assert load_servo(path) == servo


@pytest.mark.parametrize("name", servo_names())
def test_library_servos_are_sound_starting_points_for_identification(name: str) -> None:
    servo = load_servo(name)
    assert servo.name == name.removesuffix("_bam")
    for parameter in MOTOR_PARAMETERS:
        low, high = servo.search[parameter]
        assert low < servo.parameters[parameter] < high
    assert servo.provenance.source


def test_the_library_holds_both_generations_of_mx_and_the_small_servos() -> None:
    assert set(servo_names()) >= {"mx64", "mx106", "mx64_2", "mx106_2", "xl320", "xl330"}


def test_the_xl330_is_there_as_identified_and_as_published() -> None:
    ours, published = load_servo("xl330"), load_servo("xl330_bam")
    assert (ours.integrator, len(ours.provenance.train_data)) == ("midpoint", 12)
    assert set(ours.parameters) == set(ours.uncertainty)
    assert ours.motor.torque_saturation > 0.0
    assert (published.integrator, published.bench_effects) == ("semi_implicit", BenchEffects())
    assert "as published by its authors, fitted with their integrator" in published.provenance.source
    assert ours.search == published.search


def test_every_parameter_in_the_file_carries_its_unit(tmp_path: Path) -> None:
    load_servo("mx106").save(tmp_path / "mx106.yaml")
    text = (tmp_path / "mx106.yaml").read_text()
    assert "torque_constant: 2.20983  # N·m/A" in text
    assert "viscous: 0.0507157  # N·m·s/rad" in text


BENCH_EFFECTS = ("zero_offset", "command_delay", "arm_compliance", "arm_backlash")


def test_effects_in_use_are_parameters_with_their_unit(tmp_path: Path) -> None:
    servo = load_servo("xl330")
    assert servo.effects == resolve_effects([*MOTOR_EFFECTS, *BENCH_EFFECTS])
    servo = replace(
        servo,
        motor=replace(servo.motor, torque_saturation=0.4),
        bench_effects=BenchEffects(zero_offset=-0.02),
        effects=(),
    )
    assert not set(EFFECTS) & set(servo.parameters)
    servo = replace(servo, effects=("zero_offset", "torque_saturation"))
    assert list(servo.parameters)[-2:] == ["torque_saturation", "zero_offset"]
    servo.save(tmp_path / "xl330.yaml")
    text = (tmp_path / "xl330.yaml").read_text()
    assert "  torque_saturation: 0.4  # 1/A" in text
    assert "  zero_offset: -0.02  # rad" in text
    assert "effects: [torque_saturation, zero_offset]" in text


def edited(tmp_path: Path, old: str, new: str) -> Path:
    text = load_servo("mx106").to_yaml()
    assert old in text
    path = tmp_path / "edited.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("nominal_voltage:", "nominal_volts:", "field 'nominal_volts'.*did you mean 'nominal_voltage'"),
        ("  resistance: ", "  resistence: ", "field 'motor.resistence'.*did you mean 'motor.resistance'"),
        ("  viscous: ", "  viscus: ", "'viscus'.*did you mean 'viscous'"),
        ("firmware: mx-protocol1", "firmware: mx-protocol3", "did you mean 'mx-protocol[12]'"),
        ("  load_motor: 0.198006", "", r"friction\.load_motor: is missing .friction model m6 has viscous, "),
        ("  stribeck_velocity: 1.74633", "", r"friction\.stribeck_velocity: is missing .friction model m6"),
        (
            "  viscous: 0.0507157",
            "  viscous: -0.05",
            "friction viscous: is -0.05 .expected a finite number >= 0",
        ),
        ("  viscous: 0.0507157", "  viscous: .nan", "friction viscous: is nan"),
        ("  viscous: 0.0507157", "  viscous: .inf", "friction viscous: is inf"),
        ("  viscous: 0.0507157", "  viscous:", "friction.viscous is empty .expected a number"),
        (
            "  viscous: 0.0507157",
            "  load: 0.1\n  viscous: 0.05",
            "parameter of friction model m6 'load': unknown",
        ),
        ("integrator:", "effects: [backlsh]\nintegrator:", "effect 'backlsh': unknown"),
        ("integrator:", "effects: zero_offset\nintegrator:", "effects is 'zero_offset' .expected a list"),
        ("integrator:", "effects: [[1]]\nintegrator:", "effects holds a list of 1 .expected names"),
        (
            "integrator:",
            "servo_effects:\n  sensor_lag: 0.1\nintegrator:",
            "field 'servo_effects.sensor_lag'.*did you mean",
        ),
        (
            "integrator:",
            "servo_effects:\n  bridge_coasting: 2\nintegrator:",
            "bridge_coasting: is 2.0 .expected 0 to 1",
        ),
        (
            "integrator:",
            "bench_effects:\n  zero: 0.1\nintegrator:",
            "field 'bench_effects.zero'.*did you mean",
        ),
        ("friction_model: m6", "friction_model: m7", "friction model 'm7'"),
        ("friction_model: m6", "friction_model: m1", "friction model m1"),
        ("integrator: semi_implicit", "integrator: semi-implicit", "did you mean 'semi_implicit'"),
        ("quadratic_rule: opposing", "quadratic_rule: oposing", "did you mean 'opposing'"),
        (
            "nominal_voltage: 15.0",
            "nominal_voltage: fifteen",
            "nominal_voltage is 'fifteen' .expected a number",
        ),
        ("resistance: 2.03366", "resistance: -2", "resistance: is -2"),
        ("resistance: 2.03366", "resistance: 1e-3", r"1\.0e-5"),
        ("resistance: 2.03366", "resistance: .nan", "resistance: is nan"),
        ("protocol: 1 ", "protocol: 3 ", "protocol: is 3"),
        ("  armature: 0.0260162", "", "motor.armature is missing"),
        ("[1.0, 3.5]", "[3.5, 1.0]", "search torque_constant"),
        ("[1.0, 3.5]", "[1.0, .inf]", "search torque_constant"),
        ("[1.0, 3.5]", "[.nan, 3.5]", "search torque_constant"),
        (
            "[1.0, 3.5]",
            "[0, 3.5]",
            r"search torque_constant: is \[0, 3.5\], but motor torque_constant: is 0.0 .expected a finite",
        ),
        ("[1.0, 3.5]", "3.5", r"search.torque_constant is 3.5 \(expected \[low, high\]\)"),
        ("name: mx106", "name: [", "is not YAML at line"),
    ],
)
def test_a_mistake_in_the_file_is_named_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = edited(tmp_path, old, new)
    with pytest.raises(BamError, match=message) as caught:
        load_servo(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


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
    with pytest.raises(BamError, match=rf"servo 'mx106', search {name}: is \[.*\], but .*{name}: is"):
        replace(load_servo("mx106"), search={name: bounds})


def test_a_search_may_end_at_zero_where_zero_switches_a_term_off() -> None:
    search = {"viscous": (0.0, 1.0), "load": (0.0, 1.0), "armature": (0.0, 0.1), "arm_backlash": (0.0, 0.1)}
    assert replace(load_servo("mx106"), search=search).search == search


def test_an_unknown_servo_name_suggests_the_closest() -> None:
    with pytest.raises(BamError, match="did you mean 'xl330'"):
        load_servo("xl-330")


@pytest.mark.parametrize("path", ["m4.json", "logs/kp100_sin_sin.json"])
def test_json_in_place_of_a_servo_file_points_to_the_import(path: str) -> None:
    with pytest.raises(BamError, match=r"\.json: is JSON .expected a servo's YAML file.*'bam import'"):
        load_servo(path)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(BamError, match=r"nowhere/servo\.yaml: cannot be read"):
        load_servo("nowhere/servo.yaml")


def test_a_term_that_the_friction_model_lacks_is_refused() -> None:
    servo = load_servo("mx106")
    with pytest.raises(BamError, match="m5 has no such term"):
        replace(servo, friction_model="m5")


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
    assert "servo_effects:  # besides motor and friction" in text
    assert "  sensor_delay: 0.002  # s" in text
    assert "firmware_gain" not in text


def test_sections_of_version_0_1_are_read(tmp_path: Path) -> None:
    servo = replace(load_servo("xl330"), servo_effects=ServoEffects(sensor_delay=0.002, bridge_coasting=1.0))
    text = servo.to_yaml().replace("servo_effects:", "quirks:").replace("bench_effects:", "rig:")
    (tmp_path / "old.yaml").write_text(text)
    assert load_servo(tmp_path / "old.yaml") == servo
    (tmp_path / "both.yaml").write_text(text + "bench_effects:\n  zero_offset: 0.1\n")
    with pytest.raises(BamError, match="rig and bench_effects are both given"):
        load_servo(tmp_path / "both.yaml")


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
    assert "gear:  # γ_u and γ_v of Kikuuwe (14)" in text
    assert "  output_side: 1.05  # dimensionless\n" in text
    assert load_servo(tmp_path / "gear.yaml") == GEARED
    assert "gear:" not in load_servo("mx106").to_yaml()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("  input_side: -1.4", r"gear\.input_side \+ gear\.output_side \(γ_u \+ γ_v\): is -0\.35 .*eq\. 14"),
        ("  input_side: .nan", r"gear\.input_side \(γ_u\): is nan \(expected a finite number, eq\. 14\)"),
        ("  input_side: .inf", r"gear\.input_side \(γ_u\): is inf"),
        ("  input_side: 1e-3", r"gear\.input_side is '1e-3' \(expected a number\).*1\.0e-5"),
        ("", r"gear\.input_side is missing \(expected a number\)"),
        ("  input_sid: 0.1", r"field 'gear\.input_sid': unknown"),
    ],
)
def test_a_wrong_gear_is_told_by_file_key_and_equation(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gear.yaml"
    path.write_text(GEARED.to_yaml().replace("  input_side: 0.1  # dimensionless", line))
    with pytest.raises(BamError, match=rf"gear\.yaml: {message}") as error:
        load_servo(path)
    assert "\n" not in str(error.value)


def test_friction_that_depends_on_the_load_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gear.yaml"
    gear = "gear:\n  input_side: 0.1\n  output_side: 0.3\n"
    path.write_text(load_servo("mx106").to_yaml() + gear)
    with pytest.raises(
        BamError, match=r"gear\.yaml: .*friction_model: is m6 beside a gear .*m1 or m2.*eq\. 14"
    ):
        load_servo(path)


def test_what_knows_budgets_only_refuses_a_servo_with_a_gear() -> None:
    for use in (
        parameter_vector,
        servo_mjcf,
        bam_parameters,
        plugin_attributes,
        FeedForwardLaw.from_servo,
        lambda servo: plot_diagram([("gear", servo)]),
    ):
        with pytest.raises(BamError, match=r"servo 'mx106', gear: .* knows friction budgets M1-M6 only"):
            use(GEARED)
