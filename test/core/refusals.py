# SPDX-License-Identifier: Apache-2.0
"""What tests ask of an error: its kind and the objects that it is about, not its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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


def require_one_line(
    main: Callable[[Sequence[str]], int], words: Sequence[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Require that a program refuses these words with status 2 and one line that says so much."""
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert told in error
