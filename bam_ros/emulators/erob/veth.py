# SPDX-License-Identifier: Apache-2.0
"""A pair of network interfaces joined by a virtual cable: the master at one end, the slaves at the other."""

from __future__ import annotations

import contextlib
import errno
import re
import time
from pathlib import Path
from types import TracebackType

from bam_core.errors import Conflict, OutOfRange, Unavailable
from bam_ros.emulators.erob.permission import veth_refused
from bam_ros.erob.interface import has_carrier

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,15}")
_LINK_POLL = 0.005  # s


class VethPair:
    """Makes the pair on entry and removes it on exit.

    Args:
        master: name of the end that a master opens.
        slaves: name of the other end.
        link_timeout: time in which the ends find each other, s. The kernel reports that a cable is plugged
            some time after it is: on a busy machine ten seconds later.
    """

    def __init__(self, master: str, slaves: str, link_timeout: float = 60.0) -> None:
        for name in (master, slaves):
            if not _NAME.fullmatch(name) or name in (".", ".."):
                raise OutOfRange(
                    "name of an interface", name, "1 to 15 letters, digits, - _ .", advice="choose another"
                )
        if master == slaves:
            raise Conflict(
                f"veth pair {master}:{slaves}", "both ends have the same name", advice="choose another"
            )
        self.master = master
        self.slaves = slaves
        self._link_timeout = link_timeout
        self._made = False

    @classmethod
    def parse(cls, words: str) -> VethPair:
        """Read MASTER:SLAVES; raises BamError."""
        master, separator, slaves = words.partition(":")
        if not separator:
            raise OutOfRange("veth pair", words, "MASTER:SLAVES, such as ecat0:ecat1")
        return cls(master, slaves)

    def make(self) -> None:
        """Make the pair, switch both ends on, and wait until a master would find the cable plugged.

        Raises:
            BamError: it is not permitted, a name is taken, or the ends do not find each other.
        """
        from pyroute2 import IPRoute, NetlinkError

        try:
            with IPRoute() as route:
                route.link("add", ifname=self.master, kind="veth", peer={"ifname": self.slaves})
                self._made = True
                for name in (self.master, self.slaves):
                    _keep_quiet(name)
                    route.link("set", index=route.link_lookup(ifname=name)[0], state="up")
        except NetlinkError as error:
            self.remove()
            if error.code == errno.EPERM:
                raise veth_refused(self.master, self.slaves) from None
            if error.code == errno.EEXIST:
                raise Conflict(
                    f"veth pair {self.master}:{self.slaves}",
                    "one of these interfaces exists already",
                    advice=f"choose other names, or remove it: sudo ip link del {self.master}",
                ) from None
            reason = error.args[1] if len(error.args) > 1 else error
            raise Unavailable(
                f"veth pair {self.master}:{self.slaves}",
                f"cannot be made ({reason})",
                advice="make it with ip link",
            ) from None
        except PermissionError:
            raise veth_refused(self.master, self.slaves) from None
        self._wait_for_link()

    def _wait_for_link(self) -> None:
        deadline = time.monotonic() + self._link_timeout
        while not (has_carrier(self.master) and has_carrier(self.slaves)):
            if time.monotonic() > deadline:
                self.remove()
                raise Unavailable(
                    f"veth pair {self.master}:{self.slaves}",
                    f"has no link {self._link_timeout:.0f} s after it was made",
                    advice="look at ip link",
                )
            time.sleep(_LINK_POLL)

    def remove(self) -> None:
        """Take the pair away; idempotent."""
        if not self._made:
            return
        from pyroute2 import IPRoute, NetlinkError

        self._made = False
        with contextlib.suppress(NetlinkError, OSError), IPRoute() as route:
            for index in route.link_lookup(ifname=self.master):
                route.link("del", index=index)

    def __enter__(self) -> VethPair:
        self.make()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def _keep_quiet(name: str) -> None:
    """Keep the system from sending its own packets over an interface."""
    with contextlib.suppress(OSError):
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
