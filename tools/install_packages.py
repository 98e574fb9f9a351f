# SPDX-License-Identifier: Apache-2.0
"""Install what requirement files name into the environment that runs this: by uv, or by pip where uv cannot.

uv takes a fifth of pip's time. It reads no settings of pip's; those for where packages come from are
handed on. pip installs where a setting cannot be handed on, where packages of the system count (a sourced ROS
brings some, and uv does not see them), and where uv fails. All that both print goes to log/setup.txt.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "log" / "setup.txt"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")

CARRIED = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_EXTRA_INDEX_URL", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "constraint": ("UV_CONSTRAINT", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
    "proxy": ("ALL_PROXY", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "retries": ("UV_HTTP_RETRIES", " "),
}
"""Setting of pip -> the variable of uv that means the same, and what stands between its values there."""

WITHOUT_EFFECT = {
    "break-system-packages",
    "cache-dir",
    "compile",
    "disable-pip-version-check",
    "exists-action",
    "keyring-provider",
    "log",
    "no-cache-dir",
    "no-color",
    "no-compile",
    "no-input",
    "no-python-version-warning",
    "no-warn-conflicts",
    "no-warn-script-location",
    "prefer-binary",
    "progress-bar",
    "quiet",
    "require-virtualenv",
    "root-user-action",
    "user",
    "verbose",
}
"""Settings of pip that do not change which packages arrive in a virtual environment, or from where."""


class NotForUvError(Exception):
    """pip has to install; the text has the reason."""


def main(files: list[str]) -> int:
    """Install what the files name, within the versions of the lock."""
    constraints = Path(sys.prefix, "constraints.txt")  # set-up writes it where it differs from the lock
    if not constraints.is_file():
        constraints = ROOT / "requirements" / "lock.txt"
    wanted = [part for file in files for part in ("-r", file)] + ["-c", str(constraints)]
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("")
    try:
        install_by_uv(wanted)
    except NotForUvError as reason:
        if str(reason):
            print(f"{reason}; pip installs instead, which takes longer", file=sys.stderr)
        if logged([*PIP, "install", "--progress-bar", "off", *wanted]):
            print("".join(LOG.read_text().splitlines(keepends=True)[-40:]), file=sys.stderr)
            print(f"make setup: pip failed; its whole output is in {LOG.relative_to(ROOT)}", file=sys.stderr)
            return 2
    return 0


def install_by_uv(wanted: list[str]) -> None:
    """Install by uv.

    Args:
        wanted: arguments that `uv pip install` and `pip install` share.

    Raises:
        NotForUvError: it could not, or must not.
    """
    if sees_system_packages(Path(sys.prefix)):
        raise NotForUvError
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False).stdout
    environment = uv_environment(pip_settings(listed), os.environ)
    if importlib.util.find_spec("uv") is None:
        own = ["-r", "requirements/installer.in", *wanted[-2:]]
        # Only a wheel: building uv takes a Rust compiler and minutes.
        if logged([*PIP, "install", "--progress-bar", "off", "--only-binary=:all:", *own]):
            raise NotForUvError(f"uv cannot be installed ({last_line()})")
    uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]
    if logged([*uv, *wanted], environment):
        raise NotForUvError(f"uv failed ({last_line()})")


def sees_system_packages(prefix: Path) -> bool:
    """Return whether packages outside a virtual environment count as installed in it."""
    settings = (prefix / "pyvenv.cfg").read_text().lower()
    return re.search(r"^include-system-site-packages\s*=\s*true", settings, re.MULTILINE) is not None


def pip_settings(listed: str) -> dict[str, list[str]]:
    """Return what counts for `pip install`, from what `pip config list` prints: name -> values."""
    settings: dict[tuple[int, str], list[str]] = {}
    order = {"global": 0, "install": 1, ":env:": 2}  # what comes later counts more
    for section, name, value in re.findall(r"^(:env:|\w+)\.([\w-]+)=('.*'|\".*\")$", listed, re.MULTILINE):
        if section in order:
            settings[order[section], name] = str(ast.literal_eval(value)).split()
    return {name: values for (_, name), values in sorted(settings.items())}


def uv_environment(settings: Mapping[str, list[str]], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which uv does as pip would.

    Args:
        settings: of pip.
        environment: of this process; its settings of uv itself count more.

    Raises:
        NotForUvError: one of the settings has no counterpart.
    """
    # To pip, all indexes are equal; versions are those of the lock.
    carried = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for name, values in settings.items():
        if name in CARRIED:
            variable, between = CARRIED[name]
            carried[variable] = between.join(values)
        elif name not in WITHOUT_EFFECT:
            raise NotForUvError(f"uv would not heed the setting {name} of pip")
    bundle = environment.get("REQUESTS_CA_BUNDLE") or environment.get("CURL_CA_BUNDLE")
    if bundle:  # pip heeds these
        carried.setdefault("SSL_CERT_FILE", bundle)
    known = ssl.get_default_verify_paths()
    if known.cafile or known.capath:  # as newer versions of pip; else uv takes certificates of its own
        carried["UV_SYSTEM_CERTS"] = "1"
    if settings.get("no-cache-dir", ["0"])[0].lower() in ("1", "true", "yes", "on"):
        carried["UV_NO_CACHE"] = "1"
    return {**carried, **environment}


def logged(command: list[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a command, its output into the log; return its exit status."""
    with LOG.open("a") as log:
        ended = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, env=environment, check=False)
    return ended.returncode


def last_line() -> str:
    """Return the log's last line that is not empty."""
    lines = [line.strip() for line in LOG.read_text().splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
