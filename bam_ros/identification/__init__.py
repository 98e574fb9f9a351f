# SPDX-License-Identifier: Apache-2.0
"""The node that identifies servos from recordings: action `identify`, service `identify_model`."""
