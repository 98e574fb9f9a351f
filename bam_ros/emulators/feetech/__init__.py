# SPDX-License-Identifier: Apache-2.0
"""Emulated Feetech servos behind a pseudo-terminal; `python -m bam_ros.emulators.feetech`."""
