# SPDX-License-Identifier: Apache-2.0
"""What a fit leaves over, compared with what the measurement alone would leave, and what kind of physics is missing."""
