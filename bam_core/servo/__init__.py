# SPDX-License-Identifier: Apache-2.0
"""What a servo is: friction, motor, firmware, effects, pendulum bench, and the file that holds them.

A user lists the library with `bam servos`, or calls `load_servo("xl330")`.
"""
