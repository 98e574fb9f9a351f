# SPDX-License-Identifier: Apache-2.0
"""What a driver of the matrix has on its bus, what it says of itself, and how it is broken."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import ClassVar

from bam_core.errors import Unsupported
from bam_core.mujoco import BENCH_JOINT
from bam_ros.emulators.controlled_process import ControlledProcess
from bam_ros.emulators.dynamixel.process import VirtualBusProcess
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from studies.emulated_drives import EMULATED_TIMEOUT, EMULATED_WATCHDOG

JOINTS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
MASS, LENGTH = 0.5, 0.15  # kg and m of the load of each joint
TORQUE_ON_SPEED = 0.3
"""rad/s of the ramp after torque on: slow enough for something to happen meanwhile."""
_BODY = """
<body pos="{place} 0 0">
  <joint name="{name}" axis="0 1 0"/>
  <geom type="sphere" size="0.02" pos="0 0 -0.15" mass="0.5"/>
</body>"""
_LOAD = ("--mass", str(MASS), "--arm-mass", "0.0", "--length", str(LENGTH))


class Servos(ABC):
    """Servos and their bus.

    Args:
        count: of joints.

    Attributes:
        driver: name in the table.
        module: of the driver's node.
        servo: name in the library, of a session; "" where nothing is recorded.
        kp: that the session sets.
        by_position: whether clients command positions.
        rate: most states per second; enough for all bounds, and little enough for shared processors.
        lenient: parameters of a driver whose emulated servos share a busy machine with it for long.
    """

    driver: ClassVar[str]
    module: ClassVar[str]
    servo: ClassVar[str] = ""
    kp: ClassVar[float] = 16.0
    by_position: ClassVar[bool] = True
    rate: ClassVar[float] = 200.0
    lenient: ClassVar[Mapping[str, object]] = MappingProxyType({})

    def __init__(self, count: int) -> None:
        self.joints = JOINTS[:count]

    @property
    def node(self) -> str:
        """Name of the driver's node."""
        return self.module.split(".")[1]

    @property
    def parameters(self) -> dict[str, object]:
        """Of the driver."""
        return {
            "joint_names": list(self.joints),
            "torque_on_speed": TORQUE_ON_SPEED,
            "rate": self.rate,
        }

    @abstractmethod
    def driven(self) -> tuple[bool, ...] | None:
        """Whether the controller of each servo moves its motor now; None where only the driver knows."""

    def sdo_requests(self) -> int:
        """How many SDO requests the first drive got since `abort` was told; others than drives get none."""
        return 0

    def request(self, line: str) -> None:
        """Break or repair something: a line that the emulator executes."""
        raise Unsupported(self.driver, f"does not know {line!r}", advice="leave this event out")

    def __enter__(self) -> Servos:
        """Start them."""
        return self

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them."""


class Emulated(Servos):
    """Servos that an emulator serves."""

    _state_keys: ClassVar[tuple[str, str]]  # what the emulator calls its servos, and whether one is driven

    def __init__(self, count: int, emulator: ControlledProcess) -> None:
        super().__init__(count)
        self.emulator = emulator

    def driven(self) -> tuple[bool, ...] | None:
        """See `Servos.driven`."""
        servos, driven = self._state_keys
        return tuple(bool(servo[driven]) for servo in self.emulator.look()[servos])

    def request(self, line: str) -> None:
        """See `Servos.request`."""
        self.emulator.request(line)

    def __enter__(self) -> Servos:
        """Start the emulator."""
        self.emulator.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.emulator.stop()


class Dynamixel(Emulated):
    """Servos of protocol 2.0 on a serial line."""

    driver = "dynamixel 2"
    module = "bam_ros.dynamixel.node"
    servo = "mx106_2"
    kp = 400.0
    lenient = MappingProxyType({"watchdog": 2.5, "answer_timeout": 0.25, "failures": 100})
    emulator_module: ClassVar[str] = "bam_ros.emulators.dynamixel"
    emulated: ClassVar[str] = "mx106_2"  # where nothing is recorded
    _state_keys = ("servos", "driven")

    def __init__(self, count: int) -> None:
        ids = range(1, 1 + count)
        self._bus = VirtualBusProcess(self.servo or self.emulated, ids, *_LOAD, module=self.emulator_module)
        super().__init__(count, self._bus)

    @property
    def parameters(self) -> dict[str, object]:
        """Of the driver."""
        ids = list(range(1, 1 + len(self.joints)))
        return {**super().parameters, "port": self._bus.port, "baud_rate": 1_000_000, "ids": ids}


class OldDynamixel(Dynamixel):
    """Servos of protocol 1.0, which have no watchdog and no reboot."""

    driver = "dynamixel 1"
    servo = "mx106"
    kp = 16.0


class Feetech(Dynamixel):
    """STS servos, which have no watchdog and no reboot."""

    driver = "feetech"
    module = "bam_ros.feetech.node"
    servo = "sts3215"
    kp = 16.0
    emulator_module = "bam_ros.emulators.feetech"


class XSeries(Dynamixel):
    """Servos of the X series, whose state is packed and read in one packet."""

    driver = "dynamixel x"
    servo = "xm430_w350"


class CurrentBased(XSeries):
    """Servos that follow positions with a limited current; their runs are not recorded."""

    driver = "dynamixel current"
    servo = ""
    emulated = XSeries.servo

    @property
    def parameters(self) -> dict[str, object]:
        """Of the driver."""
        return {**super().parameters, "current_limit": 1.0}


class AxSeries(OldDynamixel):
    """AX servos: Protocol 1.0, compliance slopes instead of gains, no bulk read; no model has their law."""

    driver = "dynamixel ax"
    servo = ""
    emulated = "ax12a"


class PSeries(Dynamixel):
    """Servos of the P series: position, velocity and current in cascade, which no model has."""

    driver = "dynamixel p"
    servo = ""
    emulated = "pm54_040_s250"


class ProSeries(Dynamixel):
    """Servos of the PRO series: as those of the P series, without a watchdog."""

    driver = "dynamixel pro"
    servo = ""
    emulated = "h54_100_s500_r"


class FeedForward(Dynamixel):
    """Servos that the node commands by duty."""

    driver = "feedforward"
    module = "bam_ros.feedforward.node"
    servo = ""
    by_position = False
    rate = 500.0  # its PID runs with it

    model: ClassVar[str] = "mx106"  # whose law the node's PID has

    @property
    def parameters(self) -> dict[str, object]:
        """Of the driver."""
        return {**super().parameters, "servos": [self.model]}


class FeedForwardX(FeedForward):
    """The same with servos of the X series in PWM mode, whose state is packed."""

    driver = "feedforward x"
    emulated = XSeries.servo
    model = XSeries.servo


class Erob(Emulated):
    """Drives on an EtherCAT segment."""

    driver = "erob"
    module = "bam_ros.erob.node"
    servo = "erob80_100"
    kp = 25.0
    lenient = MappingProxyType({"cycle_rate": 250.0})
    _state_keys = ("slaves", "torque_enabled")

    def __init__(self, count: int) -> None:
        self._segment = VirtualSegmentProcess(count, *_LOAD)
        super().__init__(count, self._segment)

    @property
    def parameters(self) -> dict[str, object]:
        """Of the driver; emulated drives wait for their turn on processors that others use, too."""
        return {
            **super().parameters,
            "interface": self._segment.interface,
            "positions": list(range(1, 1 + len(self.joints))),
            "cycle_rate": 500.0,
            "watchdog": EMULATED_WATCHDOG,
            "answer_timeout": EMULATED_TIMEOUT,
            # With a wire's watchdog (0.05 s) the master finds the reason before five reads of 20 ms are lost.
            "failures": 100,
        }

    def sdo_requests(self) -> int:
        """See `Servos.sdo_requests`."""
        return int(self.emulator.look()["slaves"][0]["sdo_requests"])


class Simulated(Servos):
    """Servos in MuJoCo, which are part of the driver's process."""

    driver = "simulator"
    module = "bam_ros.simulator.node"
    servo = "mx106"

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._directory = tempfile.TemporaryDirectory(prefix="bam_faults_")
        self._model = ""  # the pendulum bench
        if count == 1:
            self.joints = (BENCH_JOINT,)
        else:
            path = Path(self._directory.name) / "arms.xml"
            bodies = "".join(_BODY.format(place=place, name=name) for place, name in enumerate(self.joints))
            path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
            self._model = str(path)

    @property
    def parameters(self) -> dict[str, object]:
        """Of the driver."""
        model = {"model": self._model} if self._model else {"mass": MASS, "length": LENGTH}
        return {**super().parameters, "servos": [self.servo], **model}

    def driven(self) -> tuple[bool, ...] | None:
        """See `Servos.driven`."""
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the model."""
        self._directory.cleanup()


DRIVERS: Mapping[str, type[Servos]] = {
    kind.driver: kind
    for kind in (
        *(OldDynamixel, AxSeries, Dynamixel, XSeries, CurrentBased, PSeries, ProSeries),
        *(Feetech, Erob, Simulated, FeedForward, FeedForwardX),
    )
}


def ros_arguments(parameters: Mapping[str, object]) -> Sequence[str]:
    """Return parameters as arguments of a node."""
    words = ["--ros-args"]
    for name, value in parameters.items():
        text = "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else str(value)
        words += ["-p", f"{name}:={text}"]
    return words
