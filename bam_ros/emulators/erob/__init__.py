# SPDX-License-Identifier: Apache-2.0
"""Emulated eRob drives on an EtherCAT segment behind a network interface, with a bench behind each.

From the wire inwards: `frames` -> `segment` -> `controller` (the chip) -> `slave` (its firmware) -> `drive`
(CiA 402) -> `bench`. `builder` puts a segment together, `server` serves it, `node` and `__main__` are its two
front ends. What is emulated and what is not: docs/virtual_erob.md.
"""
