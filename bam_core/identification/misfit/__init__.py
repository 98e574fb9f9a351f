# SPDX-License-Identifier: Apache-2.0
"""Errors of a fit beyond those of the measurement, and the kind of physics that would explain them."""
