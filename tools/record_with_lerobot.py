# SPDX-License-Identifier: Apache-2.0
"""Records an emulated SO-101 with LeRobot itself (version 0.4.4), which no environment of this package has.

python -m venv lerobot_env && lerobot_env/bin/pip install lerobot==0.4.4 feetech-servo-sdk
python -m bam_ros.emulators.feetech --robot config/robots/so101_like.xml --servos sts3215=sts3215 \\
    --link /tmp/arm
lerobot_env/bin/python tools/record_with_lerobot.py /tmp/arm NEW_DIRECTORY

`SOFollower`, `record_loop` and `LeRobotDataset` are LeRobot's. Only the leader is ours: a hand that reaches,
pauses and trembles. It begins each episode in a new posture, and the arm is elsewhere then. The calibration
is drawn: offsets and ranges as a hand finds them. `NEW_DIRECTORY` gets `so101` (the dataset),
`calibration/follower.json` and `periods.json` (mean period of the frames of each episode, s).
"""

import argparse
import builtins
import json
import logging
import time
from pathlib import Path

import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.utils import combine_feature_dicts, hw_to_dataset_features
from lerobot.processor import make_default_processors
from lerobot.robots.so_follower import SOFollower, SOFollowerRobotConfig
from lerobot.scripts.lerobot_record import record_loop
from lerobot.teleoperators import Teleoperator, TeleoperatorConfig

FPS = 30
TURN = 4096  # counts
RANGES = {
    "shoulder_pan": (-1.92, 1.92),
    "shoulder_lift": (-1.745, 1.745),
    "elbow_flex": (-1.69, 1.69),
    "wrist_flex": (-1.658, 1.658),
    "wrist_roll": (-np.pi, np.pi),
    "gripper": (-0.175, 1.745),
}  # rad, of config/robots/so101_like.xml; LeRobot calibrates wrist_roll as a whole turn
WIDEST = 2.4  # rad of goals around the middle of a range
REACH, PAUSE = (0.8, 2.0), (0.0, 0.7)  # s of one motion of the hand, and after it
TREMOR = 2.5e-3  # rad, at 6 to 11 Hz
OFFSET, END = 12, 10  # counts by which a hand misses the middle, and the ends of a range


class Hand(Teleoperator):
    """A leader: goals over time, in the units of the follower."""

    config_class = TeleoperatorConfig
    name = "hand"

    def __init__(self, follower, reach, seed):
        super().__init__(TeleoperatorConfig(id="hand"))
        self._follower, self._reach, self._seed = follower, reach, seed
        self.begin(0)

    def begin(self, episode):
        """Begin an episode in a new posture."""
        self._random = np.random.default_rng((self._seed, episode))
        self._start = time.perf_counter()
        self._paths = {joint: self._path(joint) for joint in RANGES}

    def _path(self, joint):
        """Return begin, end (s), from and to (degrees or %) of all reaches, and the tremor."""
        calibration = self._follower.calibration[joint]
        half = 0.5 * (calibration.range_max - calibration.range_min) * 360.0 / (TURN - 1)
        half = min(half, np.degrees(WIDEST))
        middle, half = (50.0, 50.0 * self._reach) if joint == "gripper" else (0.0, half * self._reach)
        random, begin, here, path = self._random, 0.0, None, []
        while begin < 600.0:
            there = middle + half * random.uniform(-1.0, 1.0)
            length = random.uniform(*REACH)
            path.append((begin, begin + length, there if here is None else here, there))
            begin, here = begin + length + random.uniform(*PAUSE), there
        return np.array(path), random.uniform(6.0, 11.0), random.random()

    def get_action(self):
        """Return the goals of this moment."""
        now = time.perf_counter() - self._start
        action = {}
        for joint, (path, rate, phase) in self._paths.items():
            begin, end, here, there = path[np.searchsorted(path[:, 0], now, side="right") - 1]
            share = np.clip((now - begin) / (end - begin), 0.0, 1.0)
            way = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
            tremor = np.degrees(TREMOR) * np.sin(2.0 * np.pi * (rate * now + phase))
            action[f"{joint}.pos"] = float(here + (there - here) * way + tremor)
        return action

    @property
    def action_features(self):
        """Name what `get_action` returns."""
        return {f"{joint}.pos": float for joint in RANGES}

    @property
    def feedback_features(self):
        """Name nothing."""
        return {}

    is_connected = is_calibrated = True

    def connect(self, calibrate=True):
        """It always is."""

    calibrate = configure = disconnect = lambda self: None

    def send_feedback(self, feedback):
        """A hand feels none."""


def calibration(seed):
    """Return a calibration as `lerobot-calibrate` writes it, of the emulated arm."""
    random = np.random.default_rng((seed, 1 << 20))
    joints = {}
    for number, (joint, limits) in enumerate(RANGES.items(), 1):
        offset = int(random.normal(0.0, OFFSET))
        ends = np.round(TURN / 2 - offset + np.array(limits) * TURN / (2.0 * np.pi))
        first, last = (int(end) for end in ends + random.normal(0.0, END, 2).astype(int))
        if joint == "wrist_roll":
            first, last = 0, TURN - 1
        joints[joint] = {
            "id": number,
            "drive_mode": 0,
            "homing_offset": offset,
            "range_min": first,
            "range_max": last,
        }
    return joints


def main():
    """Calibrate, record all episodes, write the mean periods."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("port")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--episodes", type=int, default=6)
    parser.add_argument("--first", type=int, default=0, help="number of the first one's motion")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--reset", type=float, default=2.0, help="s between episodes")
    parser.add_argument("--reach", type=float, default=0.75, help="share of the ranges that goals use")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    place = arguments.directory / "calibration"
    place.mkdir(parents=True)
    (place / "follower.json").write_text(json.dumps(calibration(arguments.seed), indent=4))
    robot = SOFollower(SOFollowerRobotConfig(port=arguments.port, id="follower", calibration_dir=place))
    builtins.input = lambda prompt="": ""  # ENTER: the servos get the calibration of the file
    robot.connect()
    hand = Hand(robot, arguments.reach, arguments.seed)
    features = combine_feature_dicts(
        hw_to_dataset_features(robot.action_features, "action"),
        hw_to_dataset_features(robot.observation_features, "observation"),
    )
    dataset = LeRobotDataset.create(
        "bam/so101",
        FPS,
        features=features,
        root=arguments.directory / "so101",
        robot_type=robot.name,
        use_videos=False,
    )
    teleop, action, observation = make_default_processors()
    events = {"exit_early": False, "rerecord_episode": False, "stop_recording": False}
    periods = []

    def loop(seconds, into):
        record_loop(
            robot=robot,
            events=events,
            fps=FPS,
            teleop_action_processor=teleop,
            robot_action_processor=action,
            robot_observation_processor=observation,
            teleop=hand,
            dataset=into,
            control_time_s=seconds,
            single_task="reach",
        )

    for episode in range(arguments.episodes):
        loop(arguments.reset, None)
        hand.begin(arguments.first + episode + 1)
        began = time.perf_counter()
        loop(arguments.seconds, dataset)
        took = time.perf_counter() - began
        periods.append(took / dataset.episode_buffer["size"])
        dataset.save_episode()
    dataset.finalize()
    robot.disconnect()
    (arguments.directory / "periods.json").write_text(json.dumps(periods) + "\n")
    print("mean periods, s:", *(f"{period:.5f}" for period in periods))


if __name__ == "__main__":
    main()
