# SPDX-License-Identifier: Apache-2.0
"""Identification of a servo from recordings: search space, split, CMA-ES, results on disk."""
