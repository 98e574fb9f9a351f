# SPDX-License-Identifier: Apache-2.0
"""A virtual six-joint arm of hidden servos: what is found of them on the robot, and by `mujoco.sysid`."""
