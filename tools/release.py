# SPDX-License-Identifier: Apache-2.0
"""`make release`: checks, wheel and sdist tried in clean environments, bill of materials, annotated tag.

Nothing is published or pushed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]


class NotReadyError(Exception):
    """What a release lacks, in one line with its cure."""


def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the version in each file, empty where it has none."""

    def version_in(name: str, pattern: str) -> str:
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        return match[1] if match else ""

    return {
        "bam_core/_version.py": version_in("bam_core/_version.py", r'^__version__ = "(.+)"$'),
        "package.xml": ElementTree.parse(root / "package.xml").findtext("version") or "",
        "CITATION.cff": version_in("CITATION.cff", r"^version: (\S+)$"),
        "CHANGELOG.md": version_in("CHANGELOG.md", r"^## \[(\d\S*)\]"),
    }


def released_version(root: Path = ROOT) -> str:
    """Return the version to release.

    Raises:
        NotReadyError: files differ, or the changelog has no date for it.
    """
    by_file = versions(root)
    version = by_file["bam_core/_version.py"]
    for name, stated in by_file.items():
        if stated != version:
            raise NotReadyError(
                f"{name}: version is '{stated}' (expected {version}, as in bam_core/_version.py); correct it"
            )
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = re.search(rf"^## \[{re.escape(version)}\] - (.*)$", text, re.MULTILINE)
    try:
        date.fromisoformat(dated[1] if dated else "")
    except ValueError:
        raise NotReadyError(
            f"CHANGELOG.md: {version} has no date (expected '## [{version}] - YYYY-MM-DD'); write it"
        ) from None
    return version


def require_releasable_commit(version: str, git: Callable[..., str]) -> None:
    """Raise NotReadyError unless the tree is clean, on main, and the version has no tag yet."""
    if changed := git("status", "--porcelain"):
        raise NotReadyError(
            f"{changed.split()[1]}: is not committed (expected a clean tree); commit or remove it"
        )
    if (branch := git("branch", "--show-current")) != "main":
        raise NotReadyError(
            f"branch {branch or 'none'}: is no release branch (expected main); git switch main"
        )
    if git("tag", "--list", f"v{version}"):
        raise NotReadyError(f"tag v{version}: exists already (expected a new version); set the next version")


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def main() -> int:
    """Release the version; return 2 where something is not ready, 1 where a check failed."""
    try:
        version = released_version()
        require_releasable_commit(version, _git)
        commit = _git("rev-parse", "HEAD")
        for command in (
            ["make", "check", "test", "test-long", "docs"],
            ["make", "install-check", "DIST=dist"],
            ["sh", "-c", f"{sys.executable} tools/sbom.py dist/bam_bench-{version}-*.whl"],
        ):
            if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
                print(f"release: '{' '.join(command)}' failed; nothing is tagged", file=sys.stderr)
                return 1
        require_releasable_commit(version, _git)
        if _git("rev-parse", "HEAD") != commit:
            raise NotReadyError(
                f"HEAD: has moved from {commit[:12]} during the checks; run 'make release' again"
            )
    except NotReadyError as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    _git("tag", "--annotate", f"v{version}", "--message", f"bam_bench {version}")
    print(
        f"tagged {commit[:12]} as v{version}; wheel, sdist and bill of materials are in dist/;"
        " nothing was published or pushed"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
