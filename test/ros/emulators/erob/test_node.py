# SPDX-License-Identifier: Apache-2.0
"""The `virtual_erob` node: a process that serves the segment, and its services over DDS."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest
import yaml
from bam_bench.srv import SetLoad
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from std_srvs.srv import Trigger

from test.ros.ros_client import RosClient
from test.ros.ros_helpers import PATIENCE, wait_for
from test.ros.soem_cases import needs_network

pytestmark = [pytest.mark.ros, needs_network]

MODULE = [sys.executable, "-m", "bam_ros.emulators.erob.node"]


def exists(interface: str) -> bool:
    return interface in (name for _, name in socket.if_nameindex())


@pytest.fixture
def asker(ros_domain):
    client = RosClient(ros_domain)
    yield lambda kind, name, **fields: client.call(kind, name, kind.Request(**fields))
    client.close()


def test_the_node_serves_a_segment_and_its_services(asker):
    master, slaves = f"en{os.getpid()}m", f"en{os.getpid()}s"
    parameters = (f"create_veth:={master}:{slaves}", "slaves:=2", "seed:=4", "mass:=4.0", "length:=0.4")
    words = [word for parameter in parameters for word in ("-p", parameter)]
    process = subprocess.Popen([*MODULE, "--ros-args", *words], stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: exists(master), what="the pair")
        truths = list(yaml.safe_load_all(asker(Trigger, "/virtual_erob/reveal").message))
        assert len(truths) == 2
        assert truths[0] != truths[1]
        assert truths[0]["friction"]["viscous"] > 0.0
        hung = asker(SetLoad, "/virtual_erob/set_load", mass=8.2, arm_mass=1.0, length=0.5)
        assert hung.success, hung.message
        refused = asker(SetLoad, "/virtual_erob/set_load", mass=-1.0, arm_mass=0.1, length=0.2)
        assert not refused.success
        assert "mass" in refused.message

        def set_faults(text: str) -> tuple[bool, str]:
            value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=text)
            change = Parameter(name="faults", value=value)
            (result,) = asker(SetParameters, "/virtual_erob/set_parameters", parameters=[change]).results
            return result.successful, result.reason

        assert set_faults("drop=0.1 overcurrent@2")[0]
        assert set_faults("")[0]
        taken, reason = set_faults("lost@3")
        assert not taken
        assert "@1 to @2" in reason
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        assert not exists(master)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.long
@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("create_veth:=one", "expected MASTER:SLAVES"),
        ("servo:=mx106", "servo 'mx106': unknown"),
        ("faults:=gremlins", "fault 'gremlins': unknown"),
    ],
)
def test_bad_parameters_get_one_line_and_status_2(ros_domain, parameter, message):
    done = subprocess.run(
        [*MODULE, "--ros-args", "-p", parameter],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert message in done.stderr
