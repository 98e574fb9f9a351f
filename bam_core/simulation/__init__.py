# SPDX-License-Identifier: Apache-2.0
"""What a servo does: the compiled kernel, rollouts over recordings, the reference, synthetic recordings."""
