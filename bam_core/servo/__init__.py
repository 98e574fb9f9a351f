# SPDX-License-Identifier: Apache-2.0
"""What a servo is: friction, motor, firmware, effects, pendulum bench, its YAML file."""
