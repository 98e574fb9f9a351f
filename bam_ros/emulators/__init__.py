# SPDX-License-Identifier: Apache-2.0
"""Emulated servos that speak the real bus protocols."""
