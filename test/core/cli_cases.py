# SPDX-License-Identifier: Apache-2.0
"""Mistakes on the command line as the errors they are, with the objects that their lines are about."""

from __future__ import annotations

from typing import Any

import pytest

from bam_core.cli import execute
from bam_core.errors import BamError


def mistake(*words: object) -> BamError:
    """Run ``bam``, which has to raise; return the error. `main` prints it as one line and returns 2."""
    with pytest.raises(BamError) as caught:
        execute([str(word) for word in words])
    assert "\n" not in str(caught.value)
    return caught.value


def has(error: BamError, kind: type[BamError], /, **attributes: Any) -> bool:
    """Whether an error is of this kind, about these objects."""
    return isinstance(error, kind) and attributes.items() <= vars(error).items()
