# SPDX-License-Identifier: Apache-2.0
"""Endurance: the EtherCAT cycle (`make soak`), each driver while clients are killed (`make soak-drivers`)."""
