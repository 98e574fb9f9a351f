# SPDX-License-Identifier: Apache-2.0
"""`make check` refuses tests that assert sentences outside the tests of the rooms `text`."""

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
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for room in ("core", "ros"):
        text = tmp_path / "test" / room / "text"
        text.mkdir(parents=True)
        (text / "test_words.py").write_text(SENTENCES)
    others = tmp_path / "test/test_all.py"
    others.write_text(ERROR_LINES + NEITHER)
    assert prose_tests.main(tmp_path, 2) == 0
    assert prose_tests.main(tmp_path, 1) == 1
    others.write_text(SENTENCES + ERROR_LINES + NEITHER)
    capsys.readouterr()
    assert prose_tests.main(tmp_path, 2) == 1
    listed = capsys.readouterr().out.splitlines()[:-1]
    assert [line.split(":")[2].strip() for line in listed] == ["test_a", "test_b", "test_c"]
