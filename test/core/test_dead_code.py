# SPDX-License-Identifier: Apache-2.0
"""`make check` tells names of the packages that nothing uses, and entries of its whitelist that are over."""

from __future__ import annotations

from pathlib import Path

import dead_code
import pytest


def test_what_only_a_test_or_a_template_uses_is_used_and_the_rest_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    room = tmp_path / "bam_core"
    room.mkdir()
    names = ("alone", "tested", "shown", "listed")
    (room / "names.py").write_text("".join(f"def {name}():\n    pass\n" for name in names))
    (room / "page.jinja").write_text("{{ shown() }}")
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_names.py").write_text("tested()\n\ndef of_the_test():\n    pass\n")
    house = dead_code.House(
        root=tmp_path, checked=("bam_core",), users=("test",), whitelist={"a library": "listed gone"}
    )
    assert dead_code.main(house) == 1
    unused, stale, count = capsys.readouterr().out.splitlines()
    assert (unused.partition(":")[0], unused.split()[-1]) == ("bam_core/names.py", "'alone'")
    assert stale.startswith("tools/dead_code.py: 'gone'")
    assert count.endswith(": 2")
