# SPDX-License-Identifier: Apache-2.0
"""The bench of a servo's recordings has a file of its own, beside the servo's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BamError, Malformed, Missing, NotWritable, OutOfRange, UnknownName, Unreadable
from bam_core.servo.bench_effects_file import bench_effects_path, load_bench_effects, save_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, LEAST_DELAY, MOST_DELAY, BenchEffects
from bam_core.servo.model import load_servo
from bam_core.servo.plausible import PLAUSIBLE

FOUND = BenchEffects(zero_offset=-0.02, arm_backlash=0.03)


def up_to_plausible(name: str) -> st.SearchStrategy[float]:
    return st.floats(0.0, PLAUSIBLE[name][1])


benches = st.builds(
    BenchEffects,
    zero_offset=st.floats(-1.0, 1.0),
    command_delay=st.floats(LEAST_DELAY, MOST_DELAY),
    arm_compliance=up_to_plausible("arm_compliance"),
    arm_backlash=up_to_plausible("arm_backlash"),
    arm_mass=up_to_plausible("arm_mass"),
    supply_ripple=st.floats(0.0, 1.0),
)


@given(bench_effects=benches)
@settings(max_examples=30, deadline=None)
def test_what_was_saved_loads_back_equal(
    bench_effects: BenchEffects, tmp_path_factory: pytest.TempPathFactory
) -> None:
    servo = tmp_path_factory.mktemp("out") / "m4.yaml"
    load_servo("mx106").save(servo)
    save_bench_effects(servo, bench_effects)
    assert load_bench_effects(servo) == bench_effects


def test_it_is_found_by_the_servo_s_file_and_by_its_own(tmp_path: Path) -> None:
    servo = tmp_path / "m4.yaml"
    load_servo("mx106").save(servo)
    assert load_bench_effects(servo) == IDEAL_BENCH
    save_bench_effects(servo, FOUND, {"zero_offset": 0.001, "coulomb": 0.1})
    assert bench_effects_path(servo) == tmp_path / "bench_effects" / "m4.yaml"
    assert load_bench_effects(servo) == load_bench_effects(str(bench_effects_path(servo))) == FOUND
    text = bench_effects_path(servo).read_text()
    assert text.startswith("# ")
    assert "../m4.yaml" in text.splitlines()[0]
    assert "  zero_offset: -0.02  # rad\n" in text
    assert "\n  zero_offset: 0.001  # rad\n" in text[text.index("uncertainty:  # ") :]
    assert "coulomb" not in text
    assert load_servo(servo) == load_servo("mx106")


def test_bench_effects_of_an_earlier_servo_of_that_name_go_away(tmp_path: Path) -> None:
    servo = tmp_path / "m4.yaml"
    load_servo("mx106").save(servo)
    save_bench_effects(servo, FOUND)
    save_bench_effects(servo, IDEAL_BENCH)
    assert load_bench_effects(servo) == IDEAL_BENCH
    assert not bench_effects_path(servo).exists()


def test_the_library_s_bench_is_beside_its_servo() -> None:
    assert load_bench_effects("xl330").arm_backlash > 0.0
    assert load_bench_effects("xl330_bam") == IDEAL_BENCH
    assert load_bench_effects(FOUND) is FOUND


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("bench_effects:\n  zero: 0.1\n", UnknownName),
        ("bench_effects:\n  arm_mass: -0.1\n", OutOfRange),
        ("bench_effects: {arm_mass: 1.0e+9}\n", OutOfRange),
        ("bench_effects:\n  arm_mass: 0.1\nmotor: x\n", BamError),
        ("uncertainty:\n  arm_mass: 0.1\n", Missing),
        ("bench_effects: [\n", Malformed),
        ("[1, 2]\n", Malformed),
    ],
)
def test_a_mistake_in_the_file_is_named_in_one_line(tmp_path: Path, text: str, kind: type[BamError]) -> None:
    path = tmp_path / "bench.yaml"
    path.write_text(text)
    with pytest.raises(kind) as caught:
        load_bench_effects(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_bench_in_place_of_a_servo_is_told(tmp_path: Path) -> None:
    save_bench_effects(tmp_path / "m4.yaml", FOUND)
    with pytest.raises(Malformed, match="bench effects alone") as caught:
        load_servo(bench_effects_path(tmp_path / "m4.yaml"))
    assert caught.value.path == str(bench_effects_path(tmp_path / "m4.yaml"))


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        load_bench_effects(tmp_path / "m4.yaml")
    with pytest.raises(UnknownName):
        load_bench_effects("xl33")


def test_a_folder_that_is_a_file_cannot_be_written_into(tmp_path: Path) -> None:
    (tmp_path / "bench_effects").write_text("in the way")
    for bench_effects in (FOUND, IDEAL_BENCH):
        with pytest.raises(BamError, match="cannot be written"):
            save_bench_effects(tmp_path / "m4.yaml", bench_effects)
    with pytest.raises(NotWritable):
        save_bench_effects(tmp_path / "m4.yaml", IDEAL_BENCH)
