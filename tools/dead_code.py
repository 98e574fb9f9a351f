# SPDX-License-Identifier: Apache-2.0
"""Names in the code that nothing uses: a part of `make check`. Status 1 where there are any.

Tests, examples and launch files count as users; what is unused in them is not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).resolve().parents[1]
CHECKED = ("bam_core", "bam_ros", "papers", "studies", "tools")
USERS = ("test", "examples", "launch", "docs/conf.py", "setup.py")

WHITELIST = {
    # Set for a library, which reads it.
    "MuJoCo": "act actfrclimited actfrcrange actgravcomp"
    " azimuth biastype diffuse elevation gaintype"
    " matid modelfiledir offheight offwidth plugin_name text_factory",
    "C, whose memory it keeps": "_alive",
    "NumPy": "writeable",
    "Numba": "_cache",
    "Python": "dont_write_bytecode",
    "rclpy": "floating_point_range integer_range",
    "pysoem": "ret sdo_read_timeout sdo_write_timeout tx_mailbox",
    "the SDK of Dynamixel, for ports": "getCurrentTime is_open is_using tx_time_per_byte",
    # Called by a library, by name.
    "mjlab": "edit_spec",
    "files for Playground": "tree_replace",
    "CycloneDX": "timestamp",
    "rclpy's life cycle": "on_activate on_cleanup on_deactivate on_error on_shutdown",
    "LeRobot, for leaders": "calibrate config_class feedback_features get_action is_calibrated is_connected"
    " send_feedback",
    "ast": "visit_AnnAssign visit_JoinedStr",
    "pytest": "pytest_collectreport pytest_runtest_logreport",
    # Fields that are written as JSON with all others, and read by name.
    "results of studies": "delay_p50 delay_p99 ms_per_evaluation ns_per_step sysid_settings",
}
"""Who uses a name that no Python here does -> names."""


@dataclass(frozen=True, kw_only=True)
class House:
    """What is checked.

    Attributes:
        root: of the repository.
        checked: packages whose names somebody has to use.
        users: who may use them beside these packages.
        whitelist: who uses a name that no Python here does -> names.
    """

    root: Path = ROOT
    checked: Sequence[str] = CHECKED
    users: Sequence[str] = USERS
    whitelist: Mapping[str, str] = field(default_factory=lambda: WHITELIST)


def template_words(root: Path) -> str:
    """Return the words of the templates of pages, which use names of Python."""
    texts = (file.read_text(encoding="utf-8") for file in sorted((root / "bam_core").rglob("*.jinja")))
    return "\n".join(sorted({word for text in texts for word in re.findall(r"[a-z_]\w*", text)}))


def unused(house: House) -> Iterator[str]:
    """Return file, line and name of what nothing uses."""
    vulture = Vulture()
    vulture.scavenge([str(house.root / part) for part in (*house.checked, *house.users)])
    used = {*template_words(house.root).split(), *" ".join(house.whitelist.values()).split()}
    for item in vulture.get_unused_code(min_confidence=60):
        file = item.filename.resolve().relative_to(house.root)
        if file.parts[0] in house.checked and item.name not in used:
            yield f"{file}:{item.first_lineno}: unused {item.typ} {item.name!r}"


def stale(house: House) -> Iterator[str]:
    """Return names of the whitelist that the code does not have any more."""
    files = (file for part in house.checked for file in (house.root / part).rglob("*.py"))
    texts = (file.read_text(encoding="utf-8") for file in files)
    here = {word for text in texts if "\nWHITELIST = {" not in text for word in re.findall(r"\w+", text)}
    for user, names in house.whitelist.items():
        for name in names.split():
            if name not in here:
                yield f"tools/dead_code.py: {name!r} of {user} is not in the code any more; delete it there"


def main(house: House | None = None) -> int:
    """Print what nothing uses."""
    house = house or House()
    lines = [*unused(house), *stale(house)]
    print("\n".join([*lines, f"named and unused: {len(lines)}"]))
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
