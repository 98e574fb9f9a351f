# SPDX-License-Identifier: Apache-2.0
"""Studies of the suite itself: speed, coverage of intervals, ablations, faults, endurance, peers.

Run from a checkout, with what `make dev` installs: `make bench coverage faults soak soak-drivers`, or
`.venv/bin/python -m studies.NAME --help`. They are no part of the product, which imports nothing of them.
"""
