# SPDX-License-Identifier: Apache-2.0
"""Identification of a servo from recordings: what `bam identify` and the node `identification` run.

`identify.identify` takes recordings, a servo and friction models. It returns an `Identification`: parameters,
errors, the model to use, intervals. `writing.write_identification` writes it into a directory.
"""
