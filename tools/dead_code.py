# SPDX-License-Identifier: Apache-2.0
"""Names in the code that nothing uses: a part of `make check`. Status 1 where there are any.

Tests, examples and launch files count as users; what is unused in them is not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).resolve().parents[1]
CHECKED = ("bam_core", "bam_ros", "papers", "studies", "tools")
USERS = ("test", "examples", "launch", "docs/conf.py", "setup.py")

WHITELIST = {
    # Set for a library, which reads it.
    "MuJoCo": "act actfrclimited actfrcrange actgravcomp"
    " azimuth diffuse elevation matid modelfiledir offheight offwidth plugin_name text_factory",
    "C, whose memory it keeps": "_alive",
    "NumPy": "writeable",
    "Numba": "_cache",
    "Python": "dont_write_bytecode",
    "rclpy": "floating_point_range integer_range",
    "pysoem": "ret sdo_read_timeout sdo_write_timeout tx_mailbox",
    "the SDK of Dynamixel, for ports": "getCurrentTime is_open is_using tx_time_per_byte",
    # Called by a library, by name.
    "rclpy's life cycle": "on_activate on_cleanup on_deactivate on_error on_shutdown",
    "ast": "visit_AnnAssign visit_JoinedStr",
    "pytest": "pytest_collectreport pytest_runtest_logreport",
    # Fields that are written as JSON with all others, and read by name.
    "results of studies": "delay_p50 delay_p99 ms_per_evaluation ns_per_step sysid_settings",
}
"""Who uses a name that no Python here does -> names."""


def template_words() -> str:
    """Return the words of the templates of pages, which use names of Python."""
    texts = (file.read_text(encoding="utf-8") for file in sorted((ROOT / "bam_core").rglob("*.jinja")))
    return "\n".join(sorted({word for text in texts for word in re.findall(r"[a-z_]\w*", text)}))


def unused() -> Iterator[str]:
    """Return file, line and name of what nothing uses."""
    vulture = Vulture()
    vulture.scavenge([str(ROOT / part) for part in (*CHECKED, *USERS)])
    used = {*template_words().split(), *" ".join(WHITELIST.values()).split()}
    for item in vulture.get_unused_code(min_confidence=60):
        file = item.filename.resolve().relative_to(ROOT)
        if file.parts[0] in CHECKED and item.name not in used:
            yield f"{file}:{item.first_lineno}: unused {item.typ} {item.name!r}"


def stale() -> Iterator[str]:
    """Return names of the whitelist that the code does not have any more."""
    texts = (file.read_text(encoding="utf-8") for part in CHECKED for file in (ROOT / part).rglob("*.py"))
    here = {word for text in texts if "\nWHITELIST = {" not in text for word in re.findall(r"\w+", text)}
    for user, names in WHITELIST.items():
        for name in names.split():
            if name not in here:
                yield f"tools/dead_code.py: {name!r} of {user} is not in the code any more; delete it there"


def main() -> int:
    """Print what nothing uses."""
    lines = [*unused(), *stale()]
    print("\n".join([*lines, f"named and unused: {len(lines)}"]))
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
