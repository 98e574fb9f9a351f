# SPDX-License-Identifier: Apache-2.0
"""A node as a process: parameters, what it says of itself, start and end."""
