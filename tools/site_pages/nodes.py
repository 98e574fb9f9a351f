# SPDX-License-Identifier: Apache-2.0
"""A page per node, from the table that it declares its parameters from, and one of the messages."""

from __future__ import annotations

import json
from pathlib import Path

from node_policies import NODES

from bam_ros.node.node_about import NodeAbout
from bam_ros.node.parameters import NodeParameter
from site_pages import names
from site_pages.markdown import code, plain, table, toctree

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[str, str]:
    """Return the pages of nodes and interfaces."""
    written = {f"reference/nodes/{about.name}.md": _page(about) for about in NODES}
    rows = ((f"[`{about.name}`]({about.name}.md)", plain(about.purpose)) for about in NODES)
    written["reference/nodes/index.md"] = "\n".join(
        [
            "# Nodes\n",
            "Made from the tables that the nodes declare their parameters from; `NODE --help` prints the"
            " same. `~/` is"
            " the node's own name.\n",
            table(("node", "what it does"), rows),
            toctree(about.name for about in NODES),
        ]
    )
    written["reference/messages.md"] = _interfaces()
    written["reference/names.md"] = names.page()
    return written


def _page(about: NodeAbout) -> str:
    given = " ".join(f"-p {word}" for word in about.example)
    return "\n".join(
        [
            f"# {about.name}\n",
            plain(about.purpose) + "\n",
            code(
                f"ros2 run bam_bench {about.name} --ros-args {given}\n"
                "# where there is no command ros2:\n"
                f"install/bam_bench/lib/bam_bench/{about.name} --ros-args {given}",
                "bash",
            ),
            "## Topics, services, actions\n",
            table(
                ("", "name and type", "purpose"),
                (
                    (interface.kind, f"`{interface.name}`<br>`{interface.type}`", plain(interface.purpose))
                    for interface in about.interfaces
                ),
            ),
            "## Parameters\n",
            table(
                ("parameter", "type", "default", "meaning"),
                (
                    (
                        f"`{parameter.name}`",
                        parameter.type_name,
                        f"`{_default(parameter)}`",
                        _meaning(parameter),
                    )
                    for parameter in about.parameters
                ),
            ),
        ]
    )


def _default(parameter: NodeParameter) -> str:
    return json.dumps(parameter.default).replace("NaN", ".nan")


def _meaning(parameter: NodeParameter) -> str:
    bounds = ""
    if parameter.low is not None and parameter.high is not None:
        bounds = f" From {parameter.low:g} to {parameter.high:g}."
    changes = "" if parameter.read_only else " May change while the node runs."
    text = plain(parameter.description)
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}{bounds}{changes}"


def _interfaces() -> str:
    parts = ["# Messages, services, actions\n", "The files of the package `bam_bench`.\n"]
    for kind in ("msg", "srv", "action"):
        for file in sorted((ROOT / kind).iterdir()):
            parts += [f"## {file.stem}\n", f"`bam_bench/{kind}/{file.stem}`\n"]
            parts.append(code(file.read_text(encoding="utf-8")))
    return "\n".join(parts)
