# SPDX-License-Identifier: Apache-2.0
"""Studies of the suite itself: speed, how often intervals hold the truth, constants of the search, robot files."""
