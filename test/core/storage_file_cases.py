# SPDX-License-Identifier: Apache-2.0
"""Files of which one write is quick, for storage_trials: `-m test.core.storage_file_cases CASE PLACE`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from bam_core.errors import BamError
from bam_core.recordings.bag_files import read_messages
from bam_core.recordings.bag_writer import METADATA_NAME, BagWriter
from bam_core.servo.model import load_servo
from test.core.storage_trials import Case, main


class ServoFile(Case):
    """A servo file that replaces another one."""

    def prepare(self, place: Path) -> None:
        load_servo("mx64").save(place / "servo.yaml")

    def work(self, place: Path) -> int:
        load_servo("mx106").save(place / "servo.yaml")
        return 0

    def state(self, place: Path) -> str:
        return {"mx64": "old", "mx106": "new"}[load_servo(place / "servo.yaml").name]


class Bag(Case):
    """A bag of a run, whose messages are handed over every now and then."""

    TOPICS: ClassVar = {"/chatter": ("std_msgs/msg/UInt64", "uint64 data\n", "")}
    MESSAGES = 60
    may_stay = (f".{METADATA_NAME}.tmp",)

    def prepare(self, place: Path) -> None:
        self.acknowledge(0)

    def work(self, place: Path) -> int:
        bag = BagWriter(place / "run", self.TOPICS)
        try:
            for number in range(self.MESSAGES):
                bag.write("/chatter", 1 + number, b"\0\1\0\0" + number.to_bytes(8, "little"))
                if number % 4 == 3:
                    bag.flush()
                    self.acknowledge(number + 1)
            bag.close()
        except OSError:  # as the recorder does
            bag.abandon()
            return 2
        return 0

    def clear(self, place: Path) -> None:
        self.acknowledge(0)
        if (place / "run").exists():  # the recorder sets it aside
            (place / "run").rename(place / "run.interrupted-1")

    def state(self, place: Path) -> str:
        run = place / "run"
        files = sorted(run.glob("*.mcap"))
        numbers: list[int] = []
        if files and (self.count() or files[0].stat().st_size):
            try:
                numbers = [m.value.data for m in read_messages(files[0], {"std_msgs/msg/UInt64"}).messages]
            except BamError:
                assert not self.count()
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= self.count(), f"{self.count()} acknowledged, {len(numbers)} there"
        if (run / METADATA_NAME).exists():
            assert len(numbers) == self.MESSAGES
            return "new"
        return "interrupted" if run.exists() else "none"


if __name__ == "__main__":
    main({"servo file": ServoFile, "bag": Bag})
