"""What a notebook shows of reports and fingerprints."""

from __future__ import annotations

from hypothesis import given

from envcheck.facts import ok, unknown
from envcheck.fingerprint import Fingerprint
from envcheck.fingerprint.reading import read_fingerprint
from tests.conftest import ROOT
from tests.reporting.hostile import hostile_report
from tests.reporting.sample import report
from tests.reporting.test_html import read
from tests.strategies import fingerprints


def test_a_report_is_rich() -> None:
    """The report is the HTML report, scoped, without a frame or script."""
    for made in (report(), hostile_report()):
        text = made._repr_html_()
        tags = read(text).tags

        assert text.startswith("<style>.envcheck{")
        assert {"html", "body", "script"} & set(tags) == set()
    assert "DOES NOT CONFORM" in text


def test_a_fingerprint_is_rich() -> None:
    """Facts stand in groups; a version stands for a package, a reason for what is unknown."""
    text = read_fingerprint(str(ROOT / "examples/train.json"))._repr_html_()
    tags = read(text).tags

    assert tags.count("details") > 3
    assert "<code>package.scikit-learn</code></td><td><code>1.5.2</code>" in text
    open_one = Fingerprint({"a.b": unknown("no <way>"), "a.c": ok([1, "<b>"])})._repr_html_()
    assert "unknown: no &lt;way&gt;" in open_one
    assert "<b>" not in open_one.replace("<b>Fingerprint</b>", "")


@given(fingerprints())
def test_any_fingerprint_is_inert(fingerprint: Fingerprint) -> None:
    """Whatever a fingerprint holds, it adds rows and nothing else."""
    made = read(fingerprint._repr_html_())

    assert set(made.tags) <= {"style", "div", "p", "b", "br", "code", "details", "summary", "table",
                              "tbody", "tr", "td", "span"}  # fmt: skip
    assert {name for _, name, _ in made.attributes} <= {"class", "colspan"}
