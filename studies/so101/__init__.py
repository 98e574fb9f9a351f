# SPDX-License-Identifier: Apache-2.0
"""A real SO-101: how well servo models and descriptions predict its motions, from public recordings."""
