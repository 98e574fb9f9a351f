# SPDX-License-Identifier: Apache-2.0
"""The explorer's JavaScript, in a real browser: its law is the specification's, and its page works alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bam_core.servo.friction import FRICTION_PARAMETERS, QUADRATIC_RULES, Friction
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from test.core.browser import Page, chromium
from test.core.reference_simulation import PendulumState, ReferenceSimulation
from test.documented import ROOT

from site_pages import explorer  # isort: skip

SHOTS = ROOT / "build" / "site_shots"
EXACT = 1e-12  # relative to the size of the figures: exp and pow of two libraries differ in the last digit
POINTS = 2000
DT = 2e-3  # s
HEAVIEST = 100.0  # kg that a bench may have


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The explorer without the site around it."""
    directory = tmp_path_factory.mktemp("explorer")
    for name in ("law.js", "plot.js", "explorer.js", "style.css"):
        shutil.copy(ROOT / "docs" / "site" / name, directory)
    (text,) = explorer.pages().values()
    body = text.partition("```{raw} html\n")[2].rpartition("```")[0].replace("../_static/", "")
    head = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    style = '<link rel="stylesheet" href="style.css">'
    (directory / "explorer.html").write_text(f"{head}{style}<body>{body}", encoding="utf-8")
    with chromium(tmp_path_factory.mktemp("chromium")) as tab:
        tab.look(1280, 900, dark=False)
        tab.open(directory / "explorer.html")
        yield tab


def called(page: Page, expression: str, points: list[dict[str, Any]]) -> np.ndarray:
    """What an expression of `p` gives at many points."""
    return np.array(page.evaluate(f"{json.dumps(points)}.map(p => {expression})"))


def drawn_friction(draw: np.random.Generator, rule: str) -> Friction:
    """Coefficients of servos of all sizes, some of them off."""
    values = {name: draw.uniform(0.0, 1.0) * (draw.random() > 0.2) for name in FRICTION_PARAMETERS}
    values |= {"stribeck_velocity": draw.uniform(0.01, 5.0), "stribeck_exponent": draw.uniform(0.1, 4.0)}
    return Friction(**values, quadratic_rule=rule)


@pytest.mark.parametrize("rule", QUADRATIC_RULES)
def test_budget_and_friction_are_those_of_the_specification(page: Page, rule: str) -> None:
    draw = np.random.default_rng(0)
    points, budgets, applied = [], [], []
    for _ in range(POINTS):
        friction = drawn_friction(draw, rule)
        motor, external, velocity = draw.normal(scale=(3.0, 3.0, 4.0))
        if draw.random() < 0.1:
            velocity = 0.0
        if draw.random() < 0.1:
            external = -motor
        inertia = draw.uniform(1e-3, 1.0)
        fields = {**friction.coefficients(), "quadratic_rule": rule}
        points.append({"f": fields, "m": motor, "e": external, "v": velocity, "j": inertia})
        budgets.append(float(friction.budget(motor, external, velocity)))
        applied.append(float(friction.applied(motor, external, velocity, inertia, DT)))
    found = called(page, "bam.budget(p.f, p.m, p.e, p.v)", points)
    np.testing.assert_allclose(found, budgets, rtol=EXACT)
    found = called(page, f"bam.applied(p.f, p.m, p.e, p.v, p.j, {DT})", points)
    np.testing.assert_allclose(found, applied, rtol=EXACT)


@pytest.mark.parametrize("name", servo_names())
def test_a_step_is_that_of_the_specification(page: Page, name: str) -> None:
    servo, draw = load_servo(name), np.random.default_rng(1)
    fields = explorer.servo_fields(servo)
    stall = servo.stall_torque()
    points, expected = [], []
    for _ in range(200):
        length = draw.uniform(0.05, 0.5)
        mass = min(stall / 9.8 / length * draw.uniform(0.01, 1.0), HEAVIEST)
        bench = PendulumBench(mass=mass, length=length, arm_mass=0.02)
        position, goal = draw.uniform(-2.0, 2.0, size=2)
        velocity = draw.choice([0.0, draw.normal(scale=2.0), draw.normal(scale=0.01)])
        ending = draw.choice([0.0, draw.normal(scale=20.0)])
        kp, enabled = servo.firmware.factory_kp * draw.uniform(0.1, 4.0), float(draw.random() > 0.2)
        simulation = ReferenceSimulation(
            firmware=servo.firmware, motor=servo.motor, friction=servo.friction, bench=bench, kp=kp
        )
        state = PendulumState(position=position, velocity=velocity, ending_acceleration=ending)
        wanted = simulation.demand(state, goal)
        volts = wanted if servo.firmware.regulates_current else wanted * servo.nominal_voltage
        after = simulation.step(state, volts, enabled, DT, servo.nominal_voltage)
        expected.append([wanted, after.position, after.velocity, after.ending_acceleration])
        points.append(
            {
                "b": {"mass": bench.mass, "length": bench.length, "arm_mass": bench.arm_mass},
                "s": {"position": position, "velocity": velocity, "acceleration": ending},
                "goal": goal,
                "kp": kp,
                "on": enabled,
            }
        )
    found = called(
        page,
        f"""(() => {{ const servo = {json.dumps(fields)};
        const wanted = bam.demand(servo.firmware, p.kp, p.goal - p.s.position, p.s.velocity);
        const after = bam.step(servo, p.b, p.s, wanted, p.on, {DT});
        return [wanted, after.position, after.velocity, after.acceleration]; }})()""",
        points,
    )
    scale = np.maximum(np.abs(expected).max(axis=0), 1.0)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0.0, atol=EXACT)


