# SPDX-License-Identifier: Apache-2.0
"""The table of what nodes listen to, and their policies, are those of the nodes as they are."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.studies.security import NODES, PAGE, POLICIES, page, policy


def test_the_page_has_the_table_of_today() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run python -m bam_ros.studies.security"


def test_every_node_has_its_policy_and_there_are_no_others() -> None:
    names = {f"{about.name}.policy.xml" for about in NODES}
    assert {path.name for path in POLICIES.iterdir()} == names


@pytest.mark.parametrize("about", NODES, ids=lambda about: about.name)
def test_a_policy_allows_what_the_node_says_it_does(about: NodeAbout) -> None:
    text = (POLICIES / f"{about.name}.policy.xml").read_text(encoding="utf-8")
    assert text == policy(about), "run python -m bam_ros.studies.security"
    root = ElementTree.fromstring(text.encode())
    (profile,) = root.iter("profile")
    assert profile.get("node") == about.name
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
    assert policy(replace(about, interfaces=(*about.interfaces, more))) != policy(about)
    assert f"{about.name}/more" in policy(replace(about, interfaces=(*about.interfaces, more)))
