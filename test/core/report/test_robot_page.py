# SPDX-License-Identifier: Apache-2.0
"""`bam report` of an identification on a robot: a page with all of it, or one line that says why not."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.cli import main
from bam_core.errors import BamError
from bam_core.report import is_of_robot, load_robot_results, render_robot
from bam_core.report.fits import packed
from bam_core.report.numbers import mrad
from bam_core.report.robot_film import film_command
from bam_core.report.robot_overview import IN_BAND, robot_warnings
from bam_core.report.robot_page import most_informative
from bam_core.report.robot_results import BEFORE, JointErrors
from bam_core.text.robot_result_findings import NarrowBands, PriorOnly, RobotErrors
from bam_core.text.verdict_words import headline
from test.core.browser import chromium
from test.core.robot_report_cases import MODELS, NOISE, TYPES, identified_robot
from test.core.whole_robot_cases import ARM, recorded, servos, write_csv

SHOTS = Path(__file__).parents[3] / "build" / "report"

# Names of axes that cover a number at a tick.
LABELS_OVER_NUMBERS = """[...document.querySelectorAll(".plots text.label")].filter(label => {
  const a = label.getBoundingClientRect();
  return [...label.parentElement.querySelectorAll("text")].some(text => {
    const b = text.getBoundingClientRect();
    return text !== label && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; });
}).map(label => label.textContent)"""
# Values of parameters beyond the right end of what scrolls sideways.
HIDDEN_VALUES = """[...document.querySelectorAll(".parameters td.value")].filter(each => {
  const right = each.closest(".scroll").getBoundingClientRect().right;
  return each.getBoundingClientRect().right > right + 1;
}).map(each => each.textContent)"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return identified_robot(tmp_path_factory.mktemp("robot") / "out")


