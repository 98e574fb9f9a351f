# SPDX-License-Identifier: Apache-2.0
"""Policies tuned in simulations with different servo models, tried on hidden virtual servos."""
