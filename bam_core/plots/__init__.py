# SPDX-License-Identifier: Apache-2.0
"""Figures, one module each; all draw on a `Figure` of their own, so no display is needed."""
