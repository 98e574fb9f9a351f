# SPDX-License-Identifier: Apache-2.0
"""Speed of the suite, and how far its ways to simulate differ: `make bench`."""
