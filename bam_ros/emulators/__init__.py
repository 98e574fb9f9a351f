# SPDX-License-Identifier: Apache-2.0
"""Emulated servos that speak real protocols: nodes `virtual_dynamixel`, `virtual_feetech`, `virtual_erob`."""
