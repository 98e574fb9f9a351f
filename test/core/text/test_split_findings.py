# SPDX-License-Identifier: Apache-2.0
"""The split into training, selection and test in words."""

from __future__ import annotations

from bam_core.text.split_findings import FewLogs


def test_too_few_logs_say_what_needs_more() -> None:
    assert FewLogs(kind="no_test", training=8, test=0).sentences[0] == (
        "No test set: all errors are of logs that were used for the fit or the choice."
    )
    assert FewLogs(kind="too_few_for_test", training=5, test=0, needed=8).sentences[0] == (
        "No test set: 5 training logs, a test by default needs 8."
    )
    assert " needs 3 " in FewLogs(kind="no_selection", training=2, test=0, needed=3).sentence
