# SPDX-License-Identifier: Apache-2.0
"""A node as a process: parameters, `--help`, start, signals and end."""
