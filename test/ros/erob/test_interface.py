# SPDX-License-Identifier: Apache-2.0
"""Network interfaces are those of the process' own network namespace, whatever /sys shows."""

from __future__ import annotations

import subprocess
import sys

from bam_ros.erob.interface import has_carrier, interface_names, is_up
from test.missing import skip_or_fail

IN_A_NAMESPACE = """
from bam_ros.emulators.erob.server import _claim_cable
from bam_ros.emulators.erob.veth import VethPair
from bam_ros.erob.interface import has_carrier, interface_names, is_up
from bam_core.errors import Conflict

with VethPair("nsm", "nss"):
    assert {"nsm", "nss"} <= set(interface_names()), interface_names()
    assert is_up("nsm") and has_carrier("nsm")
    claim = _claim_cable("nss")
    try:
        _claim_cable("nsm")
    except Conflict:
        print("one cable")
    claim.close()
"""


def test_a_network_namespace_without_a_sys_of_its_own_has_its_interfaces() -> None:
    ended = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", IN_A_NAMESPACE], capture_output=True, text=True
    )
    if "Operation not permitted" in ended.stderr or "CAP_" in ended.stderr:
        skip_or_fail(ended.stderr.strip().splitlines()[-1])
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "one cable"


def test_an_interface_that_is_not_there_is_neither_up_nor_connected() -> None:
    assert "lo" not in interface_names()
    assert not is_up("nowhere")
    assert not has_carrier("nowhere")
