# SPDX-License-Identifier: Apache-2.0
"""The page holds everything that was found, asks nothing of the network, and trusts no text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path

import pytest

from bam_core.identification.choice.choice import SAME
from bam_core.report import load_results, render
from bam_core.report.names import words
from bam_core.report.overview import missing_parts
from bam_core.text.error_findings import TOO_FEW, ErrorsDiffer, Outliers
from bam_core.text.finding import Finding
from bam_core.text.fit_findings import NotConverged, ParameterList
from bam_core.text.misfit_findings import SearchFailed
from bam_core.text.report_findings import SMALL, NeededUndetermined
from bam_core.text.split_findings import FEW
from bam_core.text.verdict_words import VERDICTS, headline
from test.core.report_cases import edit_summary, multiplied

_VOID = {"meta", "link", "input", "br", "wbr"}
_FETCHING = ("src", "href", "xlink:href", "srcset", "data", "action", "poster")


class Outline(HTMLParser):
    """Headings, charts, addresses and text; fails where elements do not close in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.charts: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "data-chart":
                self.charts.append(value or "")
            elif name in _FETCHING:
                self.addresses.append(value or "")
            elif name == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text += " ".join(data.split()) + " "


FAILURE = [SearchFailed(baseline="at_goal", baseline_error=0.015).summary()]
ODD = {"a": 0.01, "b": 0.01, "c": 0.01, "odd": 0.2}


def page_of(directory: Path) -> tuple[str, Outline]:
    page = render(load_results(directory))
    return page, Outline(page)


def test_a_complete_directory_gives_every_chart(complete_results: Path) -> None:
    loaded = load_results(complete_results)
    origin = loaded.best.servo.provenance
    _, outline = page_of(complete_results)
    models = ("m1", "m4", "m6")
    assert sorted(outline.charts) == sorted(
        ["errors", "fit", "effects"]
        + [f"{chart} {model}" for chart in ("parameters", "correlation", "diagram") for model in models]
    )
    assert missing_parts(loaded) is None
    for expected in (
        loaded.reason,
        loaded.best.servo.title,
        loaded.software,
        loaded.date,
        "kp=16",
        "is not told apart from the best",
        "No log shows it; a run at a high gain would.",
        f"gauss-newton, {origin.trials_used} of {origin.trials} trials",
        f"numpy {version('numpy')}",
        "arm mass 0.05",
        "it bought nothing",
        "not identifiable",
    ):
        assert expected.lower() in outline.text.lower()
    for name, log in loaded.logs.items():
        assert name in outline.text
        assert log.sha256 in outline.text
    for name in loaded.best.parameters:
        assert words(name) in outline.text


def test_intervals_are_explained_in_plain_words_and_the_method_is_folded_away(complete_results: Path) -> None:
    page, outline = page_of(complete_results)
    assert 'data-kind="intervals"' in page
    assert 'data-kind="of_this_model"' in page
    method = "Gauss-Newton at the optimum"
    assert method in outline.text
    before = page[: page.index(method)]
    assert before.rindex("<details") > before.rindex('id="parameters"')
    assert "</details" not in before[before.rindex("<details") :]


def test_the_sign_of_the_residual_is_told(results: Path) -> None:
    assert 'data-kind="residual_sign"' in page_of(results)[0]


_NEEDED = 'data-kind="needed_undetermined"'


@pytest.mark.long
def test_an_effect_that_is_needed_and_not_determined_is_explained(complete_results: Path) -> None:
    finding = NeededUndetermined(effects=("zero offset",))
    assert finding.sentence in page_of(complete_results)[1].text
    summary = json.loads((complete_results / "summary.json").read_text())
    for more, explained in ((0.99 * SAME, False), (1.01 * SAME, True)):
        for effect in summary["effects"]:
            effect["selection_mae_without"] = (1.0 + more) * effect["selection_mae"]
        edit_summary(complete_results, {"effects": summary["effects"]})
        assert (_NEEDED in page_of(complete_results)[0]) == explained
    by_chance = [{**effect, "chance": 0.1 * effect["selection_mae"]} for effect in summary["effects"]]
    edit_summary(complete_results, {"effects": by_chance})
    assert _NEEDED not in page_of(complete_results)[0]
    edit_summary(complete_results, {"effects": summary["effects"]})
    for estimate in summary["models"]["m4"]["uncertainty"]["estimates"].values():
        estimate["identifiable"] = True
    edit_summary(complete_results, {"models": summary["models"]})
    assert _NEEDED not in page_of(complete_results)[0]


def test_friction_models_have_one_name_in_the_page(complete_results: Path) -> None:
    reason = "m6 has the lowest selection error; m4 is the simplest model"
    choice = [{"model": "m1", "verdict": "3.00 mrad worse than m6"}]
    edit_summary(complete_results, {"reason": reason, "choice": choice})
    _, outline = page_of(complete_results)
    assert "M6 has the lowest selection error; M4 is the simplest model." in outline.text
    assert "worse than M6" in outline.text
    assert re.search(r"\bm[1-6]\b(?!\.yaml)", outline.text.split("Servo file of")[0]) is None


