# SPDX-License-Identifier: Apache-2.0
"""Fault codes of a drive (0x603F, CiA 402) by name and with their cure, and as bits of `ServoStates`."""

from __future__ import annotations

from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.text.erob_notices import DriveFault

_SUPPLY = "check the supply, its cable and what braking feeds back"
_CURRENT = "reduce load, gain or speed; if it persists check the motor's cable"
_WIRING = "switch the supply off and check the motor's cable and windings"
_HEAT = "let the drive cool down, then reduce load or duty cycle"
_INSIDE = "switch the supply off and on; if it persists the drive is broken"
_SETTINGS = "correct the drive's parameters with its vendor's tool"
_SENSOR = "switch the supply off and on; if it persists the encoder is broken"
_LINE = "check the cable, and that the master has its processor to itself"
_MOTION = "free the shaft, or reduce load and speed"

_O, _S, _V = HardwareError.OVERLOAD, HardwareError.ELECTRICAL_SHOCK, HardwareError.INPUT_VOLTAGE
_T, _E, _D = HardwareError.OVERHEATING, HardwareError.ENCODER, HardwareError.DRIVE

# The code itself, or what the codes of its group have in common where it has no entry: more zeros, wider.
_FAULTS: dict[int, tuple[str, HardwareError, str]] = {
    0x1000: ("generic error", _D, _INSIDE),
    0x2000: ("current", _O, _CURRENT),
    0x2110: ("short circuit to earth at the input", _S, _WIRING),
    0x2120: ("earth leakage at the input", _S, _WIRING),
    0x2200: ("internal current", _O, _CURRENT),
    0x2211: ("internal overcurrent 1", _O, _CURRENT),
    0x2212: ("internal overcurrent 2", _O, _CURRENT),
    0x2220: ("continuous overcurrent inside the drive", _O, _CURRENT),
    0x2230: ("short circuit inside the drive", _S, _INSIDE),
    0x2300: ("output current", _O, _CURRENT),
    0x2310: ("continuous overcurrent", _O, _CURRENT),
    0x2311: ("overcurrent 1", _O, _CURRENT),
    0x2312: ("overcurrent 2", _O, _CURRENT),
    0x2320: ("short circuit or earth leakage at the motor", _S, _WIRING),
    0x2330: ("earth leakage at the motor", _S, _WIRING),
    0x2340: ("short circuit between motor phases", _S, _WIRING),
    0x2350: ("load level, thermal state (I²t)", _O, _CURRENT),
    0x3000: ("voltage", _V, _SUPPLY),
    0x3110: ("mains overvoltage", _V, _SUPPLY),
    0x3120: ("mains undervoltage", _V, _SUPPLY),
    0x3130: ("phase failure", _V, _SUPPLY),
    0x3210: ("DC link overvoltage", _V, _SUPPLY),
    0x3220: ("DC link undervoltage", _V, _SUPPLY),
    0x3230: ("load error", _O, _MOTION),
    0x3300: ("output voltage", _V, _SUPPLY),
    0x3310: ("output overvoltage", _V, _SUPPLY),
    0x4000: ("temperature", _T, _HEAT),
    0x4210: ("drive too hot", _T, _HEAT),
    0x4220: ("drive too cold", _T, "warm the drive up"),
    0x4310: ("motor too hot", _T, _HEAT),
    0x4320: ("motor too cold", _T, "warm the motor up"),
    0x5000: ("hardware of the drive", _D, _INSIDE),
    0x5100: ("supply inside the drive", _S, _SUPPLY),
    0x5110: ("low-voltage supply", _S, _SUPPLY),
    0x5200: ("control electronics", _D, _INSIDE),
    0x5210: ("measurement circuit", _D, _INSIDE),
    0x5220: ("computing circuit", _D, _INSIDE),
    0x5300: ("operating unit", _D, _INSIDE),
    0x5400: ("power section", _S, _INSIDE),
    0x5410: ("output stages", _S, _INSIDE),
    0x5440: ("contacts", _D, _INSIDE),
    0x5441: ("safe torque off", _D, "close the safety circuit (STO)"),
    0x5500: ("memory of the drive", _D, _INSIDE),
    0x5530: ("parameter memory", _D, _INSIDE),
    0x6000: ("software of the drive", _D, _INSIDE),
    0x6010: ("software reset (watchdog)", _D, _INSIDE),
    0x6100: ("internal software", _D, _INSIDE),
    0x6300: ("data record", _D, _SETTINGS),
    0x6310: ("loss of parameters", _D, _SETTINGS),
    0x6320: ("parameter error", _D, _SETTINGS),
    0x7000: ("additional modules", _D, _INSIDE),
    0x7110: ("brake chopper", _V, _SUPPLY),
    0x7120: ("motor", _O, _MOTION),
    0x7121: ("motor blocked", _O, _MOTION),
    0x7122: ("motor error or wrong commutation", _O, _SETTINGS),
    0x7123: ("motor tilted", _O, _MOTION),
    0x7200: ("measurement circuit", _D, _INSIDE),
    0x7300: ("sensor", _E, _SENSOR),
    0x7305: ("incremental encoder 1", _E, _SENSOR),
    0x7306: ("incremental encoder 2", _E, _SENSOR),
    0x7310: ("speed sensor", _E, _SENSOR),
    0x7320: ("position sensor", _E, _SENSOR),
    0x7380: ("encoder communication", _E, _SENSOR),
    0x7500: ("communication module of the drive", _D, _LINE),
    0x7510: ("serial interface 1", _D, _LINE),
    0x7600: ("data storage", _D, _INSIDE),
    0x8000: ("monitoring", _D, _LINE),
    0x8100: ("communication", _D, _LINE),
    0x8180: ("process data stayed away (watchdog)", _D, _LINE),
    0x8200: ("protocol", _D, _LINE),
    0x8210: ("process data too short", _D, _LINE),
    0x8300: ("torque control", _O, _MOTION),
    0x8311: ("excess torque", _O, _MOTION),
    0x8312: ("difficult start-up", _O, _MOTION),
    0x8313: ("standstill torque", _O, _MOTION),
    0x8321: ("insufficient torque", _O, _MOTION),
    0x8400: ("speed control", _O, _MOTION),
    0x8500: ("position control", _O, _MOTION),
    0x8600: ("positioning", _O, _MOTION),
    0x8611: ("following error", _O, _MOTION),
    0x8612: ("reference limit", _O, "keep goals within the drive's limits"),
    0x8700: ("synchronisation with the bus clock", _D, _LINE),
    0x9000: ("external error", _D, "look at what is wired to the drive's inputs"),
    0xA000: ("EtherCAT state change", _D, _LINE),
    0xF000: ("additional functions", _D, _INSIDE),
    0xFF00: ("error that only its vendor knows", _D, "look it up in the manual of the drive"),
}


def _entry(code: int) -> tuple[str, HardwareError, str]:
    """Return the entry of a code, of its group, or of its class."""
    for mask in (0xFFFF, 0xFFF0, 0xFF00, 0xF000):
        if (entry := _FAULTS.get(code & mask)) is not None:
            return entry
    return _FAULTS[0xFF00]


def fault_bits(code: int) -> HardwareError:
    """Return the bit of `ServoStates` that a fault code means; a drive in fault always has one."""
    return _entry(code)[1]


def drive_fault(joint: str, code: int) -> DriveFault:
    """Return the fault of a joint's drive, with its name and cure."""
    name, _, cure = _entry(code)
    return DriveFault(joint=joint, code=code, name=name, cure=cure)
