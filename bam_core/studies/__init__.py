# SPDX-License-Identifier: Apache-2.0
"""Studies of the suite itself: speed, intervals that hold the truth, constants of the search, robot files."""
