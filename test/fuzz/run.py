# SPDX-License-Identifier: Apache-2.0
"""Searches for inputs that break a target, guided by coverage; `make fuzz` runs it.

Each target has a process of its own, so that a hang, a crash of the interpreter or memory beyond 1 GB is
that of one target. Inputs that reach new code are kept in a folder beside the results; the next run begins
with them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from test.fuzz.counting import Count, told
from test.fuzz.target import CORPUS, MEMORY, load_target, target_names

ROOT = Path(__file__).resolve().parents[2]
ENGINE = "atheris==3.0.0"
RESULTS = "fuzz_results.json"
_CHILD = "--child"
_STUCK = 3600
"""Time after which the engine ends an input that lets no Python run, s; `Count` ends the others."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run of one target found.

    Attributes:
        target: name.
        inputs: how many were tried; those that earlier runs had kept do not count again.
        packets: how many of these they consist of; a file is one.
        wanted: how many were to be tried; the time limit may end a run before.
        coverage: edges of the code of the target that inputs reached.
        corpus: inputs that each reach something which others do not.
        memory: largest of the process, MB.
        seconds: taken.
        findings: files with inputs that break a property; none is what is expected.
    """

    target: str
    inputs: int
    packets: int
    wanted: int
    coverage: int
    corpus: int
    memory: int
    seconds: float
    findings: list[str]

    def after(self, earlier: Outcome) -> Outcome:
        """Return what two runs come to together, of which the second went on from the first."""
        return replace(
            self,
            inputs=earlier.inputs + self.inputs,
            packets=earlier.packets + self.packets,
            wanted=earlier.packets + self.wanted,
            coverage=max(earlier.coverage, self.coverage),
            memory=max(earlier.memory, self.memory),
            seconds=round(earlier.seconds + self.seconds, 1),
        )


def main(arguments: list[str]) -> int:
    """Fuzz; return 0 where nothing was found."""
    if arguments[:1] == [_CHILD]:
        return fuzz_one(arguments[1], int(arguments[2]), float(arguments[3]), arguments[4:])
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--runs", type=int, default=0, help="per target (default: what it asks for)")
    parser.add_argument("--seconds", type=int, default=0, help="longest time per target (default: any)")
    parser.add_argument("--seed", type=int, default=1, help="of the search")
    parser.add_argument("--resume", action="store_true", help="count on from where OUTPUT has come to")
    parser.add_argument("--output", type=Path, default=Path("fuzz_output"), help="where inputs are kept")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(target_names())}")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.targets) - set(target_names()))
    if unknown:
        print(f"target {unknown[0]!r}: unknown (valid: {', '.join(target_names())}); choose one of these")
        return 2
    if not _install_engine():
        return 2
    outcomes = []
    for name in given.targets or target_names():
        wanted = given.runs or load_target(name).runs
        before = _told(given.output / RESULTS).get(name) if given.resume else None
        if before is not None and before.findings:
            before = None  # what has been mended since is tried as a whole
        tried = before.packets if before is not None else 0
        if before is None or tried < wanted:
            outcome = _run(name, wanted - tried, given.seconds, given.seed + tried, given.output)
            outcome = outcome.after(before) if before is not None else outcome
        else:
            outcome = before
        outcomes.append(outcome)
        _write(outcomes, given.output / RESULTS)
        print(_row(outcome), flush=True)
    found = [finding for outcome in outcomes for finding in outcome.findings]
    packets = sum(each.packets for each in outcomes)
    print(f"{len(outcomes)} targets, {packets} packets and files, {len(found)} findings")
    for finding in found:
        print(f"  {finding}: breaks a property (why: see the log); mend it and keep it in {CORPUS}")
    return 1 if found else 0


def _install_engine() -> bool:
    if importlib.util.find_spec("atheris"):
        return True
    command = [sys.executable, "-m", "pip", "install", "--quiet", ENGINE]
    if subprocess.run(command, check=False).returncode == 0:
        return True
    print(
        f"make fuzz: {ENGINE} cannot be installed (expected CPython 3.11 to 3.13 on Linux, and a package"
        f" index); use such a Python, or `make test`, which replays what was found"
    )
    return False


def _run(name: str, runs: int, seconds: int, seed: int, output: Path) -> Outcome:
    """Run one target in a process of its own."""
    kept, log = output / "inputs" / name, output / f"{name}.log"
    findings = output / "findings" / name
    for path in (kept, findings):
        path.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    own = CORPUS / name
    options = [
        f"-seed={seed}",
        f"-timeout={_STUCK}",
        f"-report_slow_units={_STUCK}",  # it would be one that waited for a busy machine
        f"-rss_limit_mb={MEMORY >> 20}",
        f"-artifact_prefix={findings}/",
        "-print_final_stats=1",
        "-close_fd_mask=0",
        "-entropic_scale_per_exec_time=1",  # more of the inputs that take less time
    ]
    corpora = [str(kept), *([str(own)] if own.is_dir() else [])]
    began = time.monotonic()
    child = [sys.executable, "-m", "test.fuzz.run", _CHILD, name, str(runs), str(seconds)]
    with log.open("w") as stream:
        done = subprocess.run(
            [*child, *options, *corpora],
            cwd=ROOT,
            env=_environment(),
            stdout=stream,
            stderr=subprocess.STDOUT,
            check=False,
        )
    text = log.read_text(errors="replace")
    found = sorted(str(path) for path in set(findings.iterdir()) - before)
    if done.returncode and not found:
        found = [str(log)]
    executed = _last(r"stat::number_of_executed_units:\s*(\d+)", text) or _last(r"#(\d+)\s", text)
    peak = _last(r"stat::peak_rss_mb:\s*(\d+)", text) or _last(r"rss: (\d+)Mb", text)
    inputs, packets, memory = told(text) or (executed, executed, peak)
    return Outcome(
        target=name,
        inputs=inputs,
        packets=packets,
        wanted=runs,
        coverage=_last(r"cov: (\d+)", text),
        corpus=_last(r"corp: (\d+)", text),
        memory=memory,
        seconds=round(time.monotonic() - began, 1),
        findings=found,
    )


def _environment() -> dict[str, str]:
    places = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places)), "OPENBLAS_NUM_THREADS": "1"}


def _last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def _write(outcomes: list[Outcome], path: Path) -> None:
    """Keep what earlier runs of other targets found."""
    all_of_them = _told(path) | {each.target: each for each in outcomes}
    found = [asdict(all_of_them[name]) for name in sorted(all_of_them)]
    path.write_text(json.dumps(found, indent=1) + "\n")


def _told(path: Path) -> dict[str, Outcome]:
    if not path.is_file():
        return {}
    return {each["target"]: Outcome(**each) for each in json.loads(path.read_text())}


def _row(each: Outcome) -> str:
    verdict = f"{len(each.findings)} findings" if each.findings else "nothing found"
    short = "" if each.packets >= each.wanted else f" of {each.wanted}"
    packets = "" if each.packets == each.inputs else f" in {each.inputs} inputs"
    return (
        f"{each.target:24} {each.packets:9}{short}{packets}, {each.coverage:5} edges, {each.corpus:5} kept,"
        f" {each.memory:4} MB, {each.seconds:7.0f} s: {verdict}"
    )


def fuzz_one(name: str, wanted: int, seconds: float, options: list[str]) -> int:
    """Fuzz one target in this process; does not return."""
    import atheris

    # Modules are instrumented while they are imported; what numba compiles must not be.
    modules, others = _modules(name)
    with atheris.instrument_imports(include=modules, exclude=others):
        target = load_target(name)
    corpora = [Path(each) for each in options if not each.startswith("-")]
    kept = corpora[0]
    for number, seed in enumerate(target.seeds()):
        (kept / f"seed_{number:04d}").write_bytes(seed)
    replayed = 1 + sum(1 for each in corpora for _ in each.iterdir())  # the first one is empty
    count = Count(target, replayed=replayed, wanted=wanted, seconds=seconds)
    atheris.Setup([f"fuzz {name}", f"-max_len={target.longest}", *options], count.check)
    atheris.Fuzz()
    return 0


def _modules(name: str) -> tuple[list[str], list[str]]:
    """Return the modules that a target names, and all others; another process imports them to find out."""
    program = (
        "import json, sys; from test.fuzz.target import load_target; target = load_target(sys.argv[1]);"
        "list(target.seeds())[:3] and [target.check(each) for each in list(target.seeds())[:3]];"
        "print(json.dumps([target.modules, list(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, name], check=True, stdout=subprocess.PIPE, text=True
    )
    wanted, loaded = json.loads(done.stdout.splitlines()[-1])
    inside = tuple(f"{each}." for each in wanted)
    others = [each for each in loaded if each not in wanted and not each.startswith(inside)]
    return wanted, others


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
