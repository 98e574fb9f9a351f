# SPDX-License-Identifier: Apache-2.0
"""Servos of assembled robots, simulated and identified from the robots' own runs.

A user runs `bam robot identify`; `bam robot validate`, `design` and `record` share its options.
"""
