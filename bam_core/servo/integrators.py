# SPDX-License-Identifier: Apache-2.0
"""Integrators by name: fitted parameters carry the discretisation error of the one they were fitted with."""

from __future__ import annotations

INTEGRATORS = ("midpoint", "algorithm1", "semi_implicit")
"""How a step of Δt is made.

- "midpoint", the default: BAM Algorithm 1 with gravity taken where the arm is in the middle of the step,
  θ_k + ½θ̇_kΔt, back-EMF at the mean velocity of the step, and friction at the velocity expected in its
  middle, θ̇_k + ½θ̈_{k-1}Δt. Where the velocity reaches zero within a step, friction opposes the old motion
  until then and holds the arm, or opposes the new motion, from then on. Of second order, and it keeps the
  energy of a free swing.
- "algorithm1": as printed, both taken at the start of the step. Of first order: it feeds energy into a swing
  (a frictionless one of 1.0 rad at 10 rad/s grows to 1.9 rad in 6 s of 5 ms steps) and overstates damping.
- "semi_implicit": as in the authors' program, which moves the arm with the new velocity. Damps every swing
  (the same one shrinks to 0.5 rad). Only for reproducing fits that were made with it and carry that damping.
"""
