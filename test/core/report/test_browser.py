# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: no complaint, no request, every chart drawn, no sideways scrolling.

Screenshots are kept in build/report/.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bam_core.cli import main
from bam_core.report import load_results
from bam_core.report.numbers import mrad
from test.core.browser import Page, chromium
from test.core.identification_cases import xl330_logs
from test.core.report_cases import edit_summary, multiplied

SHOTS = Path(__file__).parents[3] / "build" / "report"
DESKTOP, PHONE = (1280, 900), (375, 812)

# Charts with their size and how many marks they hold; those in closed <details> have no size.
CHARTS = """[...document.querySelectorAll("[data-chart]")].map(chart => ({
  name: chart.dataset.chart, closed: chart.closest("details:not([open])") !== null,
  width: chart.getBoundingClientRect().width, height: chart.getBoundingClientRect().height,
  marks: chart.querySelectorAll("path[d], rect, circle, td").length,
}))"""
# Text outside its own box or outside the window, unless a box scrolls it on purpose.
CLIPPED = """[...document.querySelectorAll(
    "h1, h2, p, dt, dd, th, td, button, label, summary, text, span, a")]
  .filter(each => each.textContent.trim() && !each.closest(".scroll, nav, details:not([open]), pre"))
  .filter(each => { const box = each.getBoundingClientRect();
    return box.width && (box.left < -1 || box.right > document.documentElement.clientWidth + 1); })
  .map(each => each.textContent.trim().slice(0, 40))"""

