# SPDX-License-Identifier: Apache-2.0
"""The engine plugin beside other versions of MuJoCo: built for each of them, and its equality tests run.

`.venv/bin/python tools/mujoco_versions.py 3.4.0 3.11.0 4.0.0` makes an environment for each version outside
the repository, from the package index. It prints how many tests passed, and how far an arm's motion is
from that with the MuJoCo of this Python: with MuJoCo's own tolerance of the solver, and with none.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = "test/core/mujoco/native/test_plugin.py"
DESCRIPTIONS = "test/core/mujoco/test_actuation.py"  # which edits descriptions
# Tests that use what the Python package of an older MuJoCo does not have; the plugin is not what they lack.
LEFT_OUT = {
    "test_rollouts_and_batches_are_what_a_loop_over_mj_step_is": ("mujoco.batch", (3, 12)),
    "test_a_copied_simulation_goes_on_alike": ("mujoco.mj_copyData", (3, 8)),
}
CONVERGED = 'tolerance="0" iterations="300" ls_tolerance="1e-12" ls_iterations="300"'
NO_DIFFERENCE = 1e-9  # rad, of an arm's motion where the solver has no tolerance: the same law
SWING = """
import sys
import mujoco
mujoco.mj_loadPluginLibrary(sys.argv[1])
joints = ["mx106", "xl330", "sts3215"]
link = '<body pos="0 0 -0.1"><joint name="{0}" axis="0 1 0" armature="0.02" frictionloss="0.1"/>'
link += '<geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.1" mass="0.05"/>'
servo = '<plugin joint="{0}" plugin="bam_bench.servo"><config key="servo" value="{0}"/>'
servo += '<config key="kp" value="20"/></plugin>'
arm = "".join(link.format(joint) for joint in joints) + "</body>" * len(joints)
model = mujoco.MjModel.from_xml_string(
    f'<mujoco><option timestep="0.001" {sys.argv[2]}/>'
    '<extension><plugin plugin="bam_bench.servo"/></extension>'
    f"<worldbody>{arm}</worldbody><actuator>{''.join(map(servo.format, joints))}</actuator></mujoco>"
)
data = mujoco.MjData(model)
while data.time < 4.0:
    data.ctrl[:] = 0.8 if data.time % 1.0 < 0.5 else -0.3
    mujoco.mj_step(model, data)
    print(*data.qpos)
"""


def main(versions: list[str]) -> int:
    """Try each version; return 0 where every test passed."""
    with tempfile.TemporaryDirectory() as place:
        constraints = Path(place, "constraints.txt")
        lock = (ROOT / "requirements" / "lock.txt").read_text().splitlines()
        constraints.write_text("\n".join(line for line in lock if not line.startswith("mujoco")))
        own = _swings(Path(sys.executable), Path(place, "own.so"))
        print(f"this Python: {sys.version.split()[0]}, MuJoCo {version('mujoco')}")
        return max((_try(wanted, Path(place), constraints, own) for wanted in versions), default=0)


def _try(wanted: str, place: Path, constraints: Path, own: list[list[float]]) -> int:
    """Make the environment of one version, build the plugin in it, and run the tests."""
    python = place / wanted / "bin" / "python"
    core = place / "core.in"
    lines = (ROOT / "requirements" / "core.in").read_text().splitlines()
    core.write_text("\n".join(line for line in lines if not line.startswith("mujoco")))
    uv = [sys.executable, "-m", "uv"]
    _run([*uv, "venv", "--quiet", "--python", sys.executable, str(place / wanted)])
    packages = ["-r", str(core), f"mujoco=={wanted}", "pytest", "hypothesis"]
    _run([*uv, "pip", "install", "--quiet", "--python", str(python), *packages, "-c", str(constraints)])
    plugin = place / f"{wanted}.so"
    swings = _swings(python, plugin)
    number = tuple(map(int, wanted.split(".")))
    left_out = [name for name, (_, since) in LEFT_OUT.items() if number < since]
    words = [part for name in left_out for part in ("--deselect", f"{TESTS}::{name}")]
    # Its plugins of pytest are those of a smaller environment than ours.
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, TESTS, DESCRIPTIONS]
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "BAM_SERVO_PLUGIN": str(plugin)},
        capture_output=True,
        text=True,
        check=False,
    )
    result = re.findall(r"^.*(?:passed|failed|error).*$", ended.stdout, re.MULTILINE)
    pairs = zip(swings, own, strict=True)
    usual, converged = (max(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs)
    print(f"MuJoCo {wanted}: {result[-1] if result else ended.stdout[-2000:] + ended.stderr[-2000:]}")
    print(f"  an arm's motion of 4 s: {usual:.1e} rad away at most, {converged:.1e} with a converged solver")
    for name in left_out:
        print(f"  left out: {name} ({LEFT_OUT[name][0]} is newer)")
    if ended.returncode:
        print(ended.stdout[-4000:])
    return 1 if ended.returncode or converged > NO_DIFFERENCE else 0


def _swings(python: Path, plugin: Path) -> list[list[float]]:
    """Build the plugin for the MuJoCo of a Python; return positions of an arm, as usual and converged."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    build = [str(python), "-m", "bam_core.cli", "build-plugin", "--output", str(plugin)]
    _run(build, environment)
    swing = [str(python), "-c", SWING, str(plugin)]
    return [list(map(float, _run([*swing, option], environment).split())) for option in ("", CONVERGED)]


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"mujoco_versions: {' '.join(command[:6])} ...: {ended.stderr.strip()[-1000:]}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
