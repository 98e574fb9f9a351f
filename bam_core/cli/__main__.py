# SPDX-License-Identifier: Apache-2.0
"""``python -m bam_core.cli``, the same as ``bam``."""

from __future__ import annotations

import sys

from bam_core.cli import main

sys.exit(main())
