# SPDX-License-Identifier: Apache-2.0
"""What nodes report, as values, and the one line that each is in answers, logs and diagnostics."""
