# SPDX-License-Identifier: Apache-2.0
"""Those pages of the site that follow from the code: commands, nodes, messages, servo cards, explorer, pictures."""
