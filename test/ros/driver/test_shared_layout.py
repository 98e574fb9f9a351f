# SPDX-License-Identifier: Apache-2.0
"""The layout of shared memory is the same in Python and in the header for C and C++."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bam_ros.driver import shared_layout
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.shared_layout import BLOCKS, KINDS, OFFSETS, SIZE, TYPES, Torque

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[3]
HEADER = ROOT / "bam_ros2_control" / "include"
CONSTANTS = {
    "BAM_VERSION": shared_layout.VERSION,
    "BAM_MOST_JOINTS": shared_layout.MOST_JOINTS,
    "BAM_LONGEST_NAME": shared_layout.LONGEST_NAME,
    "BAM_LONGEST_FAULT": shared_layout.LONGEST_FAULT,
    "BAM_NODE_BYTE": shared_layout.NODE_BYTE,
    "BAM_CLIENT_BYTE": shared_layout.CLIENT_BYTE,
    "BAM_SIZE": SIZE,
    **{f"BAM_TORQUE_{torque.name}": int(torque) for torque in Torque},
    **{f"BAM_KIND_{kind.name}": number for kind, number in KINDS.items()},
    **{f"BAM_{block.upper()}_OFFSET": offset for block, offset in OFFSETS.items()},
}


def expected() -> dict[str, list[int]]:
    """Name of a constant, block or field -> its value, or its offset and size."""
    fields = {
        f"Bam{block}.{field.name}": [kind.fields[field.name][1], kind[field.name].itemsize]
        for block, kind in TYPES.items()
        for field in BLOCKS[block]
    }
    sizes = {f"Bam{block}": [kind.itemsize] for block, kind in TYPES.items()}
    return {**{name: [value] for name, value in CONSTANTS.items()}, **sizes, **fields}


@pytest.mark.parametrize(("suffix", "compiler"), [("c", "gcc"), ("cc", "g++")])
def test_the_header_has_the_same(tmp_path: Path, suffix: str, compiler: str) -> None:
    lines = []
    for name in expected():
        if "." in name:
            block, field = name.split(".")
            values = f"offsetof({block}, {field}), sizeof((({block}*)0)->{field})"
            lines.append(f'printf("{name} %zu %zu\\n", {values});')
        else:
            value = name if name.isupper() else f"sizeof({name})"
            lines.append(f'printf("{name} %zu\\n", (size_t)({value}));')
    source = tmp_path / f"layout.{suffix}"
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n#include <bam_ros2_control/shared_layout.h>\n"
        + "int main(void) {\n"
        + "\n".join(lines)
        + "\nputs(BAM_MAGIC); puts(BAM_SEGMENT_PREFIX); return 0;\n}\n"
    )
    program = tmp_path / "layout"
    subprocess.run([compiler, "-Wall", "-Werror", f"-I{HEADER}", source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    assert printed[-2:] == [shared_layout.MAGIC.decode(), f"/{shared_layout.PREFIX}"]
    found = {name: [int(value) for value in values] for name, *values in map(str.split, printed[:-2])}
    assert found == expected()


def test_every_kind_has_a_number_of_its_own() -> None:
    assert set(KINDS) == set(CommandKind)
    assert len(set(KINDS.values())) == len(KINDS)
