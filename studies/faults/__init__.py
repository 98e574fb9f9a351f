# SPDX-License-Identifier: Apache-2.0
"""The fault matrix: every event on every driver in every state, with the time until torque is off."""
