# SPDX-License-Identifier: Apache-2.0
"""What every driver has: the bus it drives, the loop that owns it, limits, commands, topics, diagnostics."""
