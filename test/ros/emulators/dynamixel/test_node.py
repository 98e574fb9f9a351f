# SPDX-License-Identifier: Apache-2.0
"""The `virtual_dynamixel` node: a process that serves the bus, and its services over DDS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
import yaml
from bam_bench.msg import ServoStates
from bam_bench.srv import SetLoad
from dynamixel_sdk import COMM_SUCCESS
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from std_srvs.srv import Trigger

from bam_ros.driver.servo_node import STATE_QOS
from bam_ros.dynamixel.control_table import control_table
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import LATE, PATIENCE, wait_for
from test.ros.virtual_helpers import Client

pytestmark = pytest.mark.ros

NODE = f"""
import sys
from bam_ros.emulators.dynamixel import node
node.CLIENT_PATIENCE = {PATIENCE}
sys.exit(node.main(sys.argv[1:]))
"""
DRIVER = "import sys; from bam_ros.dynamixel.node import main; sys.exit(main(sys.argv[1:]))"


def start(*parameters: str, program: str = NODE) -> subprocess.Popen:
    arguments = [word for parameter in parameters for word in ("-p", parameter)]
    return subprocess.Popen(
        [sys.executable, "-c", program, "--ros-args", *arguments], stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def asker(ros_domain):
    client = RosClient(ros_domain)
    yield lambda kind, name, **fields: client.call(kind, name, kind.Request(**fields))
    client.close()


def test_the_node_serves_a_bus_and_its_services(asker, tmp_path):
    link = tmp_path / "bus"
    process = start("servo:=mx106_2", "id:=3", f"link:={link}", "seed:=4", "mass:=0.4", "length:=0.12")
    try:
        wait_for(lambda: os.path.lexists(link), what="the link")
        client = Client(str(link), control_table("mx106_2"))
        assert client.handler.ping(client.port, 3)[:2] == (321, COMM_SUCCESS)

        truth = yaml.safe_load(asker(Trigger, "/virtual_dynamixel/reveal").message)
        assert truth["friction"]["coulomb"] > 0.0
        assert truth["motor"]["resistance"] > 0.0

        hung = asker(SetLoad, "/virtual_dynamixel/set_load", mass=1.0, arm_mass=0.1, length=0.2)
        assert hung.success, hung.message
        refused = asker(SetLoad, "/virtual_dynamixel/set_load", mass=-1.0, arm_mass=0.1, length=0.2)
        assert not refused.success
        assert "mass" in refused.message
        client.write("torque_enable", 1, 3)
        refused = asker(SetLoad, "/virtual_dynamixel/set_load", mass=0.5, arm_mass=0.1, length=0.2)
        assert not refused.success
        assert "torque is on" in refused.message

        def set_faults(words: str) -> bool:
            value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=words)
            wanted = [Parameter(name="faults", value=value)]
            answer = asker(SetParameters, "/virtual_dynamixel/set_parameters", parameters=wanted)
            return answer.results[0].successful

        assert set_faults("drop=1")
        assert client.silent(3)
        assert set_faults("overheat")
        assert client.handler.ping(client.port, 3)[2] == 0x80
        assert not set_faults("gremlins")
        client.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 0
        assert not os.path.lexists(link)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.long
def test_a_driver_whose_virtual_bench_gets_the_signal_first_ends_without_an_error(ros_domain, tmp_path):
    """Ctrl-C reaches both at once, and so does the end of a launch."""
    link = tmp_path / "bus"
    bench = start(f"link:={link}")
    wait_for(lambda: os.path.lexists(link), what="the link")
    patient = [f"{name}:={value}" for name, value in LATE.items()]
    driver = start(f"port:={link}", "baud_rate:=1000000", "rate:=100.0", *patient, program=DRIVER)
    client = RosClient(ros_domain)
    states = []
    client.node.create_subscription(ServoStates, "servo_states", states.append, STATE_QOS)
    try:
        client.wait_for(lambda: states)
        bench.send_signal(signal.SIGINT)
        known = len(states)
        client.wait_for(lambda: len(states) > known + 50 or driver.poll() is not None)
        driver.send_signal(signal.SIGINT)
        said = driver.communicate(timeout=PATIENCE)[1]
        assert driver.returncode == 0
        assert "[ERROR]" not in said
        assert bench.wait(timeout=PATIENCE) == 0
        assert not os.path.lexists(link)
    finally:
        client.close()
        for process in (driver, bench):
            process.kill()
            process.communicate()


def test_a_node_that_cannot_start_says_why_in_one_line(ros_domain):
    process = start("servo:=mx107")
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    assert "servo 'mx107': unknown" in errors
    assert "Traceback" not in errors
