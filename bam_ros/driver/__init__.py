# SPDX-License-Identifier: Apache-2.0
"""What every driver has: the bus, the loop that owns it, limits, commands, topics, diagnostics.

A user meets it as topics and services of the nodes `dynamixel`, `erob`, `feedforward` and `simulator`.
"""
