# SPDX-License-Identifier: Apache-2.0
"""Control tables of own Dynamixels (`models:=FILE`): registers that convert both ways, or one line."""

from __future__ import annotations

from bam_ros.dynamixel.control_table import CONTROL_TABLES
from test.fuzz.target import FILES, Target, attempt, file

_LONGEST_ADDRESS = 1 << 16


def check(data: bytes) -> None:
    path = file("models.yaml", data)
    tables = attempt(lambda: CONTROL_TABLES.with_file(path))
    if tables is None:
        return
    for name in set(tables) - set(CONTROL_TABLES):
        table = tables[name]
        assert table.baud_rates
        assert all(rate > 0 for rate in table.baud_rates.values())
        for row in table.registers:
            assert 0 <= row.address < _LONGEST_ADDRESS
            assert row.low <= row.high
            assert row.from_si(row.to_si(row.high)) == row.high


def seeds() -> list[bytes]:
    """Return models that are like built-in ones, and one of its own."""
    return [
        b"my_servo:\n  like: xm430_w350\n  title: My servo\n  model_number: 4711\n"
        b"  units: {current: {A: 0.001}}\n  registers:\n"
        b"    current_limit: [38, 2, ERW, 500, 0, 500, current]\n    led: ~\n",
        b"a: {like: mx106, title: A, model_number: 9, baud_divider: 2000000, baud_rates: {1: 1000000}}\n",
        b"base: {like: xl320}\nb: {like: base, title: B, model_number: 8, position_mode: {led: 2}}\n",
        b"c: {like: c, title: C, model_number: 7}\n",
        b"d: {like: xl330_m288, model_number: 6, error_bits: {0: INPUT_VOLTAGE}, indirect: ~}\n",
        b"e: {like: xm430_w350, model_number: 5, data_sheet: [12, 4.1, 2.3, 46], law_off: [led]}\n",
    ]


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_ros.dynamixel.table_file",
        "bam_ros.dynamixel.table_schema",
        "bam_ros.dynamixel.control_table",
        "bam_ros.dynamixel.register",
        "bam_core.files.yaml_file",
    ),
    longest=1500,
    runs=FILES,
)
