# SPDX-License-Identifier: Apache-2.0
"""Writes test/data/lerobot_v3 with lerobot itself (version 0.4.4), which no environment of this package has.

python -m venv lerobot_env && lerobot_env/bin/pip install lerobot
lerobot_env/bin/python tools/make_lerobot_dataset.py NEW_DIRECTORY

Two episodes of an arm that does not exist. Of what is written, `meta/info.json` and `data` are committed:
statistics, tasks and the table of episodes are not read.
"""

import sys

import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")

names = [f"{joint}.pos" for joint in JOINTS]
columns = ("action", "observation.state")
features = {column: {"dtype": "float32", "shape": (len(JOINTS),), "names": names} for column in columns}
dataset = LeRobotDataset.create(
    "bam/lerobot_v3", 30, features=features, root=sys.argv[1], robot_type="so101_follower", use_videos=False
)
for episode in range(2):
    for frame in range(60 - 10 * episode):
        counts = np.round(400 * np.sin(0.1 * frame + np.arange(len(JOINTS)) + episode))
        action, state = (raw * 360 / 4095 for raw in (counts, counts - 3))
        action[-1] = state[-1] = 50.0 + frame / 2
        values = {"action": action.astype(np.float32), "observation.state": state.astype(np.float32)}
        dataset.add_frame({**values, "task": "move"})
    dataset.save_episode()
dataset.finalize()
