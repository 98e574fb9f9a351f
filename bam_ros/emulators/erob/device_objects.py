# SPDX-License-Identifier: Apache-2.0
"""Objects that any CANopen device has: what it is, and how it is synchronised."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bam_ros.emulators.erob.object_dictionary import Access, DataType, Entry, ObjectDictionary
from bam_ros.emulators.erob.sii import Identity
from bam_ros.erob.objects import Object

SHORTEST_CYCLE = 500_000
"""Shortest SYNC0 cycle: 2 kHz, ns."""
_SERVO_DRIVE = 0x00020192  # device type: CiA 402, servo drive
_FREE_RUN, _SYNC0 = 1, 2
_VERSION = (
    "Emulated eRob firmware for CiA 402 over EtherCAT: cyclic synchronous position, velocity and torque;"
    " bench physics with friction model M6. This text is longer than one mailbox on purpose, so that reading"
    " it takes several segments of an SDO transfer."
)


def add_device_objects(
    dictionary: ObjectDictionary, identity: Identity, sync0_cycle: Callable[[], int]
) -> None:
    """Add them.

    Args:
        dictionary: gets the objects.
        identity: as the EEPROM has it, too.
        sync0_cycle: returns the cycle of SYNC0, ns; 0 where it is off.
    """
    u16, u32, text = DataType.UNSIGNED16, DataType.UNSIGNED32, DataType.VISIBLE_STRING
    rw = Access.READ_WRITE
    dictionary.add(
        Entry(Object.DEVICE_TYPE, 0, "Device type", u32, _SERVO_DRIVE),
        Entry(Object.DEVICE_NAME, 0, "Device name", text, text=identity.name),
        Entry(Object.HARDWARE_VERSION, 0, "Hardware version", text, text="1.0"),
        Entry(Object.SOFTWARE_VERSION, 0, "Software version", text, text=_VERSION),
    )
    whose = {
        "Vendor ID": identity.vendor,
        "Product code": identity.product,
        "Revision": identity.revision,
        "Serial number": identity.serial,
    }
    _add_record(dictionary, Object.IDENTITY, "Identity", u32, Access.READ, whose)
    reaction = {"Local error reaction": 1, "Sync error counter limit": 4}
    _add_record(dictionary, 0x10F1, "Error settings", u32, rw, reaction)
    kinds = {"SM0": 1, "SM1": 2, "SM2": 3, "SM3": 4}
    _add_record(
        dictionary, Object.SYNC_MANAGER_TYPE, "Sync manager type", DataType.UNSIGNED8, Access.READ, kinds
    )
    for index, name in (
        (Object.OUTPUT_SYNC, "SM output parameter"),
        (Object.INPUT_SYNC, "SM input parameter"),
    ):
        dictionary.add(
            Entry(index, 0, "Number of entries", DataType.UNSIGNED8, 6),
            Entry(
                *(index, 1, "Synchronization type", u16, 0, rw),
                measured=lambda: _SYNC0 if sync0_cycle() else _FREE_RUN,
            ),
            Entry(index, 2, "Cycle time", u32, 0, rw, measured=sync0_cycle),
            Entry(index, 3, "Shift time", u32, 0, rw),
            Entry(index, 4, "Synchronization types supported", u16, 0x0007),
            Entry(index, 5, "Minimum cycle time", u32, SHORTEST_CYCLE),
            Entry(index, 6, "Calc and copy time", u32, 50_000),
            name=name,
        )


def _add_record(
    dictionary: ObjectDictionary,
    index: int,
    name: str,
    kind: DataType,
    access: Access,
    values: Mapping[str, int],
) -> None:
    dictionary.add(
        Entry(index, 0, "Number of entries", DataType.UNSIGNED8, len(values)),
        *(Entry(index, i, title, kind, value, access) for i, (title, value) in enumerate(values.items(), 1)),
        name=name,
    )
