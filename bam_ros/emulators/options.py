# SPDX-License-Identifier: Apache-2.0
"""What options of the emulators' commands share: mistakes in one line, seeds."""

from __future__ import annotations

import argparse
from typing import NoReturn


class OneLineParser(argparse.ArgumentParser):
    """Prints a mistake in one line; usage is what --help shows."""

    def error(self, message: str) -> NoReturn:
        """Print a mistake and end with status 2."""
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def seed(word: str) -> int:
    """Return the seed in a word; raises ArgumentTypeError."""
    if not word.isascii() or not word.isdigit():
        raise argparse.ArgumentTypeError(f"{word!r} is no seed (expected a whole number, 0 or more)")
    return int(word)
