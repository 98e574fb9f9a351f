# SPDX-License-Identifier: Apache-2.0
"""The state is read in few bytes; what packs them is put back, and a restart that undoes it is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bam_core.errors import Unavailable
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.servo_bus import ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.dynamixel.state_block import direct_block, measured_registers, packed_block
from bam_ros.emulators.dynamixel.catalog import DYNAMIXEL
from test.core.refusals import refused
from test.ros.ros_helpers import CALM, VirtualServos

MakeVirtual = Callable[..., VirtualServos]
OFF = ServoGoal.released(1)


@pytest.mark.parametrize("servo", CONTROL_TABLES)
def test_a_packed_block_is_shorter_and_has_every_register_once(servo: str) -> None:
    table = CONTROL_TABLES[servo]
    packed, direct = packed_block(table), direct_block(table)
    if packed is None:
        return
    assert packed.length < direct.length
    assert set(packed.cells) == {*measured_registers(table), "status_return_level"}
    assert len(packed.pointers) == 2 * packed.length
    taken = [place for cell, _ in packed.cells.values() for place in range(cell.start, cell.stop)]
    assert sorted(taken) == list(range(packed.length))


def test_what_an_xm430_measures_takes_16_bytes_instead_of_23() -> None:
    table = CONTROL_TABLES["xm430_w350"]
    packed = packed_block(table)
    assert packed is not None
    assert (packed.address, packed.length, direct_block(table).length) == (224, 16, 23)


@pytest.mark.parametrize("servo", ["mx64", "xl320", "ph54_200_s500"])
def test_servos_without_pointers_in_their_ram_are_read_as_they_are(servo: str) -> None:
    assert packed_block(CONTROL_TABLES[servo]) is None


def opened(virtual: VirtualServos, **settings: object) -> DynamixelBus:
    bus = DynamixelBus(
        DynamixelSettings(port=virtual.path, baud_rate=1_000_000, **{**CALM, **settings})  # type: ignore[arg-type]
    )
    bus.open()
    return bus


def test_indirect_addresses_are_put_back_once_the_port_is_given_back(virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo="xm430_w350", pendulum=PendulumBench(mass=1e-3, length=0.1))
    virtual.set("indirect_address_3", 70)  # somebody's own
    bus = opened(virtual)
    assert virtual.get("indirect_address_3") != 70
    virtual.servo.bench.place(0.5)
    assert bus.exchange(OFF).position[0] == pytest.approx(0.5, abs=2e-3)
    bus.close()
    assert [virtual.get(f"indirect_address_{number}") for number in (1, 3, 16)] == [224, 70, 239]


def test_a_restart_that_resets_them_is_noticed_in_the_next_sample(virtual_servos: MakeVirtual) -> None:
    virtual = virtual_servos(servo="xm430_w350")
    bus = opened(virtual)
    bus.exchange(OFF)
    virtual.servo.power_on(virtual.servo.bench.time)
    with refused(Unavailable, thing="joint"):
        bus.exchange(OFF)
    bus.reboot("joint")
    assert bus.exchange(OFF).position[0] == pytest.approx(0.0, abs=0.01)
    bus.close()


def test_a_table_whose_indirect_data_lie_elsewhere_costs_no_reading(
    virtual_servos: MakeVirtual, tmp_path: Path
) -> None:
    file = tmp_path / "shifted.yaml"
    indirect = "{blocks: [[168, 228, 24]], low: 64}"  # of an XM430 they begin at 224
    file.write_text(f"mine: {{like: xm430_w350, title: Mine, model_number: 4711, indirect: {indirect}}}")
    virtual = virtual_servos(servo="xm430_w350", pendulum=PendulumBench(mass=1e-3, length=0.1))
    virtual.set("model_number", 4711)
    before = [virtual.get(f"indirect_address_{number}") for number in (1, 3, 16)]
    bus = opened(virtual, models=str(file))
    sample = bus.exchange(OFF)
    assert sample.voltage == pytest.approx((12.0,), abs=0.5)
    assert [virtual.get(f"indirect_address_{number}") for number in (1, 3, 16)] == before
    bus.close()


def test_indirect_data_are_read_where_the_firmware_has_them(
    virtual_servos: MakeVirtual, tmp_path: Path
) -> None:
    file = tmp_path / "older.yaml"
    indirect = "{blocks: [[168, 224, 28]], low: 64}"  # newer firmware of an XL330 has them at 208
    file.write_text(f"older: {{like: xl330, model_number: 1200, indirect: {indirect}}}")
    older = CONTROL_TABLES.with_file(file)["older"]
    assert CONTROL_TABLES["xl330"].indirect[0][1] == 208
    emulated = replace(
        DYNAMIXEL, tables={"older": older}, draw=lambda name, seed: DYNAMIXEL.draw("xl330", seed)
    )
    light = PendulumBench(mass=1e-3, length=0.1)
    virtual = virtual_servos(catalog=emulated, servo="older", pendulum=light)
    virtual.servo.bench.place(0.5)
    bus = opened(virtual)
    before = bus.traffic
    assert bus.exchange(OFF).position[0] == pytest.approx(0.5, abs=2e-3)
    packed = packed_block(CONTROL_TABLES["xl330"])
    assert packed is not None
    assert bus.traffic - before == 14 + 11 + packed.length  # a read, and an answer besides its data
    bus.close()
