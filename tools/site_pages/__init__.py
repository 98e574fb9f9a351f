# SPDX-License-Identifier: Apache-2.0
"""Pages of the site that follow from the code: commands, nodes, messages, servo cards, explorer, pictures."""
