# SPDX-License-Identifier: Apache-2.0
"""Tests of the table of a real SO-101."""