def test_the_last_lines_are_the_verdict_its_findings_and_its_rule(
    written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = json.loads((written / "summary.json").read_text())["verdict"]
    assert {"error_share", "deviations_needed"} <= {finding["kind"] for finding in entry["findings"]}
    assert main(["report", str(written), "--output", str(tmp_path / "page.html")]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    sentences = [finding["sentence"] for finding in entry["findings"]]
    assert lines[0] == f"{headline(entry['kind'])}: {entry['sentence']}"
    assert lines[1:] == [*sentences, f"rule: {entry['rule']}"]
    page = (tmp_path / "page.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert all(html.escape(sentence) in page for sentence in sentences)


@pytest.fixture
def output(written: Path, tmp_path: Path) -> Path:
    """A copy of the directory that a test may damage."""
    return shutil.copytree(written, tmp_path / "out")


def test_curves_have_the_errors_that_the_summary_has(written: Path) -> None:
    loaded = load_robot_results(written)
    assert (loaded.train, loaded.test) == (["run1", "run2"], ["run3"])
    for run in loaded.runs:
        for joint in TYPES:
            curves = loaded.curves[run][joint]
            assert 0.9 / 50 < np.diff(curves.time).mean() < 1.1 / 50
            told = {BEFORE: loaded.before, **{name: each.after for name, each in loaded.models.items()}}
            assert set(curves.simulated) == set(told)
            for name, errors in told.items():
                drawn = np.abs(curves.simulated[name] - curves.measured).mean()
                assert drawn == pytest.approx(errors.of[run][joint], rel=0.1, abs=1e-4)
    late = loaded.models["m1"].deviations["delay"]
    assert (late.begin, late.value) == pytest.approx((5e-3, 10e-3))
    assert late.low < late.value < late.high
    text = packed(loaded.curves["run1"], loaded.titles, ["m1"])
    assert json.loads(text)["titles"] == {"before": "Before", "m1": "M1", "m6": "M6"}


def test_intervals_of_deviations_are_those_of_their_coordinates(written: Path) -> None:
    model = load_robot_results(written).models["m6"]
    assert set(model.parameters) == set(TYPES.values())
    zero = {joint: model.deviations[f"zero {joint}"] for joint in TYPES}
    for joint, each in zero.items():
        spread = 0.5 * (each.high - each.low) / 1.96 / 0.02
        assert spread == pytest.approx(0.3 if each.told else 0.9), joint
    assert {each.told for each in zero.values()} == {True, False}
    assert "centre lower x" in model.deviations


def test_the_page_says_all_of_it(written: Path) -> None:
    loaded = load_robot_results(written)
    page = render_robot(loaded)
    assert "arm &lt;small&gt;" in page
    assert "<small>" not in page
    assert loaded.verdict is not None
    assert page.index(f'class="light {loaded.verdict.kind}"') < page.index('id="chosen"')
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    for run in loaded.runs:
        line = words[words.index(f"{run} {'test' if run == 'run3' else 'fitted'}") :][:200]
        for value in (
            loaded.before.mean([run], TYPES),
            loaded.first.after.mean([run], TYPES),
            loaded.first.one_joint.mean([run], TYPES),
        ):
            assert mrad(value) in line
    for servo, parameters in loaded.first.parameters.items():
        assert f'data-chart="parameters {loaded.first.name} {servo}"' in page
        untold = sum(not each.told for each in parameters.values())
        table = page[page.index(f'data-chart="parameters {loaded.first.name} {servo}"') :]
        assert table[: table.index("</table>")].count('class="flag"') == untold
    assert str(PriorOnly()) in words
    assert 'data-kind="command_delay"' in page
    assert len(page) < 1_000_000
    assert re.findall(r'src=|href="(?!#|data:)|url\((?!#)|@import|fetch\(', page) == []


def test_test_runs_have_bands_of_the_fit_s_spread_and_noise(written: Path) -> None:
    loaded = load_robot_results(written)
    model = loaded.first
    assert set(model.coverage) == {"run3"}
    inside = []
    for joint in TYPES:
        assert loaded.curves["run1"][joint].bands == {}
        curves = loaded.curves["run3"][joint]
        low, high = curves.bands[model.name]
        np.testing.assert_allclose(0.5 * (low + high), curves.simulated[model.name], atol=1e-6)
        assert (0.5 * (high - low)).min() > 0.999 * 1.645 * NOISE
        # At rest in the beginning only zeros and noise are open, later strengths and friction as well.
        assert np.median(high - low) > 1.1 * (high - low)[0]
        inside.append((low <= curves.measured) & (curves.measured <= high))
    assert np.mean(inside) == pytest.approx(model.coverage["run3"], abs=0.05)
    page = render_robot(loaded)
    assert IN_BAND in page
    assert f"{100 * model.coverage['run3']:.0f} %" in re.sub(r"\s+", " ", page)


def test_a_model_is_shown_first_by_its_fitted_runs_not_by_the_test(output: Path) -> None:
    path = output / "summary.json"
    summary = json.loads(path.read_text())
    for model, factor in zip(MODELS, (0.5, 2.0), strict=True):
        for run, scale in (("run1", factor), ("run2", factor), ("run3", 1.0 / factor)):
            summary["models"][model]["after"]["per_log"][run]["per_joint"] = dict.fromkeys(
                TYPES, 1e-3 * scale
            )
    path.write_text(json.dumps(summary))
    loaded = load_robot_results(output)
    assert loaded.first.name == "m1"
    (finding,) = [each for each in robot_warnings(loaded, loaded.first) if each.kind == "worse_than_fitted"]
    assert isinstance(finding, RobotErrors)
    assert finding.factor == pytest.approx(4.0)
    assert finding.sentence in render_robot(loaded)


def test_bands_that_hold_too_little_of_a_run_are_told_though_their_mean_is_right(written: Path) -> None:
    loaded = load_robot_results(written)
    held = replace(loaded.first, coverage={"slow": 0.96, "soft": 0.73, "softer": 0.675})
    (finding,) = [finding for finding in robot_warnings(loaded, held) if finding.kind == "narrow_bands"]
    assert finding == NarrowBands(runs=("soft", "softer"), shares=(0.73, 0.675), total=3)
    right = replace(loaded.first, coverage={"slow": 0.96, "soft": 0.83})
    assert "narrow_bands" not in [finding.kind for finding in robot_warnings(loaded, right)]


def test_the_largest_error_of_a_test_run_is_shown_first_but_not_of_a_joint_that_rests(written: Path) -> None:
    loaded = load_robot_results(written)

    def first(errors: dict[str, tuple[float, float]], resting: tuple[str, ...] = ()) -> str:
        after = JointErrors(of={run: dict(zip(TYPES, each, strict=True)) for run, each in errors.items()})
        curves = {
            run: {
                joint: replace(each, measured=0.019 * (np.arange(len(each.time)) % 2))
                if joint in resting
                else each
                for joint, each in joints.items()
            }
            for run, joints in loaded.curves.items()
        }
        models = {loaded.first.name: replace(loaded.first, after=after)}
        return " ".join(most_informative(replace(loaded, models=models, curves=curves)))

    errors = {"run1": (9.0, 9.0), "run2": (1.0, 1.0), "run3": (2.0, 3.0)}
    assert first(errors) == "run3 elbow"
    assert first(errors, resting=("elbow",)) == "run3 shoulder"
    assert first(errors, resting=tuple(TYPES)) == "run3 elbow"


def test_the_command_has_the_gains_that_all_runs_have(output: Path) -> None:
    loaded = load_robot_results(output)
    assert {run.kd for run in loaded.runs.values()} == {"0"}
    assert "--kd" not in film_command(loaded, loaded.first, "run1").start
    runs = {name: replace(run, kd="32", ki="elbow=4") for name, run in loaded.runs.items()}
    start = film_command(replace(loaded, runs=runs), loaded.first, "run1").start
    assert "--kp 16 --kd 32 --ki elbow=4" in start


def test_the_command_on_the_page_films_a_run(
    output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    filmed = []
    monkeypatch.setattr("bam_core.cli.robot.validate.require_opengl", lambda what: None)
    monkeypatch.setattr("bam_core.robot.film.write_robot_film", lambda *given: filmed.append(given))
    monkeypatch.chdir(tmp_path)
    odd = output.rename(tmp_path / "an arm's")
    loaded = load_robot_results(odd)
    command = re.sub(r"<[^>]+>", "", re.findall(r'<pre class="command".*?</pre>', render_robot(loaded))[0])
    assert "--root fixed --vin 12 --kp 16" in command
    (tmp_path / "arm.xml").write_text(ARM)
    logs = {
        "ROBOT": ["arm.xml"],
        "LOGS": [str(write_csv(recorded(servos(), duration=0.5), Path("run3.csv")))],
    }
    program, *words = shlex.split(html.unescape(command))
    assert (program, words[-2:]) == ("bam", ["run3", "LOGS"])
    assert main([each for word in words for each in logs.get(word, [word])]) == 0
    ((_, run, used, path, deviations),) = filmed
    assert (run.name, str(path)) == ("run3", "film.gif")
    assert {each.friction_model for each in used.values()} == {loaded.first.name}
    assert deviations.delay == pytest.approx(10e-3)


def test_servos_of_joints_that_do_not_count_are_asked_for_with_the_film(written: Path) -> None:
    loaded = load_robot_results(written)
    some = replace(loaded, joints={"elbow": TYPES["elbow"]})
    command = film_command(some, loaded.first, "my run")
    assert "--servos SERVOS" in command.start
    for place in ("ROBOT", "SERVOS", "LOGS"):
        assert place in command.remark
    assert command.run == "'my run'"


def test_without_test_runs_the_page_says_so(tmp_path: Path) -> None:
    page = render_robot(load_robot_results(identified_robot(tmp_path / "out", test=False)))
    assert '<li data-kind="no_test_runs">' in page
    assert 'class="badge">test' not in page


def test_the_page_warns_of_a_supply_that_is_not_what_was_recorded(output: Path) -> None:
    assert 'data-kind="supply_contradicted"' not in render_robot(load_robot_results(output))
    path = output / "summary.json"
    summary = json.loads(path.read_text())
    summary["runs"]["run2"] |= {"supply_voltage": 12.0, "recorded_voltage": 14.7}
    path.write_text(json.dumps(summary))
    assert '<li data-kind="supply_contradicted">' in render_robot(load_robot_results(output))


def test_the_command_knows_a_robot_s_directory(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert is_of_robot(output)
    (output / "trajectories.npz").unlink()
    assert main(["report", str(output)]) == 0
    assert "wrote" in capsys.readouterr().out
    page = (output / "report.html").read_text()
    assert 'data-kind="missing_trajectories"' in page
    assert "fit-data" not in page


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("mx64_m1.yaml", None, "mx64_m1.yaml"),
        ("mx64_m1.yaml", (r"coulomb: [\d.e-]+", "coulomb: 0.5"), "coulomb is 0.5"),
        ("summary.json", ('"one_joint"', '"alone"'), "one_joint"),
        ("summary.json", (r'"shoulder": [\d.e-]+', '"shoulder": "far"'), "shoulder"),
        ("summary.json", ('"m1": ', '"m9": '), "m9"),
        ("summary.json", (r'("servos": \{\s*"\w+": ")', r"\1../"), "'../mx106'"),
        ("trajectories.npz", (".", ""), "trajectories.npz"),
    ],
)
def test_what_is_wrong_is_one_line(
    file: str,
    change: tuple[str, str] | None,
    said: str,
    output: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = output / file
    if change is None:
        path.unlink()
    elif path.suffix == ".npz":
        path.write_bytes(path.read_bytes()[:100])
    else:
        text = path.read_text()
        path.write_text(re.sub(*change, text, count=1))
        assert path.read_text() != text
    assert main(["report", str(output)]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert said in errors
    assert not (output / "report.html").exists()


def test_curves_of_another_identification_are_refused(output: Path) -> None:
    with np.load(output / "trajectories.npz") as file:
        arrays = dict(file)
    np.savez(output / "trajectories.npz", **{**arrays, "time_0": arrays["time_0"] + 1.0})
    with pytest.raises(BamError, match="another identification"):
        load_robot_results(output)


@pytest.mark.long
def test_it_opens_quiet_and_offline_and_draws_what_is_chosen(output: Path, tmp_path: Path) -> None:
    assert main(["report", str(output)]) == 0
    file = output / "report.html"
    with chromium(tmp_path) as page:
        for dark, phone in ((True, True), (False, False)):
            page.look(*((375, 812) if phone else (1280, 900)), dark=dark, phone=phone)
            page.open(file)
            page.screenshot(SHOTS / f"robot_{'phone' if phone else 'desktop'}.png")
            widths = page.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            )
            assert widths[0] <= widths[1]
            assert page.evaluate(LABELS_OVER_NUMBERS) == []
            assert page.evaluate(HIDDEN_VALUES) == []
        drawn = "document.querySelectorAll('#fit-position .curve').length"
        assert page.evaluate(drawn) == 4  # goal, measured, before, after
        page.evaluate("""document.querySelector('[data-log="run2 · elbow"] button').click()""")
        assert page.evaluate("document.getElementById('fit-name').textContent") == "run2 · elbow"
        assert page.evaluate("document.getElementById('fit-run').textContent") == "run2"
        assert page.evaluate("document.getElementById('fit-about').textContent") == "fitted · mx64 · kp 16"
        assert page.complaints == []
        assert page.requests == [file.absolute().as_uri()] * 2
