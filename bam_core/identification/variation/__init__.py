# SPDX-License-Identifier: Apache-2.0
"""How friction and strength vary from run to run, session to session and unit to unit.

`run_factors` finds the factors of each run, `spread` how far they scatter at each level.
"""
