# SPDX-License-Identifier: Apache-2.0
"""Figures, one file each; all draw on a `Figure` of their own, so no display is needed.

A user sees them in the output of `bam identify`, `bam diagram` and `bam gear`, or calls `plot_fit`.
"""
