# SPDX-License-Identifier: Apache-2.0
"""Sentences of findings are short, one statement each, and every finding has an example."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from bam_core.text.finding import Finding, count, listed, mrad, percent
from test.core.finding_cases import EXAMPLES

MOST_WORDS = 20


def words(sentence: str) -> int:
    """Words of a sentence; a sign alone, such as ± or %, is none."""
    return sum(any(character.isalnum() for character in word) for word in sentence.split())


def classes(base: type[Finding]) -> Iterator[type[Finding]]:
    for sub in base.__subclasses__():
        yield from ([] if sub.__abstractmethods__ else [sub])
        yield from classes(sub)


def test_every_finding_has_an_example() -> None:
    assert set(classes(Finding)) <= {type(example) for example in EXAMPLES}


@pytest.mark.parametrize("finding", EXAMPLES, ids=lambda finding: f"{type(finding).__name__} {finding.kind}")
def test_sentences_have_at_most_20_words_and_one_statement(finding: Finding) -> None:
    assert finding.sentences
    for sentence in finding.sentences:
        assert words(sentence) <= MOST_WORDS, sentence
        assert sentence.endswith("."), sentence
        assert not re.search(r"\. [A-Z]", sentence), sentence
        assert ";" not in sentence, sentence
        assert "{" not in sentence, sentence
        assert "None" not in sentence, sentence
    assert finding.sentence == " ".join(finding.sentences)


@pytest.mark.parametrize("finding", EXAMPLES, ids=lambda finding: f"{type(finding).__name__} {finding.kind}")
def test_a_finding_is_written_with_kind_numbers_and_sentence(finding: Finding) -> None:
    entry = json.loads(json.dumps(finding.summary()))
    assert entry["kind"] == finding.kind
    assert entry["sentence"] == finding.sentence


def test_numbers_in_sentences_have_units_and_plurals() -> None:
    assert mrad(0.0123456) == "12 mrad"
    assert percent(0.255) == "26 %"
    assert [count(number, "log") for number in (1, 2)] == ["1 log", "2 logs"]
    assert listed(["a", "b"]) == "a, b"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
