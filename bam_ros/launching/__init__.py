# SPDX-License-Identifier: Apache-2.0
"""Arguments of launch files as a table, read with one line for each mistake, and nodes that get them."""
