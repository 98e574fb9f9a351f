# SPDX-License-Identifier: Apache-2.0
"""The commands `bam robot ...` for an assembled robot, one file each; `case` is what they share."""
