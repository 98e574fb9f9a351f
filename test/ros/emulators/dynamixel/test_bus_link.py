# SPDX-License-Identifier: Apache-2.0
"""Virtual buses do not take links away from each other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bam_core.errors import Conflict, NotWritable
from bam_ros.emulators.dynamixel.bus_link import BusLink, default_link


def test_a_link_that_is_served_is_refused_and_free_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "bus"
    first, second = BusLink(path), BusLink(tmp_path / "." / "bus")
    first.make(Path("/dev/pts/1000"))
    with pytest.raises(Conflict) as caught:
        second.make(Path("/dev/pts/1001"))
    assert caught.value.thing == str(path)
    assert path.readlink() == Path("/dev/pts/1000")
    second.remove()
    assert path.is_symlink()
    first.remove()
    assert not os.path.lexists(path)
    second.make(Path("/dev/pts/1001"))
    assert path.readlink() == Path("/dev/pts/1001")
    second.remove()
    second.remove()


def test_a_link_that_a_killed_bus_left_is_replaced_though_its_device_exists(tmp_path: Path) -> None:
    path = tmp_path / "bus"
    path.symlink_to("/dev/null")
    link = BusLink(path)
    link.make(Path("/dev/pts/1000"))
    assert path.readlink() == Path("/dev/pts/1000")
    link.remove()


def test_a_refused_link_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "bus").write_text("precious")
    with pytest.raises(NotWritable):
        BusLink(tmp_path / "bus").make(Path("/dev/pts/1000"))
    (tmp_path / "bus").unlink()
    link = BusLink(tmp_path / "bus")
    link.make(Path("/dev/pts/1000"))  # nothing holds the name
    link.remove()
    assert list(tmp_path.iterdir()) == []


def test_users_and_namespaces_have_links_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    links = [default_link(), default_link("/left"), default_link("/left/upper")]
    assert [str(link) for link in links] == [
        "/tmp/bam_bus_1000",
        "/tmp/bam_bus_1000_left",
        "/tmp/bam_bus_1000_left_upper",
    ]
