# SPDX-License-Identifier: Apache-2.0
"""Logs of robots out of bags: what was written comes back, and what is missing is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from bam_core.errors import BadData, Malformed, WrongShape
from bam_core.recordings.bag_writer import BagWriter
from bam_core.recordings.message_definition import message_definition
from bam_core.whole_body import JointLog, estimate_filtered, read_joint_log, single_support
from bam_core.whole_body.bag import CONTACTS_TYPE, STATES_TYPE
from test.core.refusals import refused
from test.core.whole_body_cases import robot, swings, walk
from test.run_bag import COMMON, MESSAGES

JOINT_STATE = """\
std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
"""
START = 1_700_000_000_000_000_000


def definition(msgtype: str) -> str:
    texts = {
        **COMMON,
        STATES_TYPE: JOINT_STATE,
        CONTACTS_TYPE: (MESSAGES / "ContactStates.msg").read_text(),
    }
    return message_definition(msgtype, texts.__getitem__)


def written(
    directory: Path,
    log: JointLog,
    *,
    contacts_from: int = 0,
    effort: bool = True,
    topics: tuple[str, ...] = ("/joint_states",),
) -> Path:
    store = get_typestore(Stores.EMPTY)
    for msgtype in (STATES_TYPE, CONTACTS_TYPE):
        store.register(get_types_from_msg(definition(msgtype), msgtype))

    def header(index: int) -> Any:
        stamp = START + round(log.time[index] * 1e9)
        time = store.types["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
        return store.types["std_msgs/msg/Header"](stamp=time, frame_id="")

    bag = BagWriter(
        directory,
        {
            **{topic: (STATES_TYPE, definition(STATES_TYPE), "") for topic in topics},
            "/contact_states": (CONTACTS_TYPE, definition(CONTACTS_TYPE), ""),
        },
    )
    last = None
    for index in range(len(log)):
        stamp = START + round(log.time[index] * 1e9)
        flags = [bool(each[index]) for each in log.contacts.values()]
        if flags != last and index >= contacts_from and flags:
            kind = store.types[CONTACTS_TYPE]
            message = kind(header=header(index), name=list(log.contacts), standing=np.array(flags))
            bag.write("/contact_states", stamp, bytes(store.serialize_cdr(message, CONTACTS_TYPE)))
            last = flags
        state = store.types[STATES_TYPE](
            header=header(index),
            name=list(log.names),
            position=log.position[index],
            velocity=np.zeros(0),
            effort=log.effort[index] if effort else np.zeros(0),
        )
        for topic in topics:
            bag.write(topic, stamp, bytes(store.serialize_cdr(state, STATES_TYPE)))
    bag.close()
    return directory


def part(start: int, stop: int) -> JointLog:
    log = walk().log
    return JointLog(
        names=log.names,
        time=log.time[start:stop] - log.time[start],
        position=log.position[start:stop],
        effort=log.effort[start:stop],
        contacts={foot: flags[start:stop] for foot, flags in log.contacts.items()},
    )


@pytest.mark.long
def test_a_log_comes_back_from_a_bag(tmp_path: Path) -> None:
    log = part(400, 800)
    found = read_joint_log(written(tmp_path / "bag", log))
    assert found.names == log.names
    np.testing.assert_allclose(found.time, log.time, atol=1e-9)
    np.testing.assert_array_equal(found.position, log.position)
    np.testing.assert_array_equal(found.effort, log.effort)
    for foot, flags in log.contacts.items():
        np.testing.assert_array_equal(found.contacts[foot], flags)


def test_friction_is_found_from_a_bag_alone(tmp_path: Path) -> None:
    found = read_joint_log(written(tmp_path / "bag", walk().log))
    estimate = estimate_filtered(robot(), found, single_support(found)).estimate
    for joint in ("right_knee", "left_hip_pitch"):
        error = (estimate.torque - walk().friction)[swings()[joint], estimate.column(joint)]
        assert np.sqrt(np.nanmean(error**2)) < 2e-3


def test_what_is_no_bag_is_named(tmp_path: Path) -> None:
    with refused(Malformed, path=str(tmp_path / "nowhere")):
        read_joint_log(tmp_path / "nowhere")


def test_time_that_goes_back_is_named(tmp_path: Path) -> None:
    log = part(0, 600)
    object.__setattr__(log, "time", np.where(np.arange(600) < 400, log.time, log.time - 0.2005))
    with refused(BadData, thing="stamps of joint states"):
        read_joint_log(written(tmp_path / "bag", log))


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"effort": False}, WrongShape),
        ({"contacts_from": 5}, BadData),
        ({"topics": ("/left/joint_states", "/right/joint_states")}, Malformed),
    ],
)
def test_what_a_bag_lacks_is_named(tmp_path: Path, options: dict[str, Any], kind: type) -> None:
    bag = written(tmp_path / "bag", part(0, 20), **options)
    with refused(kind) as caught:
        read_joint_log(bag)
    assert str(caught.value).startswith(f"{bag}: ")