WIDER_THAN_ITS_TILE = """[...document.querySelectorAll(".tiles > div")]
  .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("chromium")) as tab:
        yield tab


@pytest.fixture
def report(complete_results: Path) -> Path:
    assert main(["report", str(complete_results)]) == 0
    return complete_results / "report.html"


def opened(page: Page, file: Path, *, dark: bool = False, phone: bool = False) -> Page:
    page.complaints.clear()
    page.requests.clear()
    page.look(*(PHONE if phone else DESKTOP), dark=dark, phone=phone)
    page.open(file)
    return page


def curve(page: Page, model: str) -> Any:
    return page.evaluate(f"document.querySelector('#fit-residual .m-{model}')?.getAttribute('d') ?? ''")


@pytest.mark.parametrize(
    ("dark", "phone"),
    [
        (False, False),
        (True, True),
        pytest.param(True, False, marks=pytest.mark.long),
        pytest.param(False, True, marks=pytest.mark.long),
    ],
    ids=["light-desktop", "dark-phone", "dark-desktop", "light-phone"],
)
def test_it_opens_complete_quiet_and_offline(page: Page, report: Path, dark: bool, phone: bool) -> None:
    opened(page, report, dark=dark, phone=phone)
    page.screenshot(SHOTS / f"{'phone' if phone else 'desktop'}_{'dark' if dark else 'light'}.png")
    assert page.complaints == []
    assert page.requests == [report.absolute().as_uri()]
    charts = page.evaluate(CHARTS)
    shown = [chart for chart in charts if not chart["closed"]]
    assert {chart["name"] for chart in shown} >= {"errors", "fit", "effects", "diagram m1", "diagram m6"}
    for chart in shown:
        assert chart["width"] > 250, chart
        assert chart["height"] > 80, chart
        assert chart["marks"] > 5, chart
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(WIDER_THAN_ITS_TILE) == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = [int(part) for part in paper.removeprefix("rgb(").rstrip(")").split(",")]
    assert max(lightness) < 60 if dark else min(lightness) > 200


@pytest.mark.long
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_remarks_take_the_width_of_the_table(page: Page, report: Path, phone: bool) -> None:
    opened(page, report, phone=phone)
    shares = page.evaluate("""[...document.querySelectorAll("#parameters td.remark")]
        .filter(each => !each.closest("details:not([open])"))
        .map(each => each.offsetWidth / each.closest("table").offsetWidth)""")
    assert shares
    assert min(shares) > 0.95


@pytest.mark.long
def test_text_stands_out_from_what_is_behind_it(page: Page, report: Path) -> None:
    for dark in (False, True):
        opened(page, report, dark=dark)
        assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_recordings_are_shown_with_all_that_was_measured(page: Page, tmp_path: Path, phone: bool) -> None:
    file = tmp_path / "view.html"
    assert main(["view", str(xl330_logs()), "--params", "xl330", "--output", str(file)]) == 0
    opened(page, file, dark=phone, phone=phone)
    page.screenshot(SHOTS / f"view_{'phone' if phone else 'desktop'}.png")
    assert page.complaints == []
    assert page.requests == [file.absolute().as_uri()]
    drawn = page.evaluate("""[...document.querySelectorAll("#fit figure > svg")]
        .map(each => [each.dataset.channel ?? each.id, [...each.querySelectorAll("path.curve")]
        .filter(line => line.getAttribute("d").length > 200).length])""")
    assert drawn == [
        ["fit-position", 3],
        ["fit-residual", 2],  # zero, and that of the model
        *[[name, 1] for name in ("torque", "duty", "voltage", "temperature")],
    ]
    assert page.evaluate(CLIPPED) == []
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_logs_and_models_are_chosen_by_a_click(page: Page, report: Path) -> None:
    opened(page, report)
    first = page.evaluate("document.getElementById('fit-name').textContent")
    before = curve(page, "m1")
    assert before
    other = page.evaluate("""(() => {
        const row = document.querySelector("#logs tbody tr:not(.selected)");
        row.click(); return row.dataset.log;
    })()""")
    assert page.evaluate("document.getElementById('fit-name').textContent") == other != first
    assert curve(page, "m1") not in ("", before)
    page.evaluate("document.querySelector('#fit input[value=m1]').click()")
    assert curve(page, "m1") == ""
    page.evaluate("document.getElementById('fit-next').click()")
    assert page.evaluate("document.getElementById('fit-name').textContent") != other
    assert page.complaints == []


def test_every_model_stands_beside_its_own_error(page: Page, report: Path) -> None:
    models = load_results(report.parent).models
    opened(page, report)
    name = page.evaluate("document.getElementById('fit-name').textContent")
    shown = page.evaluate("""Object.fromEntries([...document.querySelectorAll("[data-error]")]
        .map(each => [each.dataset.error, each.textContent]))""")
    assert shown == {model: mrad(found.per_log[name]) for model, found in models.items()}


def test_the_table_of_twelve_logs_is_seen_whole_and_on_phones_the_chosen_model_is(
    page: Page, complete_results: Path
) -> None:
    multiplied(complete_results, 12)
    assert main(["report", str(complete_results)]) == 0
    opened(page, complete_results / "report.html")
    box = page.evaluate("""(() => { const box = document.querySelector(".logs");
        return [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight]; })()""")
    assert box == [0, 0]
    opened(page, complete_results / "report.html", phone=True)
    beyond = page.evaluate("""(() => {
        const edge = document.querySelector(".logs").getBoundingClientRect().right;
        return [...document.querySelectorAll("#logs td.chosen")]
            .map(each => each.getBoundingClientRect().right - edge); })()""")
    assert len(beyond) == 12
    assert max(beyond) <= 0


def test_the_hint_fits_the_pointer(page: Page, report: Path) -> None:
    hint = "document.getElementById('fit-readout').textContent"
    opened(page, report)
    assert "drag" in page.evaluate(hint)
    opened(page, report, phone=True)
    assert "finger" in page.evaluate(hint)
    assert "drag" not in page.evaluate(hint)


def test_names_of_effects_stay_on_one_line(page: Page, complete_results: Path) -> None:
    effects = json.loads((complete_results / "summary.json").read_text())["effects"]
    wordy = [{**effect, "reason": 9 * "held-out logs are followed worse without it "} for effect in effects]
    edit_summary(complete_results, {"effects": wordy})
    assert main(["report", str(complete_results)]) == 0
    opened(page, complete_results / "report.html")
    lines = page.evaluate("""[...document.querySelectorAll(".effects tbody th")].map(each => {
        const text = document.createRange();
        text.selectNodeContents(each);
        return text.getBoundingClientRect().height / parseFloat(getComputedStyle(each).lineHeight); })""")
    assert lines
    assert max(lines) < 1.8


def test_values_are_read_and_stretches_zoomed_with_the_pointer(page: Page, report: Path) -> None:
    opened(page, report)
    page.evaluate("document.getElementById('fit').scrollIntoView()")
    box = page.evaluate("document.getElementById('fit-position').getBoundingClientRect().toJSON()")
    y = box["top"] + box["height"] / 2

    def mouse(kind: str, share: float) -> None:
        button = {"button": "left", "buttons": 1, "clickCount": 1} if kind != "mouseMoved" else {}
        page.call("Input.dispatchMouseEvent", type=kind, x=box["left"] + share * box["width"], y=y, **button)

    mouse("mouseMoved", 0.5)
    page.until("/mrad off/.test(document.getElementById('fit-readout').textContent)")
    whole = curve(page, "m1")
    mouse("mousePressed", 0.4)
    mouse("mouseMoved", 0.6)
    mouse("mouseReleased", 0.6)
    page.until("!document.getElementById('fit-reset').hidden")
    assert curve(page, "m1") != whole
    page.evaluate("document.getElementById('fit-reset').click()")
    assert curve(page, "m1") == whole
    assert page.complaints == []


def test_the_button_switches_between_light_and_dark(page: Page, report: Path) -> None:
    opened(page, report, dark=True)
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.evaluate("document.getElementById('theme').click()")
    light = page.evaluate(paper)
    assert light != dark
    page.evaluate("document.getElementById('theme').click()")
    assert page.evaluate(paper) == dark
    page.evaluate("localStorage.clear()")


@pytest.mark.long
def test_a_hundred_logs_are_sorted_and_searched(page: Page, complete_results: Path) -> None:
    multiplied(complete_results, 100)
    assert main(["report", str(complete_results)]) == 0
    opened(page, complete_results / "report.html")
    page.evaluate("document.querySelectorAll('#logs .sort')[5].click()")
    errors = page.evaluate(
        "[...document.querySelectorAll('#logs tbody tr')].map(row => parseFloat(row.cells[5].textContent))"
    )
    assert len(errors) == 100
    assert errors == sorted(errors)
    page.evaluate("""(() => { const box = document.getElementById("log-filter");
        box.value = "lift_and_drop kp32"; box.dispatchEvent(new Event("input")); })()""")
    left = page.evaluate(
        "[...document.querySelectorAll('#logs tbody tr:not([hidden])')].map(row => row.dataset.log)"
    )
    assert 0 < len(left) < 100
    assert all("lift_and_drop_kp32" in name for name in left)
    assert page.complaints == []


# Text whose colour and background differ by less than 4.5 to 1 (WCAG AA).
CONTRAST = """(() => {
  const parse = color => { const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const luminance = rgb => rgb.slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = each => { for (let at = each; at; at = at.parentElement) {
    const color = parse(getComputedStyle(at).backgroundColor); if (color[3] === 255) return color; }
    return [255, 255, 255, 255]; };
  return [...document.querySelectorAll("body *")].filter(each => each.getClientRects().length
      && [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()))
    .map(each => { const style = getComputedStyle(each);
      const color = each instanceof SVGElement ? style.fill : style.color;
      const pair = [luminance(parse(color)), luminance(behind(each))].sort((a, b) => b - a);
      return [(pair[0] + 0.05) / (pair[1] + 0.05), each.textContent.trim().slice(0, 30), color]; })
    .filter(([ratio]) => ratio < 4.5);
})()"""
