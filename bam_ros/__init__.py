# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 nodes of bam_bench and the devices under them; each node explains itself with `--help`."""
