# SPDX-License-Identifier: Apache-2.0
"""An emulated eRob: CiA 402 objects in front, bench behind. No I/O, and time is an argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from bam_core.errors import UnknownName
from bam_core.servo.model import ServoModel, load_servo
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.erob import bench_kernel as k
from bam_ros.emulators.erob.bench import Bench
from bam_ros.emulators.erob.drive_objects import CSP, CST, CSV, FASTEST, FREE, RAMP_AND_HOLD, DriveObjects
from bam_ros.emulators.erob.object_dictionary import Abort, ObjectDictionary, SdoAbort
from bam_ros.emulators.erob.power_state import (
    ENABLE_OPERATION,
    FOLLOWING_ERROR,
    FOLLOWS,
    LIMIT,
    REMOTE,
    TARGET_REACHED,
    VOLTAGE_ENABLED,
    PowerState,
    drives,
    next_state,
)

_MODES = {CSP: k.POSITION_MODE, CSV: k.VELOCITY_MODE, CST: k.CURRENT_MODE}

WATCHDOG_FAULT = 0x8180
FOLLOWING_FAULT = 0x8611
MOMENTARY_FAULTS: Mapping[str, int] = MappingProxyType(
    {"overcurrent": 0x2310, "short_circuit": 0x2340, "following_error": FOLLOWING_FAULT}
)
"""Events: a fault reset ends them."""
LASTING_FAULTS: Mapping[str, int] = MappingProxyType(
    {"overvoltage": 0x3210, "undervoltage": 0x3220, "overheat": 0x4310, "encoder": 0x7305}
)
"""Causes: the drive is in fault again after a reset until they are repaired."""
DRIVE_FAULTS = (*MOMENTARY_FAULTS, *LASTING_FAULTS)
"""What `Drive.inject` knows by name."""

LOWEST_VOLTAGE, HIGHEST_VOLTAGE, HIGHEST_TEMPERATURE = 36.0, 60.0, 85.0  # V, V, °C
_AT_REST = 0.02  # rad/s
_REGISTER = {0x2: 0x02, 0x3: 0x04, 0x4: 0x08, 0x8: 0x10}  # error register by class of fault
_PROTECTION_PERIOD = 10_000_000  # how often voltage and temperature are looked at, ns


class Drive:
    """One drive.

    Args:
        dictionary: gets the drive's objects.
        servo: name in the library; its motor and current limit make up the rated values.
        bench: the physics behind it.
    """

    def __init__(self, dictionary: ObjectDictionary, servo: str, bench: Bench) -> None:
        self.bench = bench
        self.model: ServoModel = load_servo(servo)
        self.rated_current = self.model.firmware.demand_limit / 2.0
        self.state = PowerState.SWITCH_ON_DISABLED
        self.operational = False
        """Whether the bus is in OP, so that process data count."""
        self.on_fault: Callable[[int, int], None] = lambda code, register: None
        self._supply = bench.hidden.supply_voltage
        self._causes: set[str] = set()
        self._word = 0
        self._steady = False
        self._following_since = 0
        self._next_check = 0
        self._limited = False
        self._offset = 0
        torque = self.rated_current * self.model.motor.torque_constant
        self.objects = DriveObjects(dictionary, self.rated_current, torque, self._set_home)
        self.error_code = self.objects.error_code
        self.sample(bench.time)

    def _set_home(self, offset: int) -> None:
        if drives(self.state):
            raise SdoAbort(Abort.WRONG_STATE)
        self._offset = offset

    # what the bus tells

    def enter_op(self) -> None:
        """Begin to apply process data."""
        self.operational = True
        self._steady = False

    def leave_op(self, *, watchdog: bool) -> None:
        """Stop applying it: torque is off; a watchdog is a fault where the drive was running."""
        self.operational = False
        self._steady = False
        if watchdog and drives(self.state):
            self.fault(WATCHDOG_FAULT, at_once=True)
        elif self.state not in (PowerState.FAULT, PowerState.FAULT_REACTION_ACTIVE):
            self._enter(PowerState.SWITCH_ON_DISABLED)

    @property
    def torque_enabled(self) -> bool:
        """Whether current may flow."""
        return drives(self.state)

    def execute(self) -> None:
        """Take control word, mode and targets as they stand now."""
        word = self.objects.controlword.value
        if word != self._word or not self._steady:
            self._step(word)
        if self.state is PowerState.OPERATION_ENABLED:
            self._follow()
        elif self.objects.mode.value != self.objects.mode_display.value and self.objects.mode.value in _MODES:
            self.objects.mode_display.value = self.objects.mode.value

    def _step(self, word: int) -> None:
        held = self.objects.quick_stop.value == RAMP_AND_HOLD
        state = next_state(self.state, word, self._word, resumes=held)
        if not self.operational and drives(state):
            state = self.state
        self._word = word
        changed = state is not self.state
        if self.state is PowerState.FAULT and changed:
            self._reset_fault()
            if self._causes:
                return
        if changed:
            self._enter(state)
        self._steady = not changed

    def _enter(self, state: PowerState) -> None:
        """Change the power state."""
        was, self.state = drives(self.state), state
        commands = self.bench.commands
        if not drives(state):
            commands[:] = 0.0
            self._limited = False
        elif not was:
            self.bench.restart_control()
            self.bench.state[k.TRAJECTORY_RATE] = 0.0
        if state in (PowerState.QUICK_STOP_ACTIVE, PowerState.FAULT_REACTION_ACTIVE):
            free = (
                self.objects.quick_stop
                if state is PowerState.QUICK_STOP_ACTIVE
                else self.objects.fault_reaction
            ).value
            if free == FREE:
                self._stopped()
            else:
                self.bench.restart_control()
                commands[:] = 0.0
                commands[k.MODE] = k.STOPPING
                commands[k.CURRENT_LIMIT] = self._largest_current
                commands[k.DECELERATION] = self.objects.deceleration.value / k.COUNTS_PER_RAD
        if state is PowerState.OPERATION_ENABLED:
            self._follow(fresh=True)

    def _stopped(self) -> None:
        """Leave quick stop or fault reaction, at rest or free."""
        if self.state is PowerState.FAULT_REACTION_ACTIVE:
            self._enter(PowerState.FAULT)
        elif self.objects.quick_stop.value != RAMP_AND_HOLD:
            self._enter(PowerState.SWITCH_ON_DISABLED)

    @property
    def _largest_current(self) -> float:
        return self.objects.maximum_torque.value * 1e-3 * self.rated_current

    def _follow(self, fresh: bool = False) -> None:
        """Hand the targets to the bench."""
        commands = self.bench.commands
        mode = self.objects.mode.value
        kind = _MODES.get(mode)
        if kind is None:
            mode = self.objects.mode_display.value
            kind = _MODES[mode]
        if fresh or mode != self.objects.mode_display.value or commands[k.MODE] != kind:
            self.bench.restart_control()
            self.bench.state[k.TRAJECTORY_RATE] = 0.0
            self.objects.mode_display.value = mode
            commands[k.MODE] = kind
        limit = self._largest_current
        commands[k.CURRENT_LIMIT] = limit
        self._limited = False
        if mode == CST:
            commands[k.GOAL_CURRENT] = self._allowed_current(limit)
        elif mode == CSV:
            fastest = min(max(self.objects.target_velocity.value, -FASTEST), FASTEST)
            commands[k.GOAL_VELOCITY] = fastest / k.COUNTS_PER_RAD
        else:
            self._lead()

    def _allowed_current(self, limit: float) -> float:
        """Return the current for the target torque; past a software limit only back, never further."""
        share = self.objects.target_torque.value + self.objects.torque_offset.value
        current = share * 1e-3 * self.rated_current
        low, high = self.objects.lowest.value, self.objects.highest.value
        if low < high:
            position = self.bench.count - self._offset
            if (position >= high and current > 0.0) or (position <= low and current < 0.0):
                self._limited = True
                return 0.0
        if abs(current) > limit:
            self._limited = True
        return current

    def _lead(self) -> None:
        """Set the goal of position control, with the rate that brings it there in one period."""
        commands, state = self.bench.commands, self.bench.state
        goal = self.objects.target_position.value
        low, high = self.objects.lowest.value, self.objects.highest.value
        if low < high:
            clipped = min(max(goal, low), high)
            self._limited = clipped != goal
            goal = clipped
        counts = goal + self._offset
        if counts != commands[k.GOAL] or commands[k.PERIOD] == 0.0:
            period = self.objects.period.value * 10.0**self.objects.period_index.value
            rate = (counts - float(state[k.TRAJECTORY])) / period
            state[k.TRAJECTORY_RATE] = min(max(rate, -FASTEST), FASTEST)
            commands[k.GOAL] = counts
            commands[k.PERIOD] = period

    # what the bus reads

    def sample(self, now: int) -> None:
        """Bring the bench and the measured objects up to the clock, ns."""
        bench = self.bench
        bench.advance_to(now)
        position, velocity, current, supply, temperature, _, trajectory, rate, _, measured, _, _ = (
            bench.state.tolist()
        )
        count = math.floor(position * k.COUNTS_PER_RAD + 0.5) - self._offset
        share = round(current / self.rated_current * 1000.0)
        if "encoder" not in self._causes:  # a broken one keeps showing what it showed last
            self.objects.position.value = (count + 0x80000000) % 0x100000000 - 0x80000000
            self.objects.velocity.value = round(measured * k.COUNTS_PER_RAD)
        self.objects.torque.value = self.objects.current.value = min(max(share, -32768), 32767)
        self.objects.voltage.value = max(round(supply * 1000.0), 0)
        if self.state is PowerState.OPERATION_ENABLED:
            self._watch_following(trajectory, count, now)
        elif drives(self.state) and abs(velocity) < _AT_REST and rate == 0.0:
            self._stopped()
        if now >= self._next_check:
            self._next_check = now + _PROTECTION_PERIOD
            self._check_protection(supply, temperature + bench.temperature_offset)
        self.objects.statusword.value = self._status()

    def _watch_following(self, trajectory: float, count: int, now: int) -> None:
        if self.objects.mode_display.value != CSP:
            self._following_since = now
            return
        demand = round(trajectory) - self._offset
        self.objects.position_demand.value = demand
        error = demand - count
        self.objects.following_error.value = min(max(error, -0x80000000), 0x7FFFFFFF)
        if abs(error) <= self.objects.window.value:
            self._following_since = now
        elif now - self._following_since > self.objects.window_time.value * 1_000_000:
            self.fault(FOLLOWING_FAULT)

    def _check_protection(self, supply: float, temperature: float) -> None:
        """Check what the drive protects itself from."""
        if supply < LOWEST_VOLTAGE:
            self.fault(LASTING_FAULTS["undervoltage"])
        elif supply > HIGHEST_VOLTAGE:
            self.fault(LASTING_FAULTS["overvoltage"])
        elif temperature > HIGHEST_TEMPERATURE:
            self.fault(LASTING_FAULTS["overheat"])
        elif "encoder" in self._causes:
            self.fault(LASTING_FAULTS["encoder"])

    def _status(self) -> int:
        state = self.state
        word = state.value | VOLTAGE_ENABLED | (REMOTE if self.operational else 0)
        if self._limited:
            word |= LIMIT
        if state is PowerState.OPERATION_ENABLED and self._word & ENABLE_OPERATION:
            word |= FOLLOWS
            if (
                self.objects.mode_display.value == CSP
                and self.objects.following_error.value > self.objects.window.value
            ):
                word |= FOLLOWING_ERROR
        elif state is PowerState.QUICK_STOP_ACTIVE and self.bench.state[k.TRAJECTORY_RATE] == 0.0:
            word |= TARGET_REACHED
        return word

    # faults

    def fault(self, code: int, *, at_once: bool = False) -> None:
        """Report a fault and stop, by the fault reaction or at once; a second one changes nothing."""
        if self.state in (PowerState.FAULT, PowerState.FAULT_REACTION_ACTIVE):
            return
        self.error_code.value = code
        register = 0x01 | _REGISTER.get(code >> 12, 0x80)
        self.objects.error_register.value = register
        running = drives(self.state) and not at_once
        self._enter(PowerState.FAULT_REACTION_ACTIVE if running else PowerState.FAULT)
        self._steady = False
        self.objects.statusword.value = self._status()
        self.on_fault(code, register)

    def _reset_fault(self) -> None:
        self.state = PowerState.SWITCH_ON_DISABLED
        self.error_code.value = 0
        self.objects.error_register.value = 0
        self._steady = False
        self.on_fault(0, 0)
        for name in self._causes:
            self.fault(LASTING_FAULTS[name])

    def inject(self, fault: str | int) -> None:
        """Break something: one of DRIVE_FAULTS, or a fault code as an event.

        Raises:
            BamError: no such fault.
        """
        if isinstance(fault, int):
            self.fault(fault)
            return
        if fault in MOMENTARY_FAULTS:
            self.fault(MOMENTARY_FAULTS[fault])
            return
        if fault not in LASTING_FAULTS:
            raise UnknownName("fault", fault, DRIVE_FAULTS)
        self._causes.add(fault)
        if fault == "undervoltage":
            self.bench.set_supply(LOWEST_VOLTAGE - 1.0)
        elif fault == "overvoltage":
            self.bench.set_supply(HIGHEST_VOLTAGE + 1.0)
        elif fault == "overheat":
            self.bench.temperature_offset = HIGHEST_TEMPERATURE
        self.fault(LASTING_FAULTS[fault])

    def repair(self) -> None:
        """Undo what `inject` did; the fault stays until the master resets it."""
        self._causes.clear()
        self.bench.set_supply(self._supply)
        self.bench.state[physics.SUPPLY] = self._supply
        self.bench.temperature_offset = 0.0
