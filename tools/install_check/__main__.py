# SPDX-License-Identifier: Apache-2.0
"""Install in clean environments, with pip and with uv, and run what README and site print.

`python -m install_check [--tools pip,uv]` prints every documented command with what became of it; the exit
status is 1 where one failed. The source tree, the wheel and the sdist are each installed into an environment
of their own and tried; the documented commands run in the one of the source tree.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from site_pages import commands as command_pages
from site_pages import launch_files, nodes, servo_cards

from install_check.documented_commands import Command, commands
from install_check.environments import ROOT, CommandError, Environment, build, copy_sources, run
from test.documented import written

RECORDINGS = ROOT / "test" / "data" / "simulated_xl330"
SWING = """
import mujoco
from bam_core import NativeServo, equip_native
spec = mujoco.MjSpec.from_string('''<mujoco><worldbody><body><joint name="j" axis="0 1 0"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="0.3"/></body></worldbody></mujoco>''')
equip_native(spec, {"j": NativeServo(servo="mx106")})
model = spec.compile()
data = mujoco.MjData(model)
data.ctrl[:] = 0.5
while data.time < 2.0:
    mujoco.mj_step(model, data)
assert abs(data.qpos[0] - 0.5) < 0.2, data.qpos
"""
TRIED = (
    "bam --version",
    "bam servos",
    "bam identify recordings --servo xl330 --models m1 --trials 60 --effects none --output identified",
    "bam report identified",
    f"python -c '{SWING.replace(chr(39) * 3, chr(34) * 3)}'",
)
"""What has to work after each installation: commands, a fit, the report and the engine plugin."""


def main() -> int:
    """Run all; return 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m install_check", description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default="pip,uv", metavar="pip,uv", help="which installers")
    parser.add_argument("--dist", metavar="DIRECTORY", help="keep wheel and sdist here")
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="bam_bench_install_") as place:
        source, dist = Path(place, "source"), Path(place, "dist")
        copy_sources(source)
        began = time.monotonic()
        wheel, sdist = build(source, dist)
        print(f"built {wheel.name}, {sdist.name} in {time.monotonic() - began:.0f} s", flush=True)
        for tool in arguments.tools.split(","):
            for what in (".", str(wheel), str(sdist)):
                for line, problem in _installed(Path(place), source, tool, what):
                    failed |= bool(problem)
                    print(f"{line}\n{problem}" if problem else line, flush=True)
        if arguments.dist and not failed:
            Path(arguments.dist).mkdir(exist_ok=True)
            for file in (wheel, sdist):
                shutil.copy(file, arguments.dist)
    return int(failed)


def _installed(place: Path, source: Path, tool: str, what: str) -> Iterator[tuple[str, str]]:
    """Install into a clean environment and try it; give lines, each with the problem or nothing."""
    label = Path(what).name if what != "." else "."
    with tempfile.TemporaryDirectory(dir=place) as directory:
        environment = Environment.make(Path(directory, "venv"), tool)
        home = Path(directory, "home")
        home.mkdir()
        (home / "recordings").symlink_to(RECORDINGS)
        began = time.monotonic()
        try:
            environment.install(what, source)
            for command in TRIED:
                run(command, home, environment.variables)
        except CommandError as error:
            yield f"failed   {tool} install {label}", str(error)
            return
        yield f"works    {tool} install {label} ({time.monotonic() - began:.0f} s)", ""
        if what == ".":
            yield from _documented(Path(directory), environment)


def _documented(place: Path, environment: Environment) -> Iterator[tuple[str, str]]:
    """Run the commands of every page in a workspace of its own, in their order."""
    pages = {
        **written(),
        **command_pages.pages(),
        **nodes.pages(),
        **launch_files.pages(),
        **servo_cards.pages(),
    }
    prepared = place / "prepared"
    prepared.mkdir()
    run(["python", Path(__file__).with_name("workspace.py"), prepared], place, environment.variables)
    run("bam import recordings --output bags", prepared, environment.variables)
    done: set[tuple[str, str]] = set()
    for command in commands(pages):
        if (command.page, command.text) in done:
            continue
        done.add((command.page, command.text))
        where = f"{command.page}:{command.line}: {command.text}"
        if command.reason:
            yield f"not run  {where} ({command.reason})", ""
            continue
        began = time.monotonic()
        try:
            if command.package:
                environment.install(command.package, place)
            run(command.typed, _workspace(place, prepared, command), environment.variables)
        except CommandError as error:
            yield f"failed   {where} (as: {command.typed})", str(error)
            continue
        yield f"ran      {where} ({time.monotonic() - began:.0f} s)", ""


def _workspace(place: Path, prepared: Path, command: Command) -> Path:
    """Return the directory in which a page's commands run."""
    directory = place / command.page.replace("/", "_")
    if not directory.exists():
        shutil.copytree(prepared, directory, symlinks=True)
        if command.page == "docs/robot.md":  # the fit of a robot asks for a new directory
            shutil.rmtree(directory / "identified")
        if command.page == "reference/commands.md":  # its examples are on recordings of an XL330
            shutil.rmtree(directory / "recordings")
            (directory / "recordings").symlink_to(RECORDINGS)
        if command.page == "docs/how-to/recordings.md":  # one bag of a recorder that was killed
            bag = next((directory / "bags").glob("*/*.mcap"))
            bag.write_bytes(bag.read_bytes()[: -bag.stat().st_size // 10])
        if command.page == "docs/own_servo.md":  # recordings of the servo that the page describes
            for log in (directory / "recordings").glob("*.json"):
                log.write_text(log.read_text().replace('"mx106"', '"xm540_w270"'))
    return directory


if __name__ == "__main__":
    sys.exit(main())
