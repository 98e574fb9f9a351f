# SPDX-License-Identifier: Apache-2.0
"""What tests ask of an error: its kind and the objects that it is about, not its words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bam_core.errors import BamError


@contextmanager
def refused(error: type[BamError], /, **attributes: object) -> Iterator[pytest.ExceptionInfo[BamError]]:
    """Require an error of exactly this error, with these attributes and a line of one line."""
    with pytest.raises(error) as caught:
        yield caught
    assert type(caught.value) is error
    assert {name: getattr(caught.value, name) for name in attributes} == attributes
    assert "\n" not in str(caught.value)
