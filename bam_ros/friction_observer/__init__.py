# SPDX-License-Identifier: Apache-2.0
"""The node that estimates friction in every joint of a robot: `ros2 run bam_bench friction_observer`."""
