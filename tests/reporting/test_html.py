"""The HTML report: one inert file, and what a reader sees of it in a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from envcheck.reporting.as_html import fragment
from envcheck.reporting.merging import merged
from envcheck.reporting.registry import render
from tests.reporting.browser import Browser, needs_browser
from tests.reporting.hostile import hostile_report
from tests.reporting.models import hostile_models, parity_report, training_report
from tests.reporting.sample import finding, report
from tests.strategies import hostile_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from envcheck.findings import Report

VOID = {"meta", "link", "br"}


class Reader(HTMLParser):
    """Collects tags and attributes, and sees that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a start tag."""
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close a tag, which must be the last one that was opened."""
        assert self.open.pop() == tag


def read(text: str) -> Reader:
    """Read a page or a part of one."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def whole_report() -> Report:
    """Return a report with findings of every stage."""
    environment, training = report(), training_report()
    every = (*environment.findings, *training.findings)
    return merged(report(findings=every), parity_report())


def test_one_file_that_loads_nothing() -> None:
    """No script, no handler, and no address but anchors of the page itself."""
    for made in (report(), hostile_report(), whole_report(), hostile_models()):
        page = read(render(made, "html"))

        assert "script" not in page.tags
        assert "img" not in page.tags
        links = [value for tag, name, value in page.attributes if name in ("href", "src")]
        assert links
        assert all(value.startswith("#") or value == "data:," for value in links)
        assert [name for _, name, _ in page.attributes if name.startswith("on")] == []
        names = [value for _, name, value in page.attributes if name == "id"]
        assert len(names) == len(set(names))
        assert {value[1:] for value in links if value != "data:,"} <= set(names)


def test_hostile_text_makes_no_element() -> None:
    """A hostile report has only elements that an honest one has, and shows nothing invisible."""
    honest = set(read(render(whole_report(), "html")).tags)
    for made in (hostile_report(), hostile_models()):
        text = render(made, "html")

        assert set(read(text).tags) <= honest
        assert set(text) - {"\n"} <= {char for char in text if char.isprintable()}


@given(hostile_text())
def test_any_text_stays_text(text: str) -> None:
    """The elements do not depend on the texts."""
    plain = read(fragment(report(findings=(finding(title="x", because=("x",)),)))).tags
    bad = read(fragment(report(findings=(finding(title=text, because=(text or "x",)),)))).tags

    assert bad == plain


def test_the_verdict_comes_first() -> None:
    """The first heading is the verdict."""
    found = re.search(r"<h1>(.*?)</h1>", render(report(), "html"))

    assert found
    assert found[1] == "DOES NOT CONFORM"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of the sample report as a file."""
    path: Path = tmp_path_factory.mktemp("html") / "report.html"
    path.write_text(render(report(), "html"), "utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a report on environment, models and training as a file."""
    path: Path = tmp_path_factory.mktemp("html") / "whole.html"
    path.write_text(render(whole_report(), "html"), "utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a browser window."""
    needs_browser()
    with Browser() as window:
        yield window


def test_in_a_browser(browser: Browser, page: str) -> None:
    """The verdict is rendered, a finding leads to its explanation, the console stays empty."""
    browser.open(page)

    assert browser.text("h1") == "DOES NOT CONFORM"
    assert browser.text('[data-count="error"]') == "2 error"
    assert browser.text("#finding-3") == ""
    browser.click('a[href="#finding-3"]')
    assert "export OMP_NUM_THREADS=2" in browser.text("#finding-3")
    assert browser.text("#rule-ENV031") == ""
    browser.click('#finding-1 a[href="#rule-ENV031"]')
    assert "WHAT HAPPENS IF YOU SHIP IT" in browser.text("#rule-ENV031").upper()
    assert browser.evaluate("location.hash") == "#rule-ENV031"
    browser.click("#finding-1 details summary")
    assert "train has scikit-learn 1.5.2" in browser.text("#finding-1 details")
    assert browser.complaints() == []


def test_hostile_report_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    """Nothing runs and nothing is asked for."""
    for name, made in (("report", hostile_report()), ("models", hostile_models())):
        path = tmp_path / f"{name}.html"
        path.write_text(render(made, "html"), "utf-8")
        browser.open(path.as_uri())

        assert browser.text("h1") == "DOES NOT CONFORM"
        assert browser.evaluate("performance.getEntriesByType('resource').length") == 0
        assert browser.complaints() == []


def test_models_in_a_browser(browser: Browser, whole: str) -> None:
    """The plot has its words, the culprit stands at its call, the fault is marked in the table."""
    browser.open(whole)
    words = browser.evaluate("document.querySelector('figure svg').getAttribute('aria-label')")
    lines = "document.querySelector('figure svg line.culprit').x1.baseVal.value"
    dots = "[...document.querySelectorAll('figure svg circle.natural')]"
    places = browser.evaluate(f"{dots}.slice(0, 7).map(dot => dot.cx.baseVal.value)")

    assert "first layer at fault: hidden, call 6, off by 4.3e-02 in the run" in str(words)
    assert browser.evaluate(lines) == places[5]
    assert browser.text("tr.marked") == "fault hidden Dense open 4.3e-02 4.3e-02 1.5e-07 2.9e+05"
    assert browser.complaints() == []


@pytest.mark.parametrize("dark", [False, True])
def test_plots_on_a_phone(whole: str, *, dark: bool) -> None:
    """No plot is wider than the screen, its text is readable, its lines stand out by 3 to 1."""
    with Browser(width=500, dark=dark) as window:
        window.open(whole)
        window.evaluate("document.querySelectorAll('details').forEach(item => item.open = true)")
        wide = window.evaluate("Math.max(...[...document.querySelectorAll('svg')]"
                               ".map(item => item.getBoundingClientRect().right))")  # fmt: skip
        assert wide <= window.evaluate("innerWidth")
        assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
        high = "document.querySelector('svg text').getBoundingClientRect().height"
        assert window.evaluate(high) >= 11
        ground = window.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor")
        for kind in ("path.natural", "path.noise", "line.culprit", "circle.local"):
            style = f"getComputedStyle(document.querySelector('svg {kind}'))"
            assert contrast(window.evaluate(f"{style}.stroke"), ground) >= 3, kind


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_and_in_the_dark(page: str, *, dark: bool) -> None:
    """Nothing is wider than the screen, and text stands out from its ground by 4.5 to 1."""
    with Browser(width=500, dark=dark) as window:
        window.open(page)
        for name in ("html", "main", "nav", "header"):
            wide = window.evaluate(f"document.querySelector('{name}').scrollWidth")
            assert wide <= window.evaluate("innerWidth"), name
        ground = window.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor")
        assert (luminance(ground) < 0.1) is dark
        for selector in ("main", "h1", "nav a", ".counts li", "th", ".badge.error",
                         ".badge.warning", "pre"):  # fmt: skip
            color = window.evaluate(f"getComputedStyle(document.querySelector('{selector}')).color")
            assert contrast(color, ground) >= 4.5, f"{selector}: {color} on {ground}"


def luminance(color: str) -> float:
    """Return the relative luminance of an `rgb()` colour (WCAG 2)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
