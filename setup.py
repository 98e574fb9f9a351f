# SPDX-License-Identifier: Apache-2.0
"""`pip install .`: the part that needs no ROS 2, package `bam_core` and command `bam`."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent

setup(
    name="bam_bench",
    version=re.search(r'__version__ = "(.+)"', (HERE / "bam_core" / "_version.py").read_text())[1],
    description="Identify a servo's friction on a pendulum bench, and simulate robots that move like it",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=find_packages(include=["bam_core", "bam_core.*"]),
    package_data={"bam_core": ["py.typed", "servos/*.yaml", "servo/*.yaml", "report/assets/*"]},
    # As requirements/core.in, which the lock file is made from.
    install_requires=[
        "numpy",
        "scipy",
        "threadpoolctl",
        "numba",
        "cmaes",
        "optuna",
        "mujoco",
        "rosbags",
        "mcap>=1.6",
        "PyYAML",
        "matplotlib",
        "tqdm",
        "jinja2",
    ],
    extras_require={
        "cluster": ["distributed"],
        "postgresql": ["psycopg[binary]"],
        "browser": ["websockets"],
    },
    entry_points={"console_scripts": ["bam = bam_core.cli:main"]},
)
