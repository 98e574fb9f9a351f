# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's gears with asymmetric load-dependent friction redone (2022): laws, remarks, the rod and the wall.

`redo.run` redoes all of it; `examples` has the two simulations of its section 6.
"""
