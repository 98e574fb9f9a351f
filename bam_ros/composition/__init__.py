# SPDX-License-Identifier: Apache-2.0
"""Several nodes in one process, chosen on the command line."""
