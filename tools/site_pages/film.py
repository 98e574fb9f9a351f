# SPDX-License-Identifier: Apache-2.0
"""A film of the bench: the arm as recorded, and as simulated before and after the identification.

`python -m site_pages.film FILE.gif`. Where there is no OpenGL without a window it prints so, and leaves the
file as it is.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from bam_core.arrays import Array
from bam_core.cli.opengl import require_opengl
from bam_core.errors import MissingSoftware
from bam_core.files.atomic_file import write_bytes

if TYPE_CHECKING:
    from bam_core import Recording, ServoModel

SCRIPT = "lift_and_drop"
FRAME = 0.05  # s
LAST_FRAME = 1.5  # s, for which the film rests at its end
WIDTH, SCENE, CURVE = 320, 180, 84  # px, of one half; heights of the scene and of the curve below
TITLE = 40  # px, above
SKY = 120  # px of the 480 that are drawn, above all that moves
ROOM = 0.1  # rad, above and below the curves
BEFORE, AFTER = (0.76, 0.25, 0.05), (0.11, 0.31, 0.85)  # as in the pictures
COVER = {"ghost_load": 1.15, "ghost_rod": 1.8}
"""Times as large as the recorded arm the simulated one is: it shows where both are at the same place."""
COLORS = 128
INK, GREY, LINE = (22, 25, 29), (138, 146, 156), (214, 219, 226)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the film."""
    (name,) = sys.argv[1:] if argv is None else argv
    try:
        require_opengl(name)
        write_bytes(Path(name), gif(list(_frames())))
    except MissingSoftware as error:
        print(f"{error}; the film stays as it is", file=sys.stderr)
    return 0


def _frames() -> Iterator[Image.Image]:
    from bam_core import load_servo
    from site_pages import example

    run = example.recorded(example.specimen(), SCRIPT, example.LOADS[-1], example.TEST_GAIN)
    servos = {
        "data sheet": example.data_sheet_servo(),
        "identified (M4)": load_servo(example.made() / "m4.yaml"),
    }
    return frames(run, servos)


def frames(run: Recording, servos: Mapping[str, ServoModel]) -> Iterator[Image.Image]:
    """Return the pictures of a run, FRAME apart.

    Args:
        run: that was recorded on the bench.
        servos: that are simulated beside it, two, by what they are called.
    """
    halves = [
        _Half.of(title, servo, run, color)
        for (title, servo), color in zip(servos.items(), (BEFORE, AFTER), strict=True)
    ]
    for pair in zip(*(half.pictures() for half in halves), strict=True):
        whole = Image.new("RGB", (WIDTH * len(pair), TITLE + SCENE + CURVE), "white")
        for column, picture in enumerate(pair):
            whole.paste(picture, (column * WIDTH, 0))
        yield whole


@dataclass(frozen=True, kw_only=True, eq=False)
class _Half:
    """One simulation beside the recording.

    Attributes:
        title: what is simulated.
        run: that was recorded.
        simulated: (n,) rad, at the times of the recording.
        color: of what is simulated, 0..1.
    """

    title: str
    run: Recording
    simulated: Array
    color: tuple[float, float, float]

    @classmethod
    def of(cls, title: str, servo: ServoModel, run: Recording, color: tuple[float, float, float]) -> _Half:
        from bam_core import simulate_recording

        return cls(title=title, run=run, simulated=simulate_recording(servo, run), color=color)

    def pictures(self) -> Iterator[Image.Image]:
        import mujoco

        from bam_core.mujoco.film import open_renderer
        from bam_core.mujoco.picture import pose, scene

        model = scene(self.run.bench)
        for name, times in COVER.items():
            geom = model.geom(name)
            geom.rgba[:] = (*self.color, 0.6)
            geom.size[0] *= times
        data = mujoco.MjData(model)
        renderer = open_renderer(model)
        try:
            for time in np.arange(self.run.time[0], self.run.time[-1], FRAME):
                sample = int(np.searchsorted(self.run.time, time))
                pose(model, data, float(self.run.position[sample]), float(self.simulated[sample]))
                renderer.update_scene(data, camera="front")
                yield self._picture(renderer.render(), sample)
        finally:
            renderer.close()

    def _picture(self, drawn: Array, sample: int) -> Image.Image:
        picture = Image.new("RGB", (WIDTH, TITLE + SCENE + CURVE), "white")
        seen = Image.fromarray(drawn[SKY : SKY + 2 * SCENE])
        picture.paste(seen.resize((WIDTH, SCENE), Image.Resampling.LANCZOS), (0, TITLE))
        paper = ImageDraw.Draw(picture)
        error = 1e3 * float(np.mean(np.abs(self.simulated - self.run.position)))
        color = tuple(round(255 * part) for part in self.color)
        paper.text((10, 4), f"simulated: {self.title}", fill=color, font_size=15)
        paper.text((10, 22), f"over the recorded arm; {error:.1f} mrad off", fill=INK, font_size=12)
        paper.line((0, TITLE + SCENE, WIDTH, TITLE + SCENE), fill=LINE)
        for values, ink, width in ((self.run.position, GREY, 4), (self.simulated, color, 2)):
            points = list(zip(*self._pixels(values[: sample + 1]), strict=True))
            if len(points) > 1:
                paper.line(points, fill=ink, width=width, joint="curve")
        return picture

    def _pixels(self, values: Array) -> tuple[list[float], list[float]]:
        """Return x and y of a curve below the scene."""
        both = np.concatenate([self.run.position, self.simulated])
        low, high = both.min() - ROOM, both.max() + ROOM
        time = self.run.time - self.run.time[0]
        x = 8 + (WIDTH - 16) * time[: len(values)] / time[-1]
        y = TITLE + SCENE + CURVE * (high - values) / (high - low)
        return x.tolist(), y.tolist()


def gif(pictures: Sequence[Image.Image]) -> bytes:
    """Return a film's file. All frames have the same colours, so that what stands still takes no room."""
    some = pictures[:: max(len(pictures) // 6, 1)]
    sheet = Image.new("RGB", (some[0].width, some[0].height * len(some)))
    for row, picture in enumerate(some):
        sheet.paste(picture, (0, row * picture.height))
    palette = sheet.quantize(COLORS, dither=Image.Dither.NONE)
    first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    durations = [round(1e3 * FRAME)] * len(rest) + [round(1e3 * LAST_FRAME)]
    content = io.BytesIO()
    first.save(content, format="GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    return content.getvalue()


if __name__ == "__main__":
    sys.exit(main())
