# SPDX-License-Identifier: Apache-2.0
"""The `virtual_feetech` node: a process that serves the bus, and its services over DDS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import scservo_sdk
import yaml
from bam_bench.srv import SetLoad
from std_srvs.srv import Trigger

from test.ros.ros_client import RosClient
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros


def test_the_node_serves_a_bus_and_its_services(ros_domain: int, tmp_path: Path) -> None:
    link = tmp_path / "bus"
    parameters = [f"link:={link}", "servo:=sts3250", "id:=3", "seed:=4"]
    words = [word for parameter in parameters for word in ("-p", parameter)]
    process = subprocess.Popen(
        [sys.executable, "-m", "bam_ros.emulators.feetech.node", "--ros-args", *words], text=True
    )
    client = RosClient(ros_domain)
    try:
        wait_for(lambda: os.path.lexists(link), what="the link")
        port = scservo_sdk.PortHandler(str(link))
        port.baudrate = 1_000_000
        assert port.openPort()
        handler = scservo_sdk.sms_sts(port)
        wait_for(lambda: handler.ping(3)[:2] == (2825, scservo_sdk.COMM_SUCCESS), what="an STS3250")
        port.closePort()
        truth = yaml.safe_load(client.call(Trigger, "/virtual_feetech/reveal", Trigger.Request()).message)
        assert truth["motor"]["resistance"] > 0.0
        load = SetLoad.Request(mass=0.8, arm_mass=0.0, length=0.2)
        assert client.call(SetLoad, "/virtual_feetech/set_load", load).success
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 0
    finally:
        client.close()
        process.kill()
        process.wait()