def test_a_parameter_that_is_known_to_be_small_is_tagged(complete_results: Path) -> None:
    summary = json.loads((complete_results / "summary.json").read_text())
    estimates = summary["models"]["m4"]["uncertainty"]["estimates"]
    for name, value in summary["models"]["m4"]["parameters"].items():
        estimates[name]["interval"] = [0.9 * value, 1.1 * value]
    edit_summary(complete_results, {"models": {"m4": summary["models"]["m4"]}})
    assert SMALL not in page_of(complete_results)[1].text
    estimates["viscous"]["interval"] = [0.0, 10 * summary["models"]["m4"]["parameters"]["viscous"]]
    edit_summary(complete_results, {"models": {"m4": summary["models"]["m4"]}})
    assert page_of(complete_results)[1].text.count(SMALL) == 1


def test_the_chosen_model_leads_the_errors_of_each_log(complete_results: Path) -> None:
    page, _ = page_of(complete_results)
    row = page[page.index('<tr data-log="') :]
    assert re.findall(r'data-model="(\w+)"', row[: row.index("</tr>")]) == ["m4", "m1", "m6"]


def test_models_are_tagged_whose_search_did_not_converge(results: Path) -> None:
    models = json.loads((results / "summary.json").read_text())["models"]
    for name, converged, ended_early in (("m1", False, True), ("m4", False, False), ("m6", None, None)):
        models[name] |= {"converged": converged, "ended_early": ended_early}
    edit_summary(results, {"models": models})
    page, _ = page_of(results)
    cells = re.findall(r'<th scope="row"><span class="swatch"></span> (M\d).*?</th>', page)
    assert cells == ["M1", "M4", "M6"]
    tagged = r'<th scope="row"><span class="swatch"></span> (M\d)[^\n]*not converged'
    assert re.findall(tagged, page) == ["M1"]


VERDICT = {
    "kind": "yellow",
    "sentence": "Use m4.yaml with care: <b>.",
    "rule": "Red: failed. Yellow: all else. Below 5 %.",
    "reasons": [{"kind": "few_tests", "sentence": "few logs"}, {"kind": "no", "sentence": "another"}],
}


@pytest.mark.parametrize("kind", VERDICTS)
def test_the_verdict_is_the_first_thing_on_the_page_with_a_word_and_its_rule(
    results: Path, kind: str
) -> None:
    edit_summary(results, {"verdict": {**VERDICT, "kind": kind}})
    page, outline = page_of(results)
    first = page.index('id="verdict"')
    assert first < page.index('id="chosen"') < page.index("<table")
    assert f'class="light {kind}"' in page
    for said in (headline(kind), VERDICT["sentence"], VERDICT["rule"], "few logs; another"):
        assert str(said) in outline.text
    assert "5\N{NO-BREAK SPACE}%" in page


def test_a_page_of_an_older_identification_has_no_verdict_and_says_so(results: Path) -> None:
    edit_summary(results, {"verdict": None})
    page, outline = page_of(results)
    assert 'id="verdict"' not in page
    finding = missing_parts(load_results(results))
    assert finding is not None
    assert "verdict" in finding.parts
    assert finding.sentence in outline.text


def test_the_test_error_with_its_interval_comes_first(results: Path) -> None:
    summary = json.loads((results / "summary.json").read_text())
    chosen = summary["models"][summary["chosen"]]
    chosen |= {"test_mae": 0.0125, "test_interval": [0.01, 0.015], "selection_mae": 0.0111}
    chosen |= {"test_mae_short": 0.0053, "test_mae_short_1s": 0.0081}
    seeds = [{"seed": i, "chosen": "m4", "test_mae": error} for i, error in enumerate((0.0125, 0.0131))]
    split = summary["split"]
    split["test"] = [*split["test"], *split["train"]][:4]
    edit_summary(results, {**summary, "seeds": seeds})
    page, outline = page_of(results)
    assert (
        re.findall(r"\d (%)", page[page.index("</style>") : page.index("<script", page.index("<body>"))])
        == []
    )
    text = " ".join(outline.text.split())
    first = text[text.index("Test error") : text.index("Error in selection")]
    numbers = (
        "12.50 mrad",
        "10.00 to 15.00",
        "2 seeds: 12.50 to 13.10",
        "0.25 s: 5.30 mrad",
        "1 s: 8.10 mrad",
    )
    for number in numbers:
        assert number in first
    assert text.index("Test error") < text.index("Error in selection") < text.index("Training error")


def test_a_test_error_of_few_logs_has_no_interval(results: Path) -> None:
    summary = json.loads((results / "summary.json").read_text())
    summary["models"][summary["chosen"]] |= {"test_mae": 0.0125, "test_interval": [0.0, 0.0385]}
    summary["split"]["test"] = summary["split"]["test"][:3]
    edit_summary(results, summary)
    _, outline = page_of(results)
    text = " ".join(outline.text.split())
    count = len(summary["split"]["test"])
    assert f"on {count} log" in text
    assert TOO_FEW in text
    assert "38.5" not in text


