# SPDX-License-Identifier: Apache-2.0
"""Every field of every interface is explained; requests say what a field that is left empty means."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.identification.search.methods import MIN_EVALUATIONS

ROOT = Path(__file__).parents[2]
FILES = sorted(file for kind in ("msg", "srv", "action") for file in (ROOT / kind).iterdir())
REQUESTS = ["action/Identify.action", "action/Record.action", "srv/IdentifyModel.srv"]


def fields(text: str) -> dict[str, str]:
    """Comment of each field; a line that only comments goes on with that of the field above."""
    comments: dict[str, str] = {}
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        if code.strip():
            comments[code.split()[1]] = comment.strip()
        elif comments and comment:
            comments[list(comments)[-1]] += " " + comment.strip()
    return {name: comment for name, comment in comments.items() if name != "---"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_field_is_explained(file: Path) -> None:
    text = file.read_text()
    assert text.startswith("# ")
    for part in text.split("---\n"):
        for name, comment in fields(part).items():
            assert comment or name.split("=")[0].isupper(), f"{file.name}: {name}"


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_says_what_its_empty_fields_mean(name: str) -> None:
    request = (ROOT / name).read_text().partition("---\n")[0]
    for field, comment in fields(request).items():
        said = ("empty: ", "0: ", "required", "the same seed")
        assert any(word in comment for word in said), f"{name}: {field}"


@pytest.mark.parametrize("name", ["action/Identify.action", "srv/IdentifyModel.srv"])
def test_the_least_number_of_trials_is_told(name: str) -> None:
    request = (ROOT / name).read_text().partition("---\n")[0]
    assert f"at least {MIN_EVALUATIONS};" in fields(request)["trials"]
