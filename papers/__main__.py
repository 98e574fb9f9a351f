# SPDX-License-Identifier: Apache-2.0
"""``python -m papers``: see `papers.command`."""

import sys

from papers.command import main

if __name__ == "__main__":
    sys.exit(main())
