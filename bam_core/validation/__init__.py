# SPDX-License-Identifier: Apache-2.0
"""Errors of a servo model on recordings: `bam validate`, or `bam_core.validate(servo, recordings)`."""
