# SPDX-License-Identifier: Apache-2.0
"""Several nodes in one process: `ros2 run bam_bench composition dynamixel recorder`."""
