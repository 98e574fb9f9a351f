# SPDX-License-Identifier: Apache-2.0
"""Topics, services and actions of each node, as a table and as policies for SROS2.

`python tools/node_policies.py` writes tables into docs/security.md and docs/reference/ros.md, and the
policies into config/sros2/.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from xml.sax.saxutils import escape

from bam_core.files.atomic_file import write_text
from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.node.node_modules import NODE_MODULES, VIRTUAL_SERVOS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "security.md"
REFERENCE = ROOT / "docs" / "reference" / "ros.md"
POLICIES = ROOT / "config" / "sros2"
BEGIN, END = "<!-- nodes: begin -->", "<!-- nodes: end -->"

NODES: tuple[NodeAbout, ...] = tuple(import_module(module).PROGRAM.about for module in NODE_MODULES.values())
PROCESSES: Mapping[str, tuple[NodeAbout, ...]] = {
    **{about.name: (about,) for about in NODES},
    "composition": tuple(about for about in NODES if about.name not in VIRTUAL_SERVOS),
}
"""Executable -> nodes that it may run."""
_WIRES = {
    "dynamixel": "the serial port `port`",
    "feetech": "the serial port `port`",
    "erob": "raw EtherCAT frames at `interface`; a pipe to its own master process",
    "feedforward": "the serial port `port` where it drives servos itself",
    "virtual_dynamixel": "the pseudo-terminal that it makes",
    "virtual_feetech": "the pseudo-terminal that it makes",
    "virtual_erob": "raw EtherCAT frames at the virtual interface that it makes; a local control socket",
}
_PARAMETERS = (
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
    "get_type_description",
)
_LIFECYCLE = (
    "change_state",
    "get_state",
    "get_available_states",
    "get_available_transitions",
    "get_transition_graph",
)
_OF_DRIVERS = ("set_gains", "hold_gains", "get_state")
_DRIVERS = ("dynamixel", "feetech", "erob", "simulator")
_LIFECYCLE_NODES = (*_DRIVERS, "feedforward")


def table() -> str:
    """Return the nodes and what reaches them, in Markdown."""
    lines = [
        "| node | subscribes | services | actions | besides | may be set while it runs |",
        "|---|---|---|---|---|---|",
    ]
    for about in NODES:
        cells = [
            f"`{about.name}`",
            _listed([*(topic.name for topic in _of(about, "subscribes")), *_COPIES.get(about.name, ())]),
            _listed(service.name for service in _of(about, "service")),
            _listed(action.name for action in _of(about, "action")),
            _WIRES.get(about.name, "-"),
            _listed(parameter.name for parameter in about.parameters if not parameter.read_only),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def reference_table() -> str:
    """Return what nodes offer, in Markdown: first what all drivers have, then what each has beside."""
    drivers = [about for about in NODES if about.name in _LIFECYCLE_NODES]
    common = frozenset.intersection(*(frozenset(_offered(about)) for about in drivers))
    lines = ["| node | publishes | subscribes | services | actions |", "|---|---|---|---|---|"]
    lines.append(_row("every driver", (offer for offer in _offered(drivers[0]) if offer in common)))
    for about in NODES:
        rest = (offer for offer in _offered(about) if about not in drivers or offer not in common)
        lines.append(_row(f"`{about.name}`", rest))
    return "\n".join(lines)


def _offered(about: NodeAbout) -> Iterator[tuple[str, str]]:
    return ((interface.kind, interface.name) for interface in about.interfaces)


def _row(title: str, offered: Iterable[tuple[str, str]]) -> str:
    by_kind: dict[str, list[str]] = {}
    for kind, name in offered:
        by_kind.setdefault(kind, []).append(name)
    cells = [_listed(by_kind.get(kind, ())) for kind in ("publishes", "subscribes", "service", "action")]
    return f"| {' | '.join([title, *cells])} |"


def policy(enclave: str, nodes: Sequence[NodeAbout]) -> str:
    """Return the SROS2 policy of a process: what its nodes do, and nothing else.

    Args:
        enclave: name of its enclave in /bam_bench.
        nodes: that it runs; ROS 2 gives a process one enclave, whatever runs in it.
    """
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<policy version="0.2.0">',
            "  <enclaves>",
            f'    <enclave path="/bam_bench/{enclave}">',
            "      <profiles>",
            *(line for about in nodes for line in _profile(about)),
            "      </profiles>",
            "    </enclave>",
            "  </enclaves>",
            "</policy>",
            "",
        ]
    )


def _profile(about: NodeAbout) -> Iterator[str]:
    """Give what a policy allows one node."""
    publishes = [*(topic.name for topic in _of(about, "publishes")), "/rosout", "/parameter_events"]
    subscribes = [*(topic.name for topic in _of(about, "subscribes")), "/clock", "/parameter_events"]
    services = [service.name for service in _of(about, "service")]
    services += [f"~/{parameter}" for parameter in _PARAMETERS]
    if about.name in _LIFECYCLE_NODES:
        services += [f"~/{service}" for service in _LIFECYCLE]
        publishes.append("~/transition_event")
    subscribes += _COPIES.get(about.name, ())
    name = about.name
    parts = (
        _rules(name, "topics", "publish", "topic", publishes),
        _rules(name, "topics", "subscribe", "topic", subscribes),
        _rules(name, "services", "reply", "service", services),
        _rules(name, "services", "request", "service", _REQUESTS.get(name, ())),
        _rules(name, "actions", "execute", "action", [action.name for action in _of(about, "action")]),
    )
    yield f'        <profile ns="/" node="{name}">'
    yield from filter(None, parts)
    yield "        </profile>"
    if name in LINKS:
        yield from _link_profile(about, LINKS[name])


def _link_profile(about: NodeAbout, link: str) -> Iterator[str]:
    """Give what a policy allows the second node, by which the process of a node speaks to a driver."""
    hears = [*(topic.name for topic in _of(about, "subscribes")), *_COPIES[about.name]]
    yield f'        <profile ns="/" node="{link}">'
    yield _rules(link, "topics", "publish", "topic", ["servo_commands", "/parameter_events"])
    yield _rules(link, "topics", "subscribe", "topic", [*hears, "/clock", "/parameter_events"])
    yield _rules(link, "services", "reply", "service", ["~/get_type_description"])
    yield _rules(link, "services", "request", "service", _REQUESTS[about.name])
    yield "        </profile>"


_COPIES = {"recorder": ("joint_states", "/diagnostics")}
"""Node -> topics of others that its bags have as well."""
LINKS = {"recorder": "recorder_link"}
"""Node -> a second one of its process, which hears and commands a driver."""
_REQUESTS = {
    "recorder": (
        *(f"{driver}/{name}" for driver in _DRIVERS for name in _OF_DRIVERS),
        "virtual_dynamixel/set_load",
        "virtual_feetech/set_load",
        "virtual_erob/set_load",
        "simulator/set_load",
    )
}
"""Node -> services of others that it calls."""


TABLES: Mapping[Path, Callable[[], str]] = {PAGE: table, REFERENCE: reference_table}
"""Page -> its table."""


def page(file: Path) -> str:
    """Return a page with today's table in it."""
    head, _, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{TABLES[file]()}\n{END}{tail}"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the tables and the policies."""
    for file in TABLES:
        write_text(file, page(file))
    for name, nodes in PROCESSES.items():
        write_text(POLICIES / f"{name}.policy.xml", policy(name, nodes))
    return 0


def _of(about: NodeAbout, kind: str) -> Iterator[Interface]:
    return (interface for interface in about.interfaces if interface.kind == kind)


def _rules(node: str, group: str, verb: str, item: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    full = sorted(
        {f"{node}/{name[2:]}" if name.startswith("~/") else name.removeprefix("/") for name in names}
    )
    lines = [f"            <{item}>{escape(line)}</{item}>" for line in full]
    return "\n".join([f'          <{group} {verb}="ALLOW">', *lines, f"          </{group}>"])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "-"


if __name__ == "__main__":
    sys.exit(main())
