# SPDX-License-Identifier: Apache-2.0
"""The search for the parameters that follow recordings best: CMA-ES, races, descents, storage."""
