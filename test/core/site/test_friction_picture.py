# SPDX-License-Identifier: Apache-2.0
"""The picture on the page of the friction models, in a real browser: M1 to M6 as the package has them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import numpy as np
import pytest

from bam_core.servo.friction import FRICTION_MODELS, FRICTION_PARAMETERS, Friction
from test.core.browser import Page, chromium
from test.documented import ROOT

SHOTS = ROOT / "build" / "site_shots"
TIED = {
    "load": ("load_motor", "load_external"),
    "load_stribeck": ("load_motor_stribeck", "load_external_stribeck"),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The picture without the site around it."""
    directory = tmp_path_factory.mktemp("friction")
    for name in ("law.js", "plot.js", "friction.js", "style.css"):
        shutil.copy(ROOT / "docs" / "site" / name, directory)
    text = (ROOT / "docs" / "explanation" / "friction.md").read_text(encoding="utf-8")
    body = text.partition("```{raw} html\n")[2].partition("```")[0].replace("../_static/", "")
    head = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    style = '<link rel="stylesheet" href="style.css">'
    (directory / "friction.html").write_text(f"{head}{style}<body>{body}", encoding="utf-8")
    with chromium(tmp_path_factory.mktemp("chromium")) as tab:
        tab.look(1280, 900, dark=False)
        tab.open(directory / "friction.html")
        yield tab


@pytest.mark.parametrize("name", FRICTION_MODELS)
def test_a_model_has_its_own_terms_and_the_budget_of_the_specification(page: Page, name: str) -> None:
    given = page.evaluate(f"frictionPicture.MODELS.{name}.friction")
    own = {
        each for parameter in FRICTION_MODELS[name].parameters for each in TIED.get(parameter, (parameter,))
    }
    assert set(given) == own <= set(FRICTION_PARAMETERS)
    for parameter, targets in TIED.items():
        if parameter in FRICTION_MODELS[name].parameters:
            assert len({given[target] for target in targets}) == 1
    friction = Friction(**{**page.evaluate("frictionPicture.OFF"), **given})
    points = [
        (motor, load, speed) for motor in (-3.0, 0.5, 2.0) for load in (0.0, 1.0, 3.0) for speed in (0.0, 1.0)
    ]
    found = page.evaluate(f"{json.dumps(points)}.map(p => frictionPicture.budget('{name}', ...p))")
    expected = [float(friction.budget(motor, -load, speed)) for motor, load, speed in points]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def drawn(page: Page) -> tuple[str, str]:
    one, other = (
        page.evaluate(f"document.querySelector('[data-name={name}]').toDataURL()")
        for name in ("over-speed", "over-motor")
    )
    return one, other


def choose(page: Page, model: str) -> None:
    page.evaluate(f"document.querySelector('#friction-picture input[value={model}]').click()")


def slide(page: Page, name: str, value: float) -> None:
    page.evaluate(
        f"""(() => {{ const slider = document.querySelector('#friction-picture [data-name={name}]');
        slider.value = {value}; slider.dispatchEvent(new Event("input", {{ bubbles: true }})); }})()"""
    )


def test_every_model_looks_different(page: Page) -> None:
    seen = set()
    for name in FRICTION_MODELS:
        choose(page, name)
        seen.add(drawn(page))
        assert page.evaluate("document.querySelector('[data-name=chosen]').textContent") == name.upper()
    assert len(seen) == len(FRICTION_MODELS)


def test_a_load_changes_m3_and_not_m1(page: Page) -> None:
    for name, changes in (("m1", False), ("m3", True)):
        choose(page, name)
        slide(page, "load", 0.5)
        before = drawn(page)
        slide(page, "load", 3.5)
        assert (drawn(page) != before) is changes
        slide(page, "load", 1.0)


def test_the_ink_is_dark_on_light_and_light_on_dark(page: Page) -> None:
    ink = {}
    for dark in (False, True):
        page.look(1280, 900, dark=dark)
        place = "getComputedStyle(document.getElementById('friction-picture'))"
        ink[dark] = int(page.evaluate(f"{place}.getPropertyValue('--x-ink').trim().slice(1, 3)"), 16)
    assert ink[False] < 0x80 < ink[True]


@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.parametrize("dark", [False, True])
def test_the_picture_fits_its_window_and_complains_of_nothing(page: Page, dark: bool, phone: bool) -> None:
    page.look(*((375, 812) if phone else (1280, 900)), dark=dark, phone=phone)
    choose(page, "m6")
    page.evaluate("window.dispatchEvent(new Event('resize'))")
    width, inner = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width <= inner
    page.screenshot(SHOTS / f"friction_{'phone' if phone else 'desktop'}_{'dark' if dark else 'light'}.png")
    assert page.complaints == []
    assert all(each.startswith("file:") for each in page.requests)
