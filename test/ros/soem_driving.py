# SPDX-License-Identifier: Apache-2.0
"""A master that turns torque on, says so, and goes on until it is killed."""

from __future__ import annotations

import struct
import sys

import pysoem

from test.ros.soem_cases import exchange

CONTROL_WORDS = (0x06, 0x07, 0x0F)


def main(interface: str) -> None:
    master = pysoem.Master()
    master.open(interface)

    def map_torque(slave: int) -> None:
        drive = master.slaves[slave]
        drive.sdo_write(0x1600, 0, b"\0")
        for i, word in enumerate((0x60710010, 0x60400010, 0x60600008, 0x00000008), 1):
            drive.sdo_write(0x1600, i, struct.pack("<I", word))
        drive.sdo_write(0x1600, 0, b"\4")

    assert master.config_init() == 1
    master.slaves[0].config_func = map_torque
    to_op_mapped(master)
    for word in (*CONTROL_WORDS, CONTROL_WORDS[-1]):
        for _ in range(5):
            master.slaves[0].output = struct.pack("<hHbx", 300, word, 10)
            exchange(master)
    print("driving", flush=True)
    while True:
        exchange(master)


def to_op_mapped(master: pysoem.Master) -> None:
    master.config_map()
    assert len(master.slaves[0].output) == 6
    master.config_dc()
    master.state_check(pysoem.SAFEOP_STATE, 500_000)
    master.state = pysoem.OP_STATE
    exchange(master)
    master.write_state()
    for _ in range(3000):
        exchange(master)
        master.read_state()
        if master.state == pysoem.OP_STATE:
            return
    raise SystemExit("no OP")


if __name__ == "__main__":
    main(sys.argv[1])
