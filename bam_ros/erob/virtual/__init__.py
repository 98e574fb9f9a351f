# SPDX-License-Identifier: Apache-2.0
"""Emulated eRob drives: an EtherCAT segment on one end of a network interface, with pendulums behind it."""
