# SPDX-License-Identifier: Apache-2.0
"""Dynamixel servos: protocol, device, and the node `dynamixel` (`ros2 run bam_bench dynamixel`)."""
