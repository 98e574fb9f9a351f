# SPDX-License-Identifier: Apache-2.0
"""Let the virtual environment use the checkout and what colcon built, without sourcing anything.

Writes into the environment that runs it: a .pth file (checkout and generated interfaces on the path, ament
prefixes in the environment), links to the interface libraries beside the ROS wheels' own, and `bin/bam`.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PREFIX = ROOT / "install" / "bam_bench"
VENV = Path(sys.prefix)

BAM = """\
#!{python}
import sys

from bam_ros.cli import main

if __name__ == "__main__":
    sys.exit(main())
"""


def main() -> int:
    """Write the three, replacing what an earlier run left."""
    site_packages = Path(sysconfig.get_path("purelib"))
    interfaces = next(PREFIX.glob("lib/python3*/site-packages"), None) or next(
        PREFIX.glob("local/lib/python3*/dist-packages")
    )
    prefixes = [str(PREFIX)]
    if (VENV / "share" / "ament_index").is_dir():  # ROS 2 as wheels: the environment is a prefix, too
        prefixes.append(str(VENV))
    # The checkout comes first so that an edit is seen without a build; one line, because .pth files
    # execute only lines that start with `import`.
    (site_packages / "bam_bench.pth").write_text(
        f"{ROOT}\n{interfaces}\n"
        "import os; p = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)); "
        f"os.environ['AMENT_PREFIX_PATH'] = os.pathsep.join(dict.fromkeys([*p, *{prefixes!r}]))\n"
    )
    for library in VENV.joinpath("lib").glob("libbam_bench__*.so"):
        library.unlink()
    for library in PREFIX.joinpath("lib").glob("libbam_bench__*.so"):
        VENV.joinpath("lib", library.name).symlink_to(library)
    command = VENV / "bin" / "bam"
    command.write_text(BAM.format(python=VENV / "bin" / "python"))
    command.chmod(0o755)
    return 0


if __name__ == "__main__":
    sys.exit(main())
