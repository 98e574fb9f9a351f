# SPDX-License-Identifier: Apache-2.0
"""Deliberate bugs, put in one at a time, and the share of them that `make test` notices."""
