# SPDX-License-Identifier: Apache-2.0
"""The tables of what nodes offer, and their policies, are those of the nodes as they are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from node_policies import LINKS, NODES, POLICIES, PROCESSES, REFERENCE, TABLES, page, policy

from bam_ros.composition.main import MODULES
from bam_ros.node.node_about import Interface, NodeAbout


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.stem)
def test_a_page_has_the_table_of_today(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == page(file), "run python tools/node_policies.py"


@pytest.mark.parametrize("about", NODES, ids=lambda about: about.name)
def test_the_reference_has_every_interface_of_a_node(about: NodeAbout) -> None:
    rows = {
        row.split("|")[1].strip(" `"): set(re.findall(r"`([^`]+)`", row.partition("|")[2].partition("|")[2]))
        for row in REFERENCE.read_text(encoding="utf-8").splitlines()
        if row.startswith("| ")
    }
    told = rows[about.name] | (rows["every driver"] if "~/set_gains" in offered(about) else set())
    assert told == offered(about)


def offered(about: NodeAbout) -> set[str]:
    return {interface.name for interface in about.interfaces}


@pytest.mark.parametrize("about", NODES, ids=lambda about: about.name)
def test_services_and_actions_have_names_of_their_node(about: NodeAbout) -> None:
    """But for those that a whole bench has one of."""
    of_bench = {"record", "identify", "identify_model"}
    asked = {each.name for each in about.interfaces if each.kind in ("service", "action")} - of_bench
    assert [name for name in asked if not name.startswith("~/")] == []


def profiles(name: str) -> dict[str, ElementTree.Element]:
    """Return what the policy of a process allows, by node."""
    root = ElementTree.parse(POLICIES / f"{name}.policy.xml")
    (enclave,) = root.iter("enclave")
    assert enclave.get("path") == f"/bam_bench/{name}"
    return {str(profile.get("node")): profile for profile in enclave.iter("profile")}


def test_every_node_has_its_policy_and_there_are_no_others() -> None:
    names = {f"{name}.policy.xml" for name in PROCESSES}
    assert {path.name for path in POLICIES.iterdir()} == names
    assert set(PROCESSES) == {*(about.name for about in NODES), "composition"}


@pytest.mark.parametrize("name", PROCESSES)
def test_the_policies_are_those_of_today(name: str) -> None:
    text = (POLICIES / f"{name}.policy.xml").read_text(encoding="utf-8")
    assert text == policy(name, PROCESSES[name]), "run python tools/node_policies.py"


def test_nodes_in_one_process_may_do_there_what_each_may_alone_and_nothing_else() -> None:
    """A process has one enclave: what it lacks, none of its nodes may do."""
    together = profiles("composition")
    assert set(together) == {*MODULES, *LINKS.values()}
    alone = {node: profile for name in MODULES for node, profile in profiles(name).items()}
    for node, profile in together.items():
        assert ElementTree.tostring(profile).strip() == ElementTree.tostring(alone[node]).strip()


def test_the_node_by_which_the_recorder_speaks_to_drivers_may_do_so() -> None:
    link = profiles("recorder")[LINKS["recorder"]]
    allowed = {item.text for group in link for item in group}
    assert {"servo_commands", "servo_states", "dynamixel/set_gains", "simulator/set_gains"} <= allowed


@pytest.mark.parametrize("about", NODES, ids=lambda about: about.name)
def test_a_policy_allows_what_the_node_says_it_does(about: NodeAbout) -> None:
    found = profiles(about.name)
    assert set(found) == {about.name, *([LINKS[about.name]] if about.name in LINKS else [])}
    profile = found[about.name]
    verbs = {"publishes": "publish", "subscribes": "subscribe", "service": "reply", "action": "execute"}
    for each in about.interfaces:
        allowed = {
            item.text
            for group in profile
            if group.get(verbs[each.kind]) == "ALLOW" and (each.kind == "action") == (group.tag == "actions")
            for item in group
        }
        assert each.name.replace("~/", f"{about.name}/").removeprefix("/") in allowed


def test_another_service_changes_the_policy() -> None:
    more = Interface(kind="service", name="~/more", type="std_srvs/Trigger", purpose="x")
    about = NODES[0]
    changed = replace(about, interfaces=(*about.interfaces, more))
    assert f"{about.name}/more" in policy(about.name, [changed])
    assert f"{about.name}/more" not in policy(about.name, [about])
