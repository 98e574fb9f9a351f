# SPDX-License-Identifier: Apache-2.0
"""The Dynamixel bus: codec, device, node, and the virtual servos beside them."""
