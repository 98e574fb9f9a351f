# SPDX-License-Identifier: Apache-2.0
"""Dynaban redone (Fabre et al., 2016): its motor model from runs in open loop, its feed-forward in a kick.

`redo.run` redoes all of it; `open_loop` identifies the MX-64 of the authors' runs with this suite's models.
"""
