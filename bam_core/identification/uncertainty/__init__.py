# SPDX-License-Identifier: Apache-2.0
"""How far parameters are known: sensitivities, covariance, intervals, what to record next."""
