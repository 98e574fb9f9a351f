# SPDX-License-Identifier: Apache-2.0
"""`bench.yaml` beside recordings, deviations of a robot, layouts of process data, `metadata.yaml` of bags."""

from __future__ import annotations

from pathlib import Path

from bam_core.recordings import header_corrections
from bam_core.recordings.bag_metadata import promised_messages
from bam_core.recordings.map_file import map_above
from bam_core.robot.deviations_file import load_deviations
from bam_ros.erob.pdo_layout import LARGEST, load_layout
from test.fuzz.target import FILES, Target, attempt, file, folder

_LAYOUTS = Path(__file__).parents[3] / "bam_ros" / "erob" / "layouts"


def check(data: bytes) -> None:
    kind, content = data[:1], data[1:]
    if kind <= b"\x40":
        header_corrections._bench_yaml.cache_clear()
        (folder() / "bag").mkdir(exist_ok=True)
        file("bag/bench.yaml", content)
        for rule in attempt(lambda: header_corrections.rules_above(folder() / "bag")) or ():
            header_corrections.apply_rules({"mass": 1.0, "motor": "mx106"}, [rule])
        found = attempt(lambda: map_above(folder() / "bag"))
        if found is not None:
            joints = attempt(lambda: found.joint_maps(["shoulder", "elbow"]))
            assert joints is None or any(joints)
            attempt(lambda: found.column_names(["t", "q_shoulder"]))
    elif kind <= b"\x80":
        attempt(lambda: load_deviations(file("deviations.yaml", content)))
    elif kind <= b"\xc0":
        layout = attempt(lambda: load_layout(str(file("layout.yaml", content))))
        if layout is not None:
            for pdo in (layout.receive, layout.transmit):
                assert 0 < pdo.size <= LARGEST
                assert len(pdo.unpack(bytes(pdo.size))) == len(pdo.objects)
    else:
        (folder() / "whole").mkdir(exist_ok=True)
        file("whole/metadata.yaml", content)
        count = attempt(lambda: promised_messages(folder() / "whole"))
        assert count is None or isinstance(count, int)
        attempt(lambda: promised_messages(folder() / "whole" / "bag_0.mcap"))


def seeds() -> list[bytes]:
    """Return one of each kind."""
    found = [
        b"\0set: {vin: 12.0}\nrules:\n  - {where: {length: 0.1}, set: {arm_mass: 0.036}}\n",
        b"\0set: {mass: 0.5, length: 0.1, kp: 32, motor: mx106, joint: elbow}\n",
        b"\0map:\n  columns: {time: t, 'read:*': 'q_*'}\n  order: [a, b]\n"
        b"  joints: {a: {name: shoulder, sign: -1, zero: 0.1}, b: elbow, 'main_*': '*', jaw: null}\n"
        b"  topics: {goal: /c}\n  unit: deg\n  time_unit: us\nkp: {elbow: 32}\n",
        b"\x50delay: 0.01\nmass: {a: 1.1}\ncentre: {a: [0.1, 0.2, 0.3]}\nfriction: {b: 0.9}\n",
        b"\xf0rosbag2_bagfile_information:\n  message_count: 3\n"
        b"  files: [{path: bag_0.mcap, message_count: 3}]\n",
        b"\xf0rosbag2_bagfile_information:\n  message_count: 3\n  relative_file_paths: [bag_0.mcap]\n",
    ]
    for path in sorted(_LAYOUTS.glob("*.yaml")):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        found.append(b"\x90" + "\n".join(lines).encode())
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_core.recordings.header_corrections",
        "bam_core.recordings.bag_metadata",
        "bam_core.recordings.map_file",
        "bam_core.recordings.recording_map",
        "bam_core.robot.deviations_file",
        "bam_ros.erob.pdo_layout",
        "bam_core.files.yaml_file",
    ),
    longest=1200,
    runs=FILES,
)
