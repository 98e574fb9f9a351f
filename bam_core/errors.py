# SPDX-License-Identifier: Apache-2.0
"""The root of every error that a user can cause."""

from __future__ import annotations


class BamError(Exception):
    """A mistake in what the user gave, told in one line.

    The message has the shape ``thing: what is wrong (what was expected); what to do``. The command line
    prints it on standard error and exits with status 2; nodes log it. It never needs a traceback.
    """
