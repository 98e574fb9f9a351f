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
from ros_helpers import wait_for
from soem_cases import needs_network

rclpy = pytest.importorskip("rclpy")
from bam_bench.srv import SetLoad  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

pytestmark = [pytest.mark.ros, needs_network]

MODULE = [sys.executable, "-m", "bam_ros.erob.virtual.node"]


def exists(interface: str) -> bool:
    return interface in (name for _, name in socket.if_nameindex())


@pytest.fixture
def asker(ros_domain):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node = rclpy.create_node("asker", context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def ask(kind, name, **fields):
        client = node.create_client(kind, name)
        assert client.wait_for_service(timeout_sec=20.0), name
        future = client.call_async(kind.Request(**fields))
        executor.spin_until_future_complete(future, timeout_sec=10.0)
        assert future.done(), name
        return future.result()

    yield ask
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_the_node_serves_a_segment_and_its_services(asker):
    master, slaves = f"en{os.getpid()}m", f"en{os.getpid()}s"
    parameters = (f"create_veth:={master}:{slaves}", "slaves:=2", "seed:=4", "mass:=4.0", "length:=0.4")
    words = [word for parameter in parameters for word in ("-p", parameter)]
    process = subprocess.Popen([*MODULE, "--ros-args", *words], stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: exists(master), 30.0, "the pair")
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
        assert "no such slave" in reason
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20.0)
        assert process.returncode == 0, errors
        assert not exists(master)
    finally:
        process.kill()
        process.communicate()


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
        [*MODULE, "--ros-args", "-p", parameter], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert message in done.stderr
