# SPDX-License-Identifier: Apache-2.0
"""Emulated Dynamixel servos behind a pseudo-terminal: codec -> servo -> bus -> pty, with a bench behind.

`builder` puts a bus together, `pty_server` serves it, `node` and `__main__` are its two front ends. What is
emulated and what is not: docs/virtual_dynamixel.md.
"""
