# SPDX-License-Identifier: Apache-2.0
"""The virtual benches that a demo can use: which servo, on which bus, driven by which node."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from bam_core.servo.model import ServoModel, load_servo
from bam_ros.erob.interface import interface_names
from bam_ros.node.node_processes import NodeProcesses

_LATE = {"watchdog": 2.5, "answer_timeout": 1.0}
"""Parameters of a driver, s, whose emulated servo shares the processors with other programs."""


class DemoBench(ABC):
    """A servo whose friction is hidden, and the node that drives it as it would a real one.

    Attributes:
        servo: name from the servo library.
        session: file below `config/sessions`.
        driver: name of the driving node.
        virtual: name of the node that emulates the servo.
    """

    servo: str
    session: str
    driver: str
    virtual: str

    @property
    def model(self) -> ServoModel:
        """The servo as the library has it."""
        return load_servo(self.servo)

    @abstractmethod
    def start(self, nodes: NodeProcesses, output: Path, seed: int) -> None:
        """Start the virtual servo and its driver."""


class SerialBench(DemoBench):
    """A servo behind a pseudo-terminal.

    Attributes:
        driver_module: of the node that drives.
        virtual_module: of the node that emulates.
    """

    driver_module: str
    virtual_module: str

    def start(self, nodes: NodeProcesses, output: Path, seed: int) -> None:
        """Start both; the port is a link in the output directory."""
        port = output / "bus"
        nodes.start(
            self.virtual,
            self.virtual_module,
            {"servo": self.servo, "link": port, "seed": seed, "baud_rate": 1_000_000},
        )
        nodes.wait_for(port)
        nodes.start(self.driver, self.driver_module, {"port": port, **_LATE})


class DynamixelBench(SerialBench):
    """An MX-106."""

    servo = "mx106"
    session = "quick.yaml"
    driver = "dynamixel"
    driver_module = "bam_ros.dynamixel.node"
    virtual = "virtual_dynamixel"
    virtual_module = "bam_ros.emulators.dynamixel.node"


class XBench(DynamixelBench):
    """An XM430-W350."""

    servo = "xm430_w350"
    session = "quick_xm430.yaml"


class FeetechBench(SerialBench):
    """An STS3215 of 12 V."""

    servo = "sts3215"
    session = "quick_feetech.yaml"
    driver = "feetech"
    driver_module = "bam_ros.feetech.node"
    virtual = "virtual_feetech"
    virtual_module = "bam_ros.emulators.feetech.node"


class ErobBench(DemoBench):
    """An eRob80 1:100 on an EtherCAT segment, which is a pair of virtual network interfaces."""

    servo = "erob80_100"
    session = "quick_erob.yaml"
    driver = "erob"
    virtual = "virtual_erob"

    def start(self, nodes: NodeProcesses, output: Path, seed: int) -> None:
        """Start both; the first ends with a line where raw frames or interfaces are not permitted."""
        # Interface names have 15 characters; the process id keeps two demos apart.
        master, slaves = (f"bam{os.getpid() % 10**6}{end}" for end in "ms")
        nodes.start(
            self.virtual,
            "bam_ros.emulators.erob.node",
            {"servo": self.servo, "create_veth": f"{master}:{slaves}", "seed": seed},
        )
        nodes.wait_until(lambda: master in interface_names(), f"interface {master}")
        nodes.start(self.driver, "bam_ros.erob.node", {"interface": master, "servos": f"[{self.servo}]"})


DEMO_BENCHES: Mapping[str, DemoBench] = MappingProxyType(
    {bench.servo: bench for bench in (DynamixelBench(), XBench(), FeetechBench(), ErobBench())}
)
"""By servo."""
