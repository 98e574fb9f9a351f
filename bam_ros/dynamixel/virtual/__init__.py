# SPDX-License-Identifier: Apache-2.0
"""Emulated Dynamixel servos behind a pseudo-terminal: codec -> servo -> bus -> pty, with a bench behind."""
