# SPDX-License-Identifier: Apache-2.0
"""The version of this package, which also stands in what it writes."""

__version__ = "0.1.0"
