# SPDX-License-Identifier: Apache-2.0
"""The `simulator` node: servos in MuJoCo behind the topics that every servo node has."""
