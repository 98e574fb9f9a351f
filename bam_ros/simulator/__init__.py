# SPDX-License-Identifier: Apache-2.0
"""Servos in MuJoCo behind the topics of a driver: `ros2 launch bam_bench simulate.launch.py servo:=xl330`."""
