# SPDX-License-Identifier: Apache-2.0
"""Searches for the parameters whose simulation follows recordings best.

A user chooses one with `bam identify --search`: "gauss-newton" (`gauss_newton_search`), descents over growing
horizons with restarts, or "cma-es" (`cma_es`), the method of BAM's authors. `--storage` keeps what it found.
"""
