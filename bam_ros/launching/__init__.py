# SPDX-License-Identifier: Apache-2.0
"""Launch files: arguments as a table, read with one line for each mistake, and nodes that get them."""
