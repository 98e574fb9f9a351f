# SPDX-License-Identifier: Apache-2.0
"""Which friction model and which effects: errors on recordings left out, ablation, choice."""
