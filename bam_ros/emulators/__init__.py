# SPDX-License-Identifier: Apache-2.0
"""Emulated servos that speak the real protocols: the nodes `virtual_dynamixel` and `virtual_erob`."""
