# SPDX-License-Identifier: Apache-2.0
"""The symbolic link to the pseudo-terminal of a virtual bus, which no other bus takes away."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
from pathlib import Path

from bam_core.errors import Conflict, NotWritable


def default_link(namespace: str = "/") -> Path:
    """Return the link of a bench that names none: another one for every user and namespace.

    Args:
        namespace: of the node, such as "/left".
    """
    words = ["bam_bus", str(os.getuid()), *filter(None, namespace.split("/"))]
    return Path("/tmp", "_".join(words))


class BusLink:
    """A link as long as its bus is served.

    Args:
        path: of the link.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._device = Path()
        self._claim: socket.socket | None = None

    def make(self, device: Path) -> None:
        """Let it lead to a device; one that is left over from an earlier bus is replaced.

        Raises:
            Conflict: it leads to a bus that is served.
            NotWritable: there is something else, or the directory refuses it.
        """
        path = self.path
        if os.path.lexists(path) and not path.is_symlink():
            raise NotWritable(
                path, "is a file already", expected="a free name for the link", advice="choose another link"
            )
        self._claim = _claim(path)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            temporary.symlink_to(device)
            temporary.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):  # a name that is too long
                temporary.unlink(missing_ok=True)
            self.remove()
            raise NotWritable(path, error, advice="choose a directory that you can write") from None
        self._device = device

    def remove(self) -> None:
        """Take it away where it is still ours. Idempotent."""
        if self._claim is None:
            return
        made = self._device != Path()  # else its name may be none that can be looked at
        if made and self.path.is_symlink() and self.path.readlink() == self._device:
            self.path.unlink()
        self._claim.close()
        self._claim = None


def _claim(link: Path) -> socket.socket:
    """Return what keeps other buses of this machine from a link; raises Conflict where one has it.

    The device that a link leads to proves nothing: numbers of pseudo-terminals are given out again.
    """
    place = os.fsencode(link.parent.resolve() / link.name)
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        # A name without a file, gone with its process; of limited length.
        claim.bind(f"\0bam_bench_bus_{hashlib.sha256(place).hexdigest()[:32]}")
    except OSError:
        claim.close()
        raise Conflict(
            str(link),
            "leads to another virtual bus, which is served",
            expected="a link of its own for every bus",
            advice="end that one, or choose another link (and another port of the driver)",
        ) from None
    return claim
