# SPDX-License-Identifier: Apache-2.0
"""Egle's whole-body joint friction redone (2021): a simulated humanoid walks, a real one squats.

`redo.run` redoes all of it; `humanoid`, `gait` and `walking` are the robot of its table 4.1 and its walk.
"""
