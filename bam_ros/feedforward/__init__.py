# SPDX-License-Identifier: Apache-2.0
"""Dynamixel servos in PWM mode that follow trajectories by feed-forward and PID, after Dynaban.

A user starts `ros2 launch bam_bench feedforward.launch.py` and sends trajectories; see docs/feedforward.md.
"""
