# SPDX-License-Identifier: Apache-2.0
"""`make check` counts tests that assert sentences outside the tests of `bam_core.text`."""

from __future__ import annotations

from pathlib import Path

import prose_tests
import pytest

SENTENCES = """
def test_a(): assert "the search has failed" in words
def test_b(): assert words.startswith(f"the search {n} has failed")
def test_c(): assert words == ["kp", "the search has failed"]
"""
ERROR_LINES = """
def test_d():
    with pytest.raises(BadData, match="no log holds it"): read()
def test_e(): assert "no log holds it" in str(error.value)
"""
NEITHER = """
def test_f(): assert finding.kind == "failed_search"
def test_g(): assert find("the search has failed") == 3
def test_h(): assert "kp=4 --trials 3 m4.yaml" in line
"""


def test_sentences_and_error_lines_count_apart_and_code_is_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "test/core/text"
    text.mkdir(parents=True)
    (text / "test_words.py").write_text(SENTENCES)
    (tmp_path / "test/test_all.py").write_text(SENTENCES + ERROR_LINES + NEITHER)
    monkeypatch.setattr(prose_tests, "ROOT", tmp_path)
    monkeypatch.setattr(prose_tests, "TEXT", (text,))
    monkeypatch.setattr(prose_tests, "MOST_SENTENCES", 3)
    monkeypatch.setattr(prose_tests, "MOST_ERROR_LINES", 2)
    assert prose_tests.main([]) == 0
    assert [line.split(":")[2].strip() for line in _listed(capsys)] == ["test_a", "test_b", "test_c"]
    monkeypatch.setattr(prose_tests, "MOST_ERROR_LINES", 1)
    assert prose_tests.main([]) == 1


def _listed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    prose_tests.main(["--list"])
    return capsys.readouterr().out.splitlines()[:-1]
