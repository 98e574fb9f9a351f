# SPDX-License-Identifier: Apache-2.0
"""Servos of assembled robots, simulated and identified from the robots' own runs.

A user runs `bam identify --robot`; `bam validate`, `design` and `record` have the same option.
"""
