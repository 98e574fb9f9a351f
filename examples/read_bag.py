# SPDX-License-Identifier: Apache-2.0
"""Read a rosbag2 recording without ROS: what was run, and its samples as arrays.

.venv/bin/python examples/read_bag.py
"""

from tempfile import TemporaryDirectory

from bam_core import PendulumBench, load_recordings, synthesize, write_bag

bench = PendulumBench(mass=1.0, length=0.15)
with TemporaryDirectory() as bags:  # a simulated run; bags of your own are load_recordings("recordings")
    write_bag(synthesize("mx106", bench, "lift_and_drop", kp=32), f"{bags}/run")
    (run,) = load_recordings(bags)
print(f"{run.name}: {run.servo} with {run.bench}, kp {run.kp:g}, script {run.script}")
print(f"{len(run)} samples in {run.duration:.2f} s; time, position, goal_position, … are arrays")
print(f"torque is off from {run.time[~run.torque_enabled][0]:.2f} s on")
