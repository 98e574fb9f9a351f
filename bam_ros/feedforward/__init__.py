# SPDX-License-Identifier: Apache-2.0
"""Dynamixel servos in PWM mode that follow trajectories by feed-forward and PID, after Dynaban."""
