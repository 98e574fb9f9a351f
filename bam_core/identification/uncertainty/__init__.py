# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of parameters: sensitivities, covariance, intervals, bands, and what to record next."""
