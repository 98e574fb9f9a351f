# SPDX-License-Identifier: Apache-2.0
"""Addresses against the constants of the maker's SDK, an independent list of them."""

from __future__ import annotations

import math
from importlib import import_module

import pytest

from bam_core.errors import UnknownName
from bam_ros.feetech.control_table import CONTROL_TABLES, control_table, table_for_model

NAMES = {
    "MODEL_L": "model_number",
    "ID": "id",
    "BAUD_RATE": "baud_rate",
    "MIN_ANGLE_LIMIT_L": "min_position_limit",
    "MAX_ANGLE_LIMIT_L": "max_position_limit",
    "CW_DEAD": "dead_band_positive",
    "CCW_DEAD": "dead_band_negative",
    "OFS_L": "homing_offset",
    "MODE": "operating_mode",
    "TORQUE_ENABLE": "torque_enable",
    "ACC": "goal_acceleration",
    "GOAL_POSITION_L": "goal_position",
    "GOAL_SPEED_L": "goal_velocity",
    "LOCK": "lock",
    "PRESENT_POSITION_L": "present_position",
    "PRESENT_SPEED_L": "present_velocity",
    "PRESENT_LOAD_L": "present_load",
    "PRESENT_VOLTAGE": "present_input_voltage",
    "PRESENT_TEMPERATURE": "present_temperature",
    "MOVING": "moving",
    "PRESENT_CURRENT_L": "present_current",
}


@pytest.mark.parametrize(("servo", "module"), [("sts3215", "sms_sts"), ("scs0009", "scscl")])
def test_addresses_are_those_of_the_sdk(servo, module):
    table, prefix = control_table(servo), f"{module.upper()}_"
    sdk = import_module(f"scservo_sdk.{module}")
    known = {
        name: getattr(sdk, prefix + constant)
        for constant, name in NAMES.items()
        if hasattr(sdk, prefix + constant) and name in table
    }
    assert len(known) >= 15
    assert {name: table[name].address for name in known} == known


@pytest.mark.parametrize("table", CONTROL_TABLES.values(), ids=CONTROL_TABLES)
def test_no_two_registers_share_an_address(table):
    taken = [at for register in table.registers for at in range(register.address, register.end)]
    assert len(taken) == len(set(taken))
    assert table_for_model(table.model_number) is table


def test_a_position_is_0_in_the_middle_of_the_encoder():
    position = control_table("sts3215")["present_position"]
    assert position.to_si(2048) == 0.0
    assert position.to_si(4095) == pytest.approx(math.pi, abs=2e-3)
    assert control_table("scs0009")["present_position"].to_si(0) == pytest.approx(-math.radians(150))


def test_negative_values_are_sign_and_magnitude():
    load = control_table("sts3215")["present_load"]
    assert load.to_si(0x400 | 250) == -0.25
    assert load.from_si(-0.25) == 0x400 | 250
    offset = control_table("sts3215")["homing_offset"]
    assert offset.from_si(offset.to_si(0x800 | 100)) == 0x800 | 100


def test_a_servo_without_a_table_is_refused():
    with pytest.raises(UnknownName):
        control_table("sts9999")
    assert table_for_model(12) is None
