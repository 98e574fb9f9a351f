# SPDX-License-Identifier: Apache-2.0
"""Servos with Protocol 2.0 firmware: operating modes, latched hardware errors, reboot, bus watchdog."""

from __future__ import annotations

import struct
from functools import cached_property
from typing import Any

from bam_ros.dynamixel.control_table import ControlTable, Register
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.bench import Bench
from bam_ros.emulators.dynamixel.control_law import Protocol2Law
from bam_ros.emulators.dynamixel.packets import BROADCAST_ID, Complaint, Instruction, Packet, Refused
from bam_ros.emulators.dynamixel.servo import (
    ENCODER_BIT,
    OVERHEATING_BIT,
    OVERLOAD_BIT,
    SERVO_FAULTS,
    SHOCK_BIT,
    VOLTAGE_BIT,
    VirtualServo,
)

# realtime tick, moving, moving status, PWM, current, velocity, position, trajectories, voltage, temperature
_PRESENT = struct.Struct("<HBBhhiiiiHB")
_BITS = {"INPUT_VOLTAGE": VOLTAGE_BIT, "OVERHEATING": OVERHEATING_BIT, "OVERLOAD": OVERLOAD_BIT}
"""Errors that servos with bits of their own report, as the bits of most servos."""
_PLACES = {"realtime_tick": 0, "present_pwm": 4, "present_velocity": 8, "present_temperature": 26}
"""Registers by which a table shows that it has this block, and where they are in it."""
_ALERT = 0x80
_NO_SECONDARY = 253  # secondary ids from here on mean none
_RESET_ALL, _RESET_KEEP = 0xFF, {0x01: ("id",), 0x02: ("id", "baud_rate")}
_CLEAR_TURNS = b"\x01\x44\x58\x4c\x22"
_GOALS = ("goal_pwm", "goal_current", "goal_velocity", "goal_position")
_MODE_SETTINGS = (
    *("velocity_i_gain", "velocity_p_gain", "position_d_gain", "position_i_gain", "position_p_gain"),
    *("feedforward_2nd_gain", "feedforward_1st_gain", "profile_acceleration", "profile_velocity"),
)
_IN_POSITION = 20  # counts
_SLOW = 0.24  # rad/s; slower is no motion, as with the factory's moving threshold


