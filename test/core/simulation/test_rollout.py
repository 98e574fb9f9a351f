# SPDX-License-Identifier: Apache-2.0
"""Many candidates on many recordings: order, independence, bad input."""

import gc
import threading
import weakref

import numpy as np
import pytest

from bam_core.errors import Missing, OutOfRange, UnknownName, WrongShape
from bam_core.servo.effects import EFFECTS
from bam_core.servo.friction import QUADRATIC_RULES
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import load_servo
from bam_core.simulation.rollout import PARAMETERS, SEMI_IMPLICIT_DT, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from test.core.physics_cases import M6, random_run, run, servo

FIRMWARE = servo().firmware
RECORDINGS = [random_run(seed, 4e-3, samples=120 + 37 * (seed % 5)) for seed in range(11)]


def candidates(count):
    spread = np.random.default_rng(0).uniform(0.7, 1.3, (count, len(PARAMETERS)))
    return parameter_vector(servo()) * spread


def test_columns_are_motor_constants_then_the_coefficients_of_friction_then_effects():
    vector = parameter_vector(servo())
    assert vector.tolist() == [2.2, 2.0, 0.02, *M6.values(), *[0.0] * len(EFFECTS)]
    assert ("torque_constant", "resistance", "armature", *M6, *EFFECTS) == PARAMETERS


def test_a_result_does_not_depend_on_what_is_simulated_beside_it():
    together = Rollout(RECORDINGS, firmware=FIRMWARE).errors(candidates(7))
    assert together.shape == (7, 11)
    for column, recording in enumerate(RECORDINGS):
        alone = Rollout([recording], firmware=FIRMWARE)
        for row, candidate in enumerate(candidates(7)):
            np.testing.assert_allclose(alone.errors(candidate), together[row, column], rtol=1e-12)


def test_a_result_does_not_depend_on_the_number_of_workers():
    one = Rollout(RECORDINGS * 7, FIRMWARE, RolloutSettings(workers=1)).errors(candidates(5))
    many = Rollout(RECORDINGS * 7, FIRMWARE, RolloutSettings(workers=4)).errors(candidates(5))
    assert np.array_equal(one, many)


def test_one_rollout_serves_several_threads():
    rollout = Rollout(RECORDINGS, FIRMWARE, RolloutSettings(workers=3))
    expected = rollout.errors(candidates(6))
    results = [None] * 4

    def work(slot):
        results[slot] = rollout.errors(candidates(6))

    threads = [threading.Thread(target=work, args=(slot,)) for slot in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, expected) for result in results)


def test_memory_is_free_as_soon_as_a_rollout_is_out_of_use():
    """Garbage collection counts objects and not their size: a rollout in a circle would stay for minutes."""
    gc.disable()
    try:
        rollout = Rollout(RECORDINGS, firmware=FIRMWARE)
        rollout.errors(candidates(2))
        samples = rollout.samples(1)
        samples.positions(candidates(2))
        left = weakref.ref(rollout)
        del rollout, samples
        assert left() is None
    finally:
        gc.enable()


def test_positions_come_at_the_recordings_own_times():
    time = np.sort(np.random.default_rng(6).uniform(0.0, 2.0, 400))
    irregular = run(time, np.sin(2.0 * time), kp=16.0)
    uniform_time = np.arange(time[0], time[-1], 1e-3)
    uniform = run(uniform_time, np.sin(2.0 * uniform_time), kp=16.0)
    rollout = Rollout([irregular, uniform], firmware=FIRMWARE)
    ours, dense = rollout.positions(parameter_vector(servo()))
    assert len(ours) == len(time)
    # Goals held for 5 ms instead of 1 ms arrive up to 4 ms later: at 2 rad/s that is 8 mrad.
    assert np.max(np.abs(ours - np.interp(time, uniform_time, dense))) < 0.03
    steps = np.abs(np.diff(ours)) / np.diff(time)
    assert np.max(steps) < 8.0


def test_smaller_steps_change_the_default_result_by_less_than_the_encoder_resolves():
    vector = parameter_vector(servo())
    ours, limit = (
        np.concatenate(Rollout(RECORDINGS, FIRMWARE, RolloutSettings(substeps=n)).positions(vector))
        for n in (1, 10)
    )
    assert np.mean(np.abs(ours - limit)) < FIRMWARE.resolution


def test_a_servo_fitted_with_the_authors_integrator_is_simulated_with_their_step():
    published = load_servo("published/mx106")
    assert published.integrator == "semi_implicit"
    assert Rollout.for_servo(RECORDINGS, published).dt == SEMI_IMPLICIT_DT
    assert Rollout.for_servo(RECORDINGS, servo()).dt == FIRMWARE.period


def test_no_recordings_are_refused():
    with pytest.raises(Missing) as caught:
        Rollout([], firmware=FIRMWARE)
    assert caught.value.thing == "recording"


@pytest.mark.parametrize(("option", "value"), [("dt", 0.0), ("substeps", 0)])
def test_an_option_out_of_range_is_named(option, value):
    with pytest.raises(OutOfRange) as caught:
        RolloutSettings(**{option: value})
    assert (caught.value.thing, caught.value.value) == (f"rollout {option}", value)


@pytest.mark.parametrize(
    ("option", "value", "valid"),
    [("integrator", "euler", INTEGRATORS), ("quadratic_rule", "none", QUADRATIC_RULES)],
)
def test_an_unknown_option_is_answered_with_those_that_exist(option, value, valid):
    with pytest.raises(UnknownName) as caught:
        RolloutSettings(**{option: value})
    assert (caught.value.kind, caught.value.name) == (option, value)
    assert caught.value.valid == tuple(sorted(valid))


def test_parameters_of_the_wrong_shape_are_refused_with_the_names_of_the_columns():
    with pytest.raises(WrongShape, match=", ".join(PARAMETERS)) as caught:
        Rollout(RECORDINGS, firmware=FIRMWARE).errors(np.ones((2, 3)))
    assert (caught.value.thing, caught.value.value) == ("parameters", (2, 3))


def test_a_parameter_that_is_not_finite_is_named():
    bad = candidates(3)
    bad[1, 4] = np.nan
    with pytest.raises(OutOfRange) as caught:
        Rollout(RECORDINGS, firmware=FIRMWARE).errors(bad)
    assert caught.value.thing == "parameters, candidate 1, coulomb"


def test_positions_are_of_one_candidate():
    with pytest.raises(WrongShape) as caught:
        Rollout(RECORDINGS, firmware=FIRMWARE).positions(candidates(2))
    assert caught.value.value == (2, len(PARAMETERS))