@pytest.mark.parametrize("script", ["sin_sin", "lift_and_drop"])
@pytest.mark.parametrize("name", ["mx106", "sts3215", "erob80_100"])
def test_a_run_is_that_of_the_specification(page: Page, name: str, script: str) -> None:
    """Rounding may grow over a run of 6 s, where an arm nearly sticks: so micrometres here, not digits."""
    servo = load_servo(name)
    fields = explorer.servo_fields(servo)
    told = explorer.content()["scripts"][script]
    every = round(explorer.GOAL_PERIOD / DT)
    goals = np.repeat(told["goals"][:-1], every)
    time = np.arange(len(goals)) * DT
    enabled = np.ones(len(goals)) if told["release"] is None else (time < told["release"]).astype(float)
    bench = fields["bench"]
    unprotected = {**vars(servo.firmware), "protection": None}
    simulation = ReferenceSimulation(
        firmware=type(servo.firmware)(**unprotected),
        motor=servo.motor,
        friction=servo.friction,
        bench=PendulumBench(mass=bench["mass"], length=bench["length"]),
        kp=fields["kp"],
    )
    expected, _ = simulation.run(
        PendulumState(position=float(goals[0])),
        goal=goals,
        supply=np.full(len(goals), servo.nominal_voltage),
        enabled=enabled,
        dt=DT,
    )
    found = page.evaluate(
        f"bam.run({json.dumps(fields)}, {json.dumps(bench)}, {fields['kp']}, {goals.tolist()},"
        f" {enabled.tolist()}, {DT})"
    )
    cold = servo.motor.winding_heating == 0.0
    assert cold, "a servo whose winding warms is left out here: the explorer's stays cold"
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)


def pixels(page: Page, canvas: str) -> str:
    return str(page.evaluate(f"document.getElementById('x-{canvas}').toDataURL()"))


def moved(page: Page, parameter: str, share: float) -> None:
    page.evaluate(
        f"""(() => {{ const slider = document.querySelector('[data-parameter="{parameter}"]');
        slider.value = Number(slider.min) + {share} * (slider.max - slider.min);
        slider.dispatchEvent(new Event("input")); }})()"""
    )


def test_sliders_move_diagram_and_motion(page: Page) -> None:
    page.evaluate("document.getElementById('x-reset').click()")
    before = pixels(page, "diagram"), pixels(page, "motion")
    moved(page, "load", 0.95)
    after = pixels(page, "diagram"), pixels(page, "motion")
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert page.evaluate("document.getElementById('x-error').textContent") != "distance 0.0 mrad on the mean"
    page.evaluate("document.getElementById('x-reset').click()")
    assert (pixels(page, "diagram"), pixels(page, "motion")) == before


def test_every_model_shows_its_own_parameters(page: Page) -> None:
    for name, model in explorer.content()["models"].items():
        page.evaluate(
            f"""(() => {{ const chosen = document.getElementById("x-model"); chosen.value = "{name}";
            chosen.dispatchEvent(new Event("change")); }})()"""
        )
        shown = page.evaluate(
            "[...document.querySelectorAll('#x-friction input')].map(each => each.dataset.parameter)"
        )
        assert tuple(shown) == model["parameters"]


@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_its_window_and_complains_of_nothing(page: Page, dark: bool, phone: bool) -> None:
    page.look(*((375, 812) if phone else (1280, 900)), dark=dark, phone=phone)
    page.evaluate("window.dispatchEvent(new Event('resize'))")
    width, inner = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width <= inner
    page.screenshot(SHOTS / f"explorer_{'phone' if phone else 'desktop'}_{'dark' if dark else 'light'}.png")
    assert page.complaints == []
    assert all(each.startswith("file:") for each in page.requests)
