# SPDX-License-Identifier: Apache-2.0
"""What a fit leaves over beyond what the measurement alone would, and what kind of physics is missing."""
