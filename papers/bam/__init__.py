# SPDX-License-Identifier: Apache-2.0
"""BAM redone (Duclusaud et al., 2024): M1 to M6 on simulated and real servos, in 2R arms and in a humanoid.

`redo.run` redoes all of it. ``arm_*`` and `two_link` are the 2R arms of its section VI-B.
"""
