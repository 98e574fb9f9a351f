# SPDX-License-Identifier: Apache-2.0
"""Whole robots: recorded runs simulated with servos on all joints, and what such runs tell of the servos."""
