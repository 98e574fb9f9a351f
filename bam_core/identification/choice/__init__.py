# SPDX-License-Identifier: Apache-2.0
"""Which model, and which effects: held-out errors, the rule that chooses, what each effect is worth."""
