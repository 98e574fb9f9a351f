# SPDX-License-Identifier: Apache-2.0
"""What a servo does on the bench: compiled kernel, rollouts over recordings, synthetic recordings.

A user calls `Rollout` for the errors of many parameters, or `synthesize` for recordings of a simulated servo.
"""