def test_a_page_without_a_test_set_says_so(results: Path) -> None:
    models = json.loads((results / "summary.json").read_text())["models"]
    for entry in models.values():
        entry |= {"test_mae": None, "test_interval": None}
    edit_summary(results, {"models": models})
    page, outline = page_of(results)
    assert 'id="found-in-logs"' not in page
    assert FEW["no_test"][0] in outline.text
    assert 'class="test"' not in page


def test_nothing_is_fetched(complete_results: Path) -> None:
    page, outline = page_of(complete_results)
    assert outline.addresses
    assert all(address.startswith(("#", "data:")) for address in outline.addresses)
    assert re.findall(r"url\((?!#)|@import|\bfetch\(|XMLHttpRequest|import\(", page) == []
    # The one address is the name of SVG's namespace.
    assert set(re.findall(r"https?://[^\"'\s<]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page


def test_every_name_in_the_page_is_there_once(complete_results: Path) -> None:
    page, outline = page_of(complete_results)
    assert len(outline.ids) == len(set(outline.ids))
    targets = re.findall(r'(?:href="|url\()#([\w-]+)', page)
    assert targets
    assert set(targets) <= set(outline.ids)


def test_an_older_directory_gives_a_page_that_says_what_is_left_out(results: Path) -> None:
    (results / "trajectories.npz").unlink()
    models = json.loads((results / "summary.json").read_text())["models"]
    for entry in models.values():
        for key in ("uncertainty", "per_log", "at_bound"):
            entry.pop(key, None)
    unknown = dict.fromkeys(("logs", "date", "choice", "effects", "seed", "reason"))
    edit_summary(results, {"models": models, **unknown})
    page, outline = page_of(results)
    finding = missing_parts(load_results(results))
    assert finding is not None
    assert {"uncertainty", "effects", "per_log"} <= set(finding.parts)
    assert finding.sentence in outline.text
    assert 'data-kind="missing_trajectories"' in page
    assert "errors" in outline.charts
    assert "diagram m4" in outline.charts
    assert not {"fit", "effects", "correlation m4"} & set(outline.charts)
    assert "fit-data" not in page
    assert {address[1:] for address in outline.addresses if address.startswith("#")} <= set(outline.ids)


def test_text_of_the_results_is_text_in_the_page(complete_results: Path) -> None:
    evil = '"><script>alert(1)</script>'
    summary = json.loads((complete_results / "summary.json").read_text())
    choice = [{**entry, "verdict": evil} for entry in summary["choice"]]
    effects = [{**effect, "reason": evil, "unit": evil, "name": evil} for effect in summary["effects"]]
    edit_summary(
        complete_results,
        {"reason": evil, "software": evil, "date": evil, "choice": choice, "effects": effects},
    )
    page, outline = page_of(complete_results)
    assert "<script>alert" not in page
    assert evil in outline.text


@pytest.mark.long
def test_a_hundred_logs_stay_below_two_megabytes(complete_results: Path) -> None:
    page, outline = page_of(multiplied(complete_results, 100))
    assert len(page.encode()) < 2_000_000
    assert "100 logs" in outline.text
    assert 'id="log-filter"' in page


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"ended_early": True}, NotConverged(spent=True)),
        ({"ended_early": True, "spent": False}, NotConverged(spent=False)),
        ({"test_mae": 0.004}, ErrorsDiffer(kind="better_than_training", compared="test", factor=2.5)),
        ({"per_log": ODD}, Outliers(logs=("odd",), factor=20.0, share=0.0, is_explained=False)),
        ({"floor": {}, "misfit": FAILURE}, SearchFailed(baseline="at_goal", baseline_error=0.015)),
        ({"at_bound": ["viscous"]}, ParameterList(kind="at_bounds", parameters=("viscous",))),
        ({"train_mae": 0.001}, ErrorsDiffer(kind="worse_than_training", compared="test", factor=10.0)),
    ],
)
def test_what_to_beware_of_stands_at_the_top(
    results: Path, change: dict[str, object], finding: Finding
) -> None:
    summary = json.loads((results / "summary.json").read_text())
    harmless = {"converged": True, "ended_early": False, "at_bound": []}
    harmless |= {"train_mae": 0.01, "test_mae": 0.01, "test_interval": [0.009, 0.011]}
    harmless |= {"floor": None, "misfit": [], "per_log": {}}
    summary["models"][summary["chosen"]] |= harmless
    edit_summary(results, summary)
    assert 'class="warnings"' not in page_of(results)[0]
    summary["models"][summary["chosen"]] |= change
    edit_summary(results, summary)
    page, outline = page_of(results)
    assert finding.sentence in outline.text
    assert f'<li data-kind="{finding.kind}">' in page
    assert page.index('class="warnings"') < page.index('id="models"')
