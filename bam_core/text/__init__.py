# SPDX-License-Identifier: Apache-2.0
"""Sentences and tables for terminal, page and JSON."""