class Protocol2Servo(VirtualServo):
    """An emulated servo with Protocol 2.0 firmware; arguments as VirtualServo."""

    faults = (*SERVO_FAULTS, "encoder", "shock")

    def __init__(self, table: ControlTable, bench: Bench, *, now: float = 0.0, **settings: Any) -> None:
        super().__init__(table, bench, now=now, **settings)
        self.law: Protocol2Law = Protocol2Law(self.registers)
        self._packed = all(
            name in table and table[name].address == table["realtime_tick"].address + offset
            for name, offset in _PLACES.items()
        )
        self._defects = 0
        self._shut_down = False
        self.power_on(now)

    @cached_property
    def _packed_rows(self) -> tuple[Register, int, float, float]:
        """Register behind the duty and the state it shows, and units of velocity and duty."""
        name, state = (
            ("present_current", physics.CURRENT)
            if "present_current" in self.table
            else ("present_load", int(k.DUTY))
        )
        velocity, duty = self.table["present_velocity"].unit.scale, self.table["present_pwm"].unit.scale
        return self.table[name], state, velocity, duty

    def listens_to(self, identifier: int) -> bool:
        """Return whether a packet concerns the servo; it accepts its secondary id without answering."""
        if "secondary_id" not in self.table:
            return super().listens_to(identifier)
        secondary = self.registers.get("secondary_id")
        return super().listens_to(identifier) or (identifier == secondary < _NO_SECONDARY)

    def power_on(self, now: float) -> None:
        """Restore the RAM area, forget turns and latched errors."""
        self._shut_down = self._silenced = False
        self.law.forget_turns(self.bench.count)
        super().power_on(now)
        self._reset_goals()
        if self.registers.held("startup_configuration") & 1:
            self.registers.set("torque_enable", 1)
        self._configure()

    def _reset_goals(self) -> None:
        """Set goals to their power-on values: limits for what acts as a limit, rest for what moves."""
        registers, mode = self.registers, self.law.mode
        pwm = 0 if mode == self.law.PWM else registers.held("pwm_limit")
        current = 0 if mode == self.law.CURRENT else registers.held("current_limit")
        registers.set_known("goal_pwm", pwm)
        registers.set_known("goal_current", current)
        registers.set_known("torque_limit", registers.held("max_torque"))
        registers.set("goal_velocity", 0)
        registers.set("goal_position", self.law.to_register(self.bench.count))

    def _measure(self) -> None:
        state, registers, sign, law = self.bench.state, self.registers, self.law.sign(), self.law
        if not self._packed:
            self._measure_one_by_one()
            return
        third, third_state, per_count, duty_unit = self._packed_rows
        velocity = round(sign * float(state[k.MEASURED_VELOCITY]) / per_count)
        position = law.to_register(self.bench.count)
        trajectory = law.to_register(round(float(state[k.TRAJECTORY])))
        goal = registers.get("goal_position")
        status = 0
        if self.torque_enabled:
            status = int(abs(goal - position) <= _IN_POSITION) | (trajectory != goal) << 1
        _PRESENT.pack_into(
            registers.data,
            self._measured_from,
            int(state[k.TICKS]) & 0x7FFF,
            int(abs(velocity) > registers.get("moving_threshold")),
            status,
            round(sign * float(state[k.DUTY]) / duty_unit),
            third.from_si(sign * float(state[third_state])),
            velocity,
            position,
            round(sign * float(state[k.TRAJECTORY_VELOCITY]) / per_count),
            trajectory,
            max(round(float(state[physics.SUPPLY]) * 10.0), 0),
            min(max(round(self.bench.temperature), 0), 255),
        )

    def _measure_one_by_one(self) -> None:
        """Fill the registers of a table that has them elsewhere, or not all of them."""
        state, registers, sign = self.bench.state, self.registers, self.law.sign()
        duty = sign * float(state[k.DUTY])
        quantities = {
            "present_velocity": sign * float(state[k.MEASURED_VELOCITY]),
            "present_pwm": duty,
            "present_load": duty,
            "present_current": sign * float(state[physics.CURRENT]),
            "present_input_voltage": float(state[physics.SUPPLY]),
            "present_temperature": self.bench.temperature,
        }
        for name, value in quantities.items():
            if name in registers.table:
                registers.set(name, registers.table[name].from_si(value))
        registers.set("present_position", self.law.to_register(self.bench.count))
        registers.set_known("realtime_tick", int(state[k.TICKS]) & 0x7FFF)
        moving = abs(quantities["present_velocity"]) > _SLOW
        registers.set_known("moving", int(moving))

    def _error(self, complaint: Complaint | None) -> int:
        alert = _ALERT if self.registers.held(self.table.error_register) else 0
        return alert | (complaint.value[1] if complaint else 0)

    def _identity(self) -> bytes:
        return self.table.model_number.to_bytes(2, "little") + bytes((self.table.firmware_version,))

    def _read_arguments(self, parameters: bytes) -> tuple[int, int]:
        if len(parameters) != 4:
            raise Refused(Complaint.LENGTH)
        return parameters[0] | parameters[1] << 8, parameters[2] | parameters[3] << 8

    def _write_arguments(self, parameters: bytes) -> tuple[int, bytes]:
        if len(parameters) < 3:
            raise Refused(Complaint.LENGTH)
        return parameters[0] | parameters[1] << 8, parameters[2:]

    def _execute_special(self, packet: Packet, now: float) -> None:
        match packet.instruction:
            case Instruction.REBOOT:
                self.power_on(now)
                self._boots_until = now + self.boot_time
            case Instruction.FACTORY_RESET:
                option = packet.parameters[:1][0] if packet.parameters else -1
                if option == _RESET_ALL and packet.id != BROADCAST_ID:
                    self.factory_reset((), now)
                elif option in _RESET_KEEP:
                    self.factory_reset(_RESET_KEEP[option], now)
                else:
                    raise Refused(Complaint.RANGE)
                self._boots_until = now + self.boot_time
            case Instruction.CLEAR:
                self._clear(packet.parameters, now)
            case _:
                raise Refused(Complaint.INSTRUCTION)

    def _clear(self, parameters: bytes, now: float) -> None:
        if parameters != _CLEAR_TURNS:
            raise Refused(Complaint.RANGE)
        self.read(self._measured_from, self._measured_to - self._measured_from, now)
        if self.registers.get("moving"):
            raise Refused(Complaint.RESULT_FAIL)
        self.law.forget_turns(self.bench.count)
        self.registers.set("goal_position", self.law.to_register(self.bench.count))
        self._configure()

    def _permit(self, register: Register, count: int) -> None:
        name, get = register.name, self.registers.get
        if name in _GOALS and self.registers.held("bus_watchdog") < 0:
            raise Refused(Complaint.RANGE)
        if name == "bus_watchdog" and (count < 0 or (count > 0 and get("bus_watchdog") < 0)):
            raise Refused(Complaint.RANGE)
        modes = (*self.law.MODES, *self.table.position_mode.values())
        if name == "operating_mode" and count not in modes:
            raise Refused(Complaint.RANGE)
        if name == "torque_enable" and count and self._shut_down:
            raise Refused(Complaint.RESULT_FAIL)
        if register.limits is None or (name == "goal_position" and self.law.mode != self.law.POSITION):
            return
        low, high = (get(limit) for limit in register.limits)
        if register.limits[0] == register.limits[1]:
            low = -low
        if not low <= count <= high:
            raise Refused(Complaint.LIMIT)

    def _written(self, changes: dict[str, int], now: float) -> None:
        registers = self.registers
        if "operating_mode" in changes:
            registers.restore(registers.table[name] for name in _MODE_SETTINGS if name in registers.table)
            self._reset_goals()
        if {"homing_offset", "drive_mode"} & changes.keys():
            registers.set("goal_position", self.law.to_register(self.bench.count))
        if changes.get("bus_watchdog") == 0 and self._silenced:
            self._silenced = False
            self._reset_goals()
            self.bench.restart_control()
        if not self.torque_enabled and self._torque_on_by_goal(changes):
            registers.set("torque_enable", 1)
        if "goal_position" in changes or "torque_enable" in changes:
            self.law.plan(self.bench.count)

    def _switched_on(self, changes: dict[str, int]) -> None:
        super()._switched_on(changes)
        if self.law.mode == self.law.PWM and "goal_pwm" not in changes:
            self.registers.set("goal_pwm", 0)

    def _torque_on_by_goal(self, changes: dict[str, int]) -> bool:
        wanted = self.registers.held("drive_mode") & 0x08 and not self._shut_down
        return bool(wanted) and not changes.keys().isdisjoint(_GOALS)

    # hardware errors

    def inject(self, fault: str) -> None:
        """Break something; also the encoder, or the electrics."""
        if fault == "encoder":
            self._defects |= ENCODER_BIT
        elif fault == "shock":
            self._defects |= SHOCK_BIT
        else:
            super().inject(fault)

    def repair(self) -> None:
        """Undo what `inject` did; latched errors stay until a reboot."""
        super().repair()
        self._defects = 0

    def _check_hardware(self, errors: int) -> None:
        errors |= self._defects
        if not errors:
            return
        register = self.table.error_register
        latched = self.registers.get(register) | self._reported(errors)
        self.registers.set(register, latched)
        shutdown = self.registers.get("shutdown") if "shutdown" in self.table else -1
        if latched & shutdown and not self._shut_down:
            self._shut_down = True
            self.registers.set("torque_enable", 0)
            self._configure()

    def _reported(self, errors: int) -> int:
        """Return what the error register shows: bits of its own, or a code."""
        if self.table.error_register == "error_code":
            return int(errors != 0)
        if self.table.error_bits is None:
            return errors
        return sum(bit for bit, error in self.table.error_bits.items() if _BITS.get(error, 0) & errors)

    # bus watchdog

    _silenced = False

    def _before_silence(self, until: float) -> float:
        period = self.registers.held("bus_watchdog")
        if period <= 0 or not self.torque_enabled:
            return until
        return max(min(until, self._heard + period * 20e-3), self.bench.time)

    def _check_silence(self, now: float) -> None:
        period = self.registers.held("bus_watchdog")
        if period > 0 and self.torque_enabled and now >= self._heard + period * 20e-3:
            self.registers.set("bus_watchdog", -1)
            self._silenced = True
            self._configure()

    def _configure(self) -> None:
        super()._configure()
        if self._silenced and self.torque_enabled:
            # Free in current control, braked in every other mode, until the client clears the watchdog.
            self.bench.commands[:] = 0.0
            free = self.law.mode == self.law.CURRENT
            self.bench.commands[k.MODE] = k.RELEASED if free else k.BRAKE
