# SPDX-License-Identifier: Apache-2.0
"""Let the virtual environment use the checkout and what colcon built, without sourcing anything.

Writes into the environment that runs it: a .pth file (checkout and generated interfaces on the path, ament
prefixes in the environment), links to the interface libraries beside the ROS wheels' own, and `bin/bam`.
Shells may source install/setup.bash nevertheless: the scripts there get a Python without that .pth file.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALL = ROOT / "install"
PREFIX = INSTALL / "bam_bench"
VENV = Path(sys.prefix)

BAM = """\
#!{python}
import sys

from bam_ros.cli import main

if __name__ == "__main__":
    sys.exit(main())
"""


def main() -> int:
    """Write all of it, replacing what an earlier run left."""
    site_packages = Path(sysconfig.get_path("purelib"))
    interfaces = next(PREFIX.glob("lib/python3*/site-packages"), None) or next(
        PREFIX.glob("local/lib/python3*/dist-packages")
    )
    prefixes = [PREFIX]
    if (VENV / "share" / "ament_index").is_dir():  # ROS 2 as wheels: the environment is a prefix, too
        prefixes.append(VENV)
    write_paths(site_packages, [ROOT, interfaces], prefixes)
    use_base_python(INSTALL, VENV)
    for library in VENV.joinpath("lib").glob("libbam_bench__*.so"):
        library.unlink()
    for library in PREFIX.joinpath("lib").glob("libbam_bench__*.so"):
        VENV.joinpath("lib", library.name).symlink_to(library)
    command = VENV / "bin" / "bam"
    command.write_text(BAM.format(python=VENV / "bin" / "python"))
    command.chmod(0o755)
    return 0


def write_paths(site_packages: Path, paths: list[Path], prefixes: list[Path]) -> None:
    """Write the .pth file.

    Args:
        site_packages: of the environment.
        paths: of modules. The checkout comes first so that an edit is seen without a build.
        prefixes: of packages, for AMENT_PREFIX_PATH.
    """
    installed = [str(prefix) for prefix in prefixes]
    # One line, because .pth files execute only lines that start with `import`.
    (site_packages / "bam_bench.pth").write_text(
        "".join(f"{path}\n" for path in paths)
        + "import os; p = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)); "
        f"os.environ['AMENT_PREFIX_PATH'] = os.pathsep.join(dict.fromkeys([*p, *{installed!r}]))\n"
    )


def use_base_python(install: Path, venv: Path) -> None:
    """Name the Python below the environment in the scripts that shells source.

    colcon names the Python that runs it. That one of the environment has the prefix in its AMENT_PREFIX_PATH
    from the start, so that the scripts' helper would take it for set already and not export it.

    Args:
        install: directory of the scripts.
        venv: the environment.
    """
    base = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    named = re.compile(rf'(?<=_colcon_python_executable="){re.escape(str(venv))}/bin/python[\d.]*(?=")')
    for script in install.glob("local_setup.*"):
        script.write_text(named.sub(lambda _: str(base), script.read_text()))


if __name__ == "__main__":
    sys.exit(main())
