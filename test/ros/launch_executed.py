# SPDX-License-Identifier: Apache-2.0
"""Launch files run whole where `launch_ros` is not installed.

    python -m test.ros.launch_executed FILE ARGUMENT:=VALUE ...

`launch_played` plays what a file describes. Here its processes are started, with the words that launch_ros
gives to a node, and end as launch ends them (launch 3.4, `execute_local.py`): the end of one ends all, Ctrl-C
reaches only those to which the terminal sends it, and a process that has not ended after some seconds gets
SIGTERM, then SIGKILL.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ament_index_python.packages import get_package_prefix

from test.ros.launch_played import Action, Context, Started, include, launch_file, play

_ESCALATION = (("SIGTERM", float(os.environ.get("SIGTERM_TIMEOUT", "5.0"))), ("SIGKILL", 5.0))
"""Signals, each with the time after the one before it, s; as launch has by default."""


@dataclass
class Execution(Context):
    """A launch whose processes are started.

    Attributes:
        tasks: one per process.
        processes: that run, by name.
        ending: set when the first process has ended, or at SIGINT.
    """

    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    processes: dict[str, Process] = field(default_factory=dict)
    ending: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self, node: Started) -> None:
        """Start a node."""
        super().start(node)
        words = [_executable(node.action.executable), *node.arguments]
        words += ["--ros-args", *node.words] if node.words else []
        words += ["--ros-args"]
        words += ["-r", f"__node:={node.name}"] if hasattr(node.action, "name") else []
        words += ["-r", f"__ns:={node.namespace}"]
        for file in getattr(node.action, "parameters", []):
            words += ["--params-file", file]
        for source, target in node.remappings:
            words += ["-r", f"{source}:={target}"]
        self.execute(node.action, node.action.executable, words)

    def execute(self, action: Any, name: str, words: Sequence[str]) -> None:
        """Start a process."""
        environment = {**os.environ, **self.environment}
        label = f"{name}-{len(self.tasks) + 1}"
        self.tasks.append(
            asyncio.get_running_loop().create_task(self._run(action, label, words, environment))
        )

    async def _run(self, action: Any, label: str, words: Sequence[str], environment: dict[str, str]) -> None:
        process = await asyncio.create_subprocess_exec(*words, stdout=PIPE, stderr=PIPE, env=environment)
        self.processes[label] = process
        print(f"[INFO] [{label}]: process started with pid [{process.pid}]", flush=True)
        if self.ending.is_set():
            process.send_signal(signal.SIGINT)
        await asyncio.gather(
            self._forward(action, label, process.stdout, "on_stdout"),
            self._forward(action, label, process.stderr, "on_stderr"),
        )
        if await process.wait():
            print(f"[ERROR] [{label}]: process has died [exit code {process.returncode}]", flush=True)
        else:
            print(f"[INFO] [{label}]: process has finished cleanly", flush=True)
        del self.processes[label]
        on_exit = getattr(action, "on_exit", None)
        if callable(on_exit):  # as launch calls it, with event and context
            on_exit = on_exit(process, SimpleNamespace(is_shutdown=self.ending.is_set()))
        play(self, on_exit if isinstance(on_exit, list) else [on_exit] if on_exit else [])

    async def _forward(self, action: Any, label: str, stream: Any, reaction: str) -> None:
        """Print what a process writes, and call the handlers of its lines."""
        async for line in stream:
            print(f"[{label}] {line.decode(errors='replace').rstrip()}", flush=True)
            for handler in self.handlers:
                if handler.target_action is action:
                    play(self, getattr(handler, reaction)(SimpleNamespace(text=line)))

    def shut_down(self) -> None:
        """End all processes: at the end of one."""
        if not self.ending.is_set():
            self._signal("SIGINT")
        self.ending.set()

    async def whole(self) -> None:
        """Wait for the end, and hasten it once it has begun."""
        hastening = asyncio.get_running_loop().create_task(self._hasten())
        while waiting := [task for task in self.tasks if not task.done()]:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        hastening.cancel()
        for task in self.tasks:
            task.result()

    async def _hasten(self) -> None:
        await self.ending.wait()
        for name, time in _ESCALATION:
            await asyncio.sleep(time)
            for label in self.processes:
                print(f"[ERROR] [{label}]: process has not ended, escalating to {name}", flush=True)
            self._signal(name)

    def _signal(self, name: str) -> None:
        for process in self.processes.values():
            process.send_signal(signal.Signals[name])


def _executable(name: str) -> str:
    """Return what `ros2 run` would start."""
    return str(Path(get_package_prefix("bam_bench"), "lib", "bam_bench", name))


async def _main(file: Path, arguments: dict[str, str]) -> None:
    context = Execution()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, context.ending.set)
    actions: list[Action] = include(launch_file(file.name.removesuffix(".launch.py")), **arguments)
    play(context, actions)
    for message in context.messages:
        print(f"[INFO] [launch.user]: {message}", flush=True)
    await context.whole()


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), dict(word.split(":=", 1) for word in sys.argv[2:])))
